//! `kill` and `rolling`: processes are struck while classes play, and come back. Answers the one question that a teacher would
//! ask: is every answer in the result that the phones were told is saved, once, with the points it earned; and was every other
//! one refused in words within 5 s.
//!
//! Classes begin one after the other, so that some are in every phase. An instant is drawn, and at that instant the phase that
//! was met least so far among those that some class is in: a moment that knows nothing of the classes is anywhere in that
//! phase with the same chance. A blow meets all classes of a process, so answers of the others are in flight whatever the phase,
//! and processes are struck only while a quarter of the classes is between its first question and its podium.
//!
//! What a blow is, is in [`blow`]; one of them and what follows it in [`strike`]. Dealing it is [`Victims`]', which stands for a
//! stack or, in tests, for a scripted server.

mod blow;
mod judge;
mod strike;

pub use blow::{Blow, Mending};

use std::collections::BTreeMap;

use serde::Serialize;

use super::ScenarioError;
use super::ending::Ending;
use super::own;
use super::school::{self, School};
use crate::client::{Engine, OnLoss, Targets, Task};
use crate::measure::{Micros, Quantiles};
use crate::plan::{Pace, Plan};
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

/// Processes that can be struck.
pub trait Victims: Send {
    /// How many there are.
    fn count(&self) -> u32;

    /// What process `victim`, counted from 0, is called.
    fn name(&self, victim: u32) -> String;

    /// Strikes process `victim`.
    ///
    /// # Errors
    /// One sentence: it is not there, or cannot be struck.
    fn strike(&mut self, victim: u32) -> Result<(), String>;

    /// Ends what [`Victims::strike`] began, and returns when the process's service is back.
    ///
    /// # Errors
    /// One sentence: it did not come back.
    fn mend(&mut self, victim: u32) -> Result<(), String>;

    /// What the servers counted so far that the run's reader may want to know.
    fn counts(&self) -> BTreeMap<&'static str, u64>;
}

/// How often, and how long is waited for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// What befalls the processes.
    pub blow: Blow,
    /// Blows of the whole run.
    pub kills: u32,
    /// Classes that play at the same time.
    pub classes: u32,
    /// Over this time their lobbies open one after the other, in milliseconds.
    pub spread_ms: u64,
    /// From the moment all is well again to the next blow at most, in milliseconds; drawn evenly from 0.
    pub gap_ms_max: u32,
    /// From a service's return until everybody is back at most, in milliseconds.
    pub back_ms_max: u64,
    /// From a service's return until every answer is saved or refused at most, in milliseconds.
    pub settle_ms_max: u64,
    /// A game without a blow ends within this time, in milliseconds.
    pub game_ms_max: u64,
}

impl Timing {
    /// The measured run.
    #[must_use]
    pub const fn full(blow: Blow, kills: u32, classes: u32) -> Self {
        Self {
            blow,
            kills,
            classes,
            // A quarter more than a game takes, so that there are lobbies until the first games are over.
            spread_ms: 30_000,
            gap_ms_max: 4_000,
            // A cut is noticed after 7 s, in a lobby after 17.
            back_ms_max: if blow.is_silent() { 30_000 } else { 10_000 },
            settle_ms_max: 5_000,
            game_ms_max: 60_000,
        }
    }

    /// A round of games without a blow ends within this time, in milliseconds.
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
    /// Blows carried out.
    pub kills: u64,
    /// Blows that met answers on their way.
    pub kills_with_answers_in_flight: u64,
    /// Answers on their way when a process was struck.
    pub in_flight: u64,
    /// Blows by the phase that was aimed at.
    pub kills_by_phase: BTreeMap<&'static str, u64>,
    /// What became of the games.
    #[serde(flatten)]
    pub ending: Ending,
    /// Sockets lost.
    pub cut_off: u64,
    /// Those that their clients gave up because the server was silent.
    pub silent: u64,
    /// Those that were closed because the game had moved.
    pub closed_as_moved: u64,
    /// From the blow to the process's return, in milliseconds.
    pub down: Option<Quantiles>,
    /// From the loss of a socket, or from the blow ([`Blow::counts_from_the_blow`]), to being back in play.
    pub back: Option<Quantiles>,
    /// From the first loss of a class's sockets to the first return, when most of it was away between.
    pub without_service: Option<Quantiles>,
    /// Members that did not come back in time.
    pub never_back: u64,
    /// Why, in words.
    pub why_away: String,
    /// Joinings that were never said to be saved, and were taken back by a kill.
    pub joins_taken_back: u64,
    /// Answers sent again.
    pub sent_again: u64,
    /// What the servers counted.
    pub servers: BTreeMap<&'static str, u64>,
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

/// Strikes `victims`, which serve `targets`, while classes of `plan` play.
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
    engine.world.is_watchful = timing.blow.is_silent();
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
        let first_conn = crate::sys::small(self.engine.conns().len());
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
            self.strike(&school, console)?;
            if !is_played(&self.engine) || self.figures.never_back > 0 {
                break;
            }
        }
        self.end(&mut school, console)?;
        // The next round's players take the places of these.
        self.engine.forget_from(first_conn);
        Ok(())
    }

    /// Lets the games end and compares what they saved with what the phones were told.
    fn end(&mut self, school: &mut School, console: &mut Console) -> Result<(), ScenarioError> {
        let Self { engine, figures, .. } = self;
        // Games that are gone do not come back for being waited for.
        let limit_ms = if figures.never_back > 0 {
            0
        } else {
            self.timing.round_ms_max()
        };
        let examples = figures.ending.add(engine, school, limit_ms, console)?;
        figures.fault_examples.extend(examples);
        Ok(())
    }

    fn outcome(self) -> Outcome {
        let Self {
            mut engine,
            victims,
            timing,
            down,
            late_in_return,
            mut late,
            mut figures,
        } = self;
        let own = own::own(&engine);
        figures.servers = victims.counts();
        late.merge(&engine.world.tally.lateness);
        let tally = &engine.world.tally;
        figures.cut_off = tally.cut_off;
        figures.silent = tally.silent;
        figures.closed_as_moved = tally.closed_as_moved;
        figures.without_service = Some(tally.without_service.quantiles());
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
        let mut measured = judge::measured(&figures, &timing, tally, &down);
        measured.times("own lateness", "everybody there", &late);
        measured.times("own lateness", "everybody coming back", &late_in_return);
        measured.seconds(&mut engine.world.tally);
        Outcome {
            scenario: timing.blow.scenario(),
            table: judge::table(&figures, timing.blow),
            measured,
            // Thousands of sockets that are opened at once keep the generator busy: who comes back waits for it, too, and looks
            // worse than it is. What is sent and acked then is judged by when it really was.
            own: Own {
                lateness: late,
                ..own
            },
            figures: serde_json::to_value(&figures).unwrap_or_default(),
        }
    }
}

/// Sockets of the classes that play at the same time, hosts included.
#[must_use]
pub fn sockets(timing: Timing) -> u64 {
    u64::from(timing.classes) * u64::from(CLASS_SIZE + 1)
}
