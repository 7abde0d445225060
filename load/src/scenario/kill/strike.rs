//! One blow: the instant, the victim, the return of everybody, and what became of the answers that were on their way.

use std::collections::{BTreeMap, BTreeSet};

use super::{Mending, Run};
use crate::client::{Engine, Host};
use crate::measure::Micros;
use crate::plan::{Draw, Subject};
use crate::report::Console;
use crate::scenario::ScenarioError;
use crate::scenario::school::{self, School};
use crate::sys::clock::{self, Stamp};

/// After a blow that clients may notice late everybody asks for a sign of life this much later, in milliseconds: what was on its way
/// before has arrived.
const SIGN_AFTER_MS: u64 = 300;

impl Run<'_> {
    /// Waits for the drawn instant of the next blow.
    pub(super) fn wait_for_the_next(&mut self) -> Result<(), ScenarioError> {
        let draw = Draw::new(self.engine.world.plan.seed);
        let gap_ms = draw.between((Subject::Kill, 0, 0, self.number()), 0, self.timing.gap_ms_max);
        let at = clock::now().plus_ms(u64::from(gap_ms));
        self.engine.run_until(at, |_| false)?;
        Ok(())
    }

    fn number(&self) -> u32 {
        u32::try_from(self.figures.kills).unwrap_or(u32::MAX)
    }

    /// Who is struck next.
    fn victim(&self) -> u32 {
        let (count, number) = (self.victims.count().max(1), self.number());
        if self.timing.blow.goes_round() {
            return number % count;
        }
        let draw = Draw::new(self.engine.world.plan.seed);
        draw.between((Subject::Kill, 0, 1, number), 0, count - 1)
    }

    /// Strikes once, and waits until all is well again.
    pub(super) fn strike(&mut self, school: &School, console: &mut Console) -> Result<(), ScenarioError> {
        let (blow, victim) = (self.timing.blow, self.victim());
        self.late.merge(&self.engine.world.tally.lateness.take_phase());
        let phase = rarest_phase(school, &self.engine, &self.figures.kills_by_phase);
        let in_flight_before = self.engine.world.tally.cut_in_flight;
        let struck_at = clock::now();
        self.engine.world.struck_at = blow.counts_from_the_blow().then_some(struck_at);
        let limit = struck_at.plus_ms(self.timing.round_ms_max());
        let Self { engine, victims, .. } = self;
        school::meanwhile(engine, limit, || {
            victims.strike(victim).map_err(ScenarioError::Victim)
        })?;
        let mut sign_of_life = blow
            .counts_from_the_blow()
            .then(|| school.ask_for_signs_of_life(engine, struck_at.plus_ms(SIGN_AFTER_MS)));
        match blow.mending() {
            Mending::AtOnce => self.mend(victim, struck_at)?,
            Mending::After(ms) => {
                self.engine.run_until(struck_at.plus_ms(ms), |_| false)?;
                self.mend(victim, struck_at)?;
                let again_at = clock::now().plus_ms(SIGN_AFTER_MS);
                sign_of_life = Some(school.ask_for_signs_of_life(&mut self.engine, again_at));
            }
            Mending::OnceBack => {}
        }
        let served_at = clock::now();
        self.wait_for_everybody(school, (struck_at, served_at), sign_of_life)?;
        let in_flight = self.engine.world.tally.cut_in_flight - in_flight_before;
        self.figures.kills += 1;
        self.figures.kills_with_answers_in_flight += u64::from(in_flight > 0);
        self.figures.in_flight += in_flight;
        *self.figures.kills_by_phase.entry(phase).or_insert(0) += 1;
        console.progress(&format!(
            "{} {} of {}, {}: {phase}, {in_flight} answers in flight, all well after {} ms",
            blow.plural(),
            self.figures.kills,
            self.timing.kills,
            self.victims.name(victim),
            clock::now().since(struck_at) / 1_000
        ));
        if blow.mending() == Mending::OnceBack {
            self.mend(victim, struck_at)?;
        }
        self.engine.world.struck_at = None;
        let lateness: Micros = self.engine.world.tally.lateness.take_phase();
        self.late_in_return.merge(&lateness);
        Ok(())
    }

    /// Ends a blow.
    fn mend(&mut self, victim: u32, struck_at: Stamp) -> Result<(), ScenarioError> {
        let Self { engine, victims, .. } = self;
        // It waits by itself, longer than any of its steps may take.
        let limit = clock::now().plus_ms(self.timing.round_ms_max() * 4);
        school::meanwhile(engine, limit, || {
            victims.mend(victim).map_err(ScenarioError::Victim)
        })?;
        self.down.record(clock::now().since(struck_at));
        Ok(())
    }

    /// Waits until everybody is back, and has been told something after `sign_of_life`; then until the answers that were sent before
    /// the blow are settled.
    fn wait_for_everybody(
        &mut self,
        school: &School,
        (struck_at, served_at): (Stamp, Stamp),
        sign_of_life: Option<Stamp>,
    ) -> Result<(), ScenarioError> {
        let Self {
            engine,
            timing,
            figures,
            ..
        } = self;
        let missing = |e: &Engine| {
            let silent = sign_of_life.map_or(0, |moment| school.without_sign_of_life(e, moment));
            school.away(e) + silent
        };
        engine.run_until(served_at.plus_ms(timing.back_ms_max), |e| missing(e) == 0)?;
        let away = missing(engine) + school.lost(engine);
        if away > 0 {
            figures.never_back += away;
            figures.why_away = school::explain(&school::refusals(engine));
        }
        // The service is there once everybody has it, where nobody can say it sooner.
        let settle_from = match timing.blow.mending() {
            Mending::AtOnce | Mending::After(_) => served_at,
            Mending::OnceBack => clock::now(),
        };
        // Answers sent while the server was down are not on their way: who is cut off keeps them for its return.
        engine.run_until(settle_from.plus_ms(timing.settle_ms_max), |e| {
            e.world.tally.ledger.unsettled_until(struck_at) == 0
        })?;
        engine.world.tally.ledger.settle_by_now(struck_at);
        Ok(())
    }
}

/// Of the phases that some class is in, the one that was met least so far.
fn rarest_phase(school: &School, engine: &Engine, met: &BTreeMap<&'static str, u64>) -> &'static str {
    let phases: BTreeSet<&'static str> = school.hosts(engine).map(Host::phase).collect();
    let rarest = phases.into_iter().min_by_key(|phase| met.get(phase).copied());
    rarest.unwrap_or("opening")
}
