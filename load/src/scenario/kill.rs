//! `kill`: processes are killed with SIGKILL at random instants while classes play, and started again. Answers the one
//! question that a teacher would ask: is every answer in the result that the phones were told is saved, once, with the
//! points it earned; and was every other one refused in words within 5 s.
//!
//! Classes begin one after the other, so that some are in every phase. An instant is drawn, and at that instant the phase that
//! was met least so far among those that some class is in: a moment that knows nothing of the classes is anywhere in that
//! phase with the same chance. A kill meets all classes of a process, so answers of the others are in flight whatever the phase,
//! and there are kills only while a quarter of the classes is between its first question and its podium.
//!
//! Killing and starting again is [`Victims`]', which stands for a stack or, in tests, for a scripted server.

mod judge;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::ScenarioError;
use super::school::{self, STEP_MS_MAX, School};
use crate::client::{Engine, Host, OnLoss, Targets, Task};
use crate::measure::{Micros, Quantiles, Reckoning};
use crate::plan::{Draw, Pace, Plan, Subject};
use crate::report::{Console, Outcome};
use crate::sys::{clock, count};
use crate::verdict::Own;

/// Players of a class.
pub const CLASS_SIZE: u32 = 30;
/// Questions of a game.
pub const QUESTIONS: u16 = 8;
/// Kills at most.
pub const KILLS_MAX: u32 = 1_000;

/// A class at ten times a lesson's pace. Joining takes long enough to be hit, too.
pub const PACE: Pace = Pace {
    name: "kill",
    join_over_ms: 3_000,
    ..Pace::FAST
};

/// Processes that can be killed.
pub trait Victims: Send {
    /// How many there are.
    fn count(&self) -> u32;

    /// Kills process `victim`, counted from 0, with SIGKILL, and returns when whoever looks after it has brought its
    /// service back.
    ///
    /// # Errors
    /// One sentence: it is not there, or did not come back.
    fn kill(&mut self, victim: u32) -> Result<(), String>;
}

/// How often, and how long is waited for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Kills of the whole run.
    pub kills: u32,
    /// Classes that play at the same time.
    pub classes: u32,
    /// Over this time their lobbies open one after the other, in milliseconds.
    pub spread_ms: u64,
    /// From the moment all is well again to the next kill at most, in milliseconds; drawn evenly from 0.
    pub gap_ms_max: u32,
    /// From a service's return until everybody is back at most, in milliseconds.
    pub back_ms_max: u64,
    /// From a service's return until every answer is saved or refused at most, in milliseconds.
    pub settle_ms_max: u64,
    /// A game without a kill ends within this time, in milliseconds.
    pub game_ms_max: u64,
}

impl Timing {
    /// The measured run.
    #[must_use]
    pub const fn full(kills: u32, classes: u32) -> Self {
        Self {
            kills,
            classes,
            // A quarter more than a game takes, so that there are lobbies until the first games are over.
            spread_ms: 30_000,
            gap_ms_max: 4_000,
            back_ms_max: 10_000,
            settle_ms_max: 5_000,
            game_ms_max: 60_000,
        }
    }

    /// A round of games without a kill ends within this time, in milliseconds.
    const fn round_ms_max(&self) -> u64 {
        self.spread_ms + self.game_ms_max
    }

    /// The plan of such a run: every round of games ends with at least one kill, so there are no more rounds than kills.
    #[must_use]
    pub fn plan(&self, seed: u64, size: u32, pace: Pace, questions: u16) -> Plan {
        let classes = self.classes.saturating_mul(self.kills.max(1));
        Plan::new(seed, pace, questions, vec![size; crate::sys::index(classes)])
    }
}

/// What it showed.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Figures {
    /// Kills carried out.
    pub kills: u64,
    /// Kills that met answers on their way.
    pub kills_with_answers_in_flight: u64,
    /// Answers on their way when a process was killed.
    pub in_flight: u64,
    /// Kills by the phase that was aimed at.
    pub kills_by_phase: BTreeMap<&'static str, u64>,
    /// Games played.
    pub games: u64,
    /// Players that were welcomed.
    pub joined: u64,
    /// Players planned for these games.
    pub players: u64,
    /// Sockets lost.
    pub cut_off: u64,
    /// From the kill to the service's return, in milliseconds.
    pub down: Option<Quantiles>,
    /// From the loss of a socket to being back in play.
    pub back: Option<Quantiles>,
    /// Members that did not come back in time.
    pub never_back: u64,
    /// Why, in words.
    pub why_away: String,
    /// Joinings that were never said to be saved, and were taken back by a kill.
    pub joins_taken_back: u64,
    /// Answers sent again.
    pub sent_again: u64,
    /// Classes in which not everybody saw the podium.
    pub without_podium: u64,
    /// Games whose result was not saved.
    pub without_report: u64,
    /// Phones whose head of the sequence is unverified.
    pub unverified: u64,
    /// Answers against the saved results.
    pub ledger: Reckoning,
    /// Faults by kind.
    pub faults: BTreeMap<&'static str, u64>,
    /// The first of them in words.
    pub fault_examples: Vec<String>,
}

/// The run while it goes on.
struct Run<'a> {
    engine: Engine,
    victims: &'a mut dyn Victims,
    timing: Timing,
    down: Micros,
    /// How late the harness was while everybody came back, and while everybody was there.
    late_in_return: Micros,
    late: Micros,
    figures: Figures,
}

/// Kills `victims`, which serve `targets`, while classes of `plan` play.
///
/// # Errors
/// The set-up failed, a process did not come back, or the harness itself failed. What is lost is in the outcome.
pub fn run(
    targets: &Targets,
    plan: &Plan,
    timing: Timing,
    victims: &mut dyn Victims,
    console: &mut Console,
) -> Result<Outcome, ScenarioError> {
    let mut engine = Engine::new(plan.clone(), targets.clone())?;
    engine.on_loss(OnLoss::Return);
    let mut run = Run {
        engine,
        victims,
        timing,
        down: Micros::default(),
        late_in_return: Micros::default(),
        late: Micros::default(),
        figures: Figures::default(),
    };
    let mut round = 0;
    while run.figures.kills < u64::from(timing.kills) && run.figures.never_back == 0 && round < timing.kills {
        run.play(round, console)?;
        round += 1;
    }
    Ok(run.outcome())
}

impl Run<'_> {
    /// One round of games, from their lobbies to their reports.
    fn play(&mut self, round: u32, console: &mut Console) -> Result<(), ScenarioError> {
        let from = round * self.timing.classes;
        let classes: Vec<u32> = (from..from + self.timing.classes).collect();
        console.progress(&format!("round {}: opening {} lobbies", round + 1, classes.len()));
        let mut school = School::default();
        school.open(&mut self.engine, &classes)?;
        school.wait_for_hosts(&mut self.engine)?;
        let (first, join_ms) = (clock::now(), u64::from(self.engine.world.plan.pace.join_over_ms));
        let apart_us = self.timing.spread_ms * 1_000 / count(school.rooms.len()).max(1);
        for (position, room) in (0..).zip(&school.rooms) {
            let opening = first.plus_us(position * apart_us);
            school::add_players(&mut self.engine, room.class, opening);
            self.engine.schedule(crate::client::Due {
                at: opening.plus_ms(join_ms),
                conn: room.host,
                task: Task::Start,
            });
        }
        let limit = first.plus_ms(self.timing.round_ms_max() * (u64::from(self.timing.kills) + 1));
        let enough = school.rooms.len().div_ceil(4);
        let is_played = |e: &Engine| school.hosts(e).filter(|host| host.is_playing()).count() >= enough;
        self.engine.run_until(limit, is_played)?;
        while self.figures.kills < u64::from(self.timing.kills) && clock::now() < limit {
            self.wait_for_the_next()?;
            self.kill(&school, console)?;
            if !is_played(&self.engine) || self.figures.never_back > 0 {
                break;
            }
        }
        self.end(&mut school, console)
    }

    /// Waits for the drawn instant of the next kill.
    fn wait_for_the_next(&mut self) -> Result<(), ScenarioError> {
        let number = u32::try_from(self.figures.kills).unwrap_or(u32::MAX);
        let draw = Draw::new(self.engine.world.plan.seed);
        let gap_ms = draw.between((Subject::Kill, 0, 0, number), 0, self.timing.gap_ms_max);
        let at = clock::now().plus_ms(u64::from(gap_ms));
        self.engine.run_until(at, |_| false)?;
        Ok(())
    }

    fn kill(&mut self, school: &School, console: &mut Console) -> Result<(), ScenarioError> {
        let Self { engine, victims, .. } = self;
        let number = u32::try_from(self.figures.kills).unwrap_or(u32::MAX);
        let draw = Draw::new(engine.world.plan.seed);
        let victim = draw.between(
            (Subject::Kill, 0, 1, number),
            0,
            victims.count().saturating_sub(1),
        );
        self.late.merge(&std::mem::take(&mut engine.world.tally.lateness));
        let phase = rarest_phase(school, engine, &self.figures.kills_by_phase);
        let in_flight_before = engine.world.tally.cut_in_flight;
        let killed_at = clock::now();
        let limit = killed_at.plus_ms(self.timing.round_ms_max());
        school::meanwhile(engine, limit, || {
            victims.kill(victim).map_err(ScenarioError::Victim)
        })?;
        let up_at = clock::now();
        let in_flight = engine.world.tally.cut_in_flight - in_flight_before;
        self.down.record(up_at.since(killed_at));
        self.figures.kills += 1;
        self.figures.kills_with_answers_in_flight += u64::from(in_flight > 0);
        self.figures.in_flight += in_flight;
        *self.figures.kills_by_phase.entry(phase).or_insert(0) += 1;
        console.progress(&format!(
            "kill {} of {}: {phase}, {in_flight} answers in flight, back after {} ms",
            self.figures.kills,
            self.timing.kills,
            up_at.since(killed_at) / 1_000
        ));
        engine.run_until(up_at.plus_ms(self.timing.back_ms_max), |e| school.away(e) == 0)?;
        let away = school.away(engine) + school.lost(engine);
        if away > 0 {
            self.figures.never_back += away;
            self.figures.why_away = school::explain(&school::refusals(engine));
        }
        // Answers sent while the server was down are not on their way: who is cut off keeps them for its return.
        engine.run_until(up_at.plus_ms(self.timing.settle_ms_max), |e| {
            e.world.tally.ledger.unsettled_until(killed_at) == 0
        })?;
        engine.world.tally.ledger.settle_by_now(killed_at);
        self.late_in_return
            .merge(&std::mem::take(&mut engine.world.tally.lateness));
        Ok(())
    }

    /// Lets the games end and compares what they saved with what the phones were told.
    fn end(&mut self, school: &mut School, console: &mut Console) -> Result<(), ScenarioError> {
        let Self { engine, figures, .. } = self;
        console.progress("playing on to the podium");
        // Games that are gone do not come back for being waited for.
        let limit_ms = if figures.never_back > 0 {
            0
        } else {
            self.timing.round_ms_max()
        };
        figures.without_podium += school.wait_for_podium(engine, limit_ms)?;
        figures.fault_examples.extend(school.explain_stuck(engine));
        figures.unverified += school.ask_every_head(engine)?;
        figures.joined += school.joined(engine);
        figures.games += count(school.rooms.len());
        let planned = school.rooms.iter().map(|room| engine.world.plan.size(room.class));
        figures.players += planned.map(u64::from).sum::<u64>();
        console.progress("fetching the reports");
        let verdict = school.reckon(engine, limit_ms.min(STEP_MS_MAX))?;
        figures.without_report += verdict.without_report;
        figures.ledger.add(&verdict.reckoning);
        figures.fault_examples.extend(verdict.reckoning.examples);
        school.tell_hosts(engine, Task::Finish);
        engine.run_until(clock::now().plus_ms(limit_ms.min(STEP_MS_MAX)), |e| {
            school.classes(e).all(|class| class.gone >= class.joined)
        })?;
        Ok(())
    }

    fn outcome(self) -> Outcome {
        let Self {
            engine,
            timing,
            down,
            late_in_return,
            mut late,
            mut figures,
            ..
        } = self;
        late.merge(&engine.world.tally.lateness);
        let tally = &engine.world.tally;
        figures.cut_off = tally.cut_off;
        figures.sent_again = tally.sent_again;
        figures.joins_taken_back = tally.joins_taken_back;
        figures.down = Some(down.quantiles());
        figures.back = Some(tally.back.quantiles());
        figures.faults = tally.faults.counts().map(|(kind, n)| (kind.name(), n)).collect();
        figures
            .fault_examples
            .extend(tally.faults.examples().iter().cloned());
        if !figures.why_away.is_empty() {
            figures
                .fault_examples
                .insert(0, format!("not back: {}", figures.why_away));
        }
        let mut measured = judge::measured(&figures, timing.kills, tally, &down);
        measured.times("own lateness", "everybody there", &late);
        measured.times("own lateness", "everybody coming back", &late_in_return);
        Outcome {
            scenario: "kill",
            table: judge::table(&figures),
            measured,
            // Thousands of sockets that are opened at once keep the generator busy: who comes back waits for it, too, and looks
            // worse than it is. What is sent and acked then is judged by when it really was.
            own: Own {
                lateness: late,
                ..school::own(&engine)
            },
            figures: serde_json::to_value(&figures).unwrap_or_default(),
        }
    }
}

/// Of the phases that some class is in, the one that was met least so far.
fn rarest_phase(school: &School, engine: &Engine, met: &BTreeMap<&'static str, u64>) -> &'static str {
    let phases: BTreeSet<&'static str> = school.hosts(engine).map(Host::phase).collect();
    let rarest = phases.into_iter().min_by_key(|phase| met.get(phase).copied());
    rarest.unwrap_or("opening")
}

/// Sockets of the classes that play at the same time, hosts included.
#[must_use]
pub fn sockets(timing: Timing) -> u64 {
    u64::from(timing.classes) * u64::from(CLASS_SIZE + 1)
}
