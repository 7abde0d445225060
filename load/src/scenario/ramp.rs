//! `ramp`: classes in stages, each of which climbs and then holds. Answers how fast a click reaches the phones while many
//! classes play, what the servers deliver in a second, and whether placement spreads the games over the servers. Only
//! holds count, but for joins, which happen while a stage climbs.

mod judge;
mod spread;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

pub use spread::{Spread, allowed as spread_allowed};

use super::ScenarioError;
use super::own::{self, Spent};
use super::school::{self, STEP_MS_MAX, School};
use crate::client::{Due, Engine, OnLoss, Player, Target, Targets, Task};
use crate::measure::{Micros, PhaseTimes, Quantiles, Reckoning};
use crate::plan::{Habits, Pace, Plan};
use crate::report::{Console, Outcome, Window};
use crate::sys::clock::Stamp;
use crate::sys::{clock, count, real};
use crate::verdict::Own;

/// Players of a class.
pub const CLASS_SIZE: u32 = 30;
/// Between the last planned join in time and the start of the game, in milliseconds.
const BEFORE_START_MS: u64 = 200;
/// How often progress is shown, in milliseconds.
const PROGRESS_EVERY_MS: u64 = 5_000;
/// Questions of the longest quiz that a game may have.
const QUESTIONS_MAX: u64 = 200;

/// The stages of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stages {
    /// Classes that play in each stage, those of the stages before included; each more than the one before.
    pub classes: Vec<u32>,
    /// A stage climbs for this long, in milliseconds.
    pub climb_ms: u64,
    /// And holds for this long.
    pub hold_ms: u64,
    /// How fast the classes play.
    pub pace: Pace,
    /// What students do besides answering.
    pub habits: Habits,
}

impl Stages {
    /// `stages` stages up to `classes` classes, at a lesson's pace: each climbs for 3 minutes and holds for 6.
    #[must_use]
    pub fn lesson(classes: u32, stages: u32) -> Self {
        Self {
            classes: steps(classes, stages),
            climb_ms: 180_000,
            hold_ms: 360_000,
            pace: Pace::LESSON,
            habits: Habits::SCHOOL,
        }
    }

    /// The same in about a minute: ten times as fast.
    #[must_use]
    pub fn short(classes: u32, stages: u32) -> Self {
        let stages = stages.max(1);
        Self {
            classes: steps(classes, stages),
            climb_ms: 8_000,
            hold_ms: 36_000 / u64::from(stages),
            pace: Pace::FAST,
            habits: Habits::SCHOOL_FAST,
        }
    }

    /// The plan of these stages.
    #[must_use]
    pub fn plan(&self, seed: u64) -> Plan {
        let classes = self.classes.last().copied().unwrap_or(0);
        Plan {
            habits: self.habits,
            ..Plan::new(
                seed,
                self.pace,
                self.questions(),
                vec![CLASS_SIZE; crate::sys::index(classes)],
            )
        }
    }

    /// Whether the last class of a stage has begun by the time that the stage holds. One that has not would still be in the lobby when
    /// the hosts end their games, and begin after that.
    #[must_use]
    pub fn begins(&self) -> bool {
        self.climb_ms >= u64::from(self.pace.join_over_ms) + BEFORE_START_MS
    }

    /// Questions that the first class needs to play until the end: nearly everybody has to answer each of them.
    fn questions(&self) -> u16 {
        let all_ms = (self.climb_ms + self.hold_ms + STEP_MS_MAX) * count(self.classes.len());
        let shortest_ms = u64::from(self.pace.answer_ms.1 / 2 + self.pace.results_ms.0).max(1);
        u16::try_from((all_ms / shortest_ms).clamp(1, QUESTIONS_MAX)).unwrap_or(1)
    }
}

/// `stages` equal steps up to `classes`.
fn steps(classes: u32, stages: u32) -> Vec<u32> {
    let mut steps: Vec<u32> = (1..=stages.max(1)).map(|n| classes * n / stages.max(1)).collect();
    steps.dedup();
    steps
}

/// What a stage showed.
#[derive(Debug, Clone, Serialize)]
pub struct StageFigures {
    /// Classes of the whole run that play in it.
    pub classes: u32,
    /// Players of this process that were planned until its end.
    pub players: u64,
    /// Those of them that were welcomed.
    pub joined: u64,
    /// From a join's due time to its `welcome`, climb and hold.
    pub join: Quantiles,
    /// The same without the harness's own delay.
    pub join_service: Quantiles,
    /// From the host's click to the question, at every phone.
    pub fan_out: Quantiles,
    /// From an answer to its ack.
    pub ack: Quantiles,
    /// From the loss of a socket, or the planned return, to being back.
    pub back: Quantiles,
    /// Messages received by players and hosts.
    pub messages: u64,
    /// The hold's length, in milliseconds.
    pub hold_ms: u64,
    /// Messages in a second.
    pub messages_per_s: f64,
    /// How late the harness itself was.
    pub lateness: Quantiles,
    /// How late it handled what had arrived; no part of the other times.
    pub handling: Quantiles,
    /// CPU of the harness per message received, in microseconds; sending answers is part of it.
    pub harness_us_per_message: f64,
    /// What the harness's memory has grown by for each player, from the first join to the end of this hold, in bytes.
    pub harness_bytes_per_player: f64,
}

/// What all stages showed.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    /// Stage by stage.
    pub stages: Vec<StageFigures>,
    /// Players whose join was due before the last hold ended, and who were never welcomed.
    pub not_joined: u64,
    /// Games by server.
    pub spread: Spread,
    /// Calls that a game server passed on to another one, as far as the servers were asked.
    pub passed_on: Option<u64>,
    /// Whether connections went to the next server, whoever has the game.
    pub in_turn: bool,
    /// Answers against the saved results.
    pub ledger: Reckoning,
    /// Games whose result was not saved.
    pub without_report: u64,
    /// Classes in which not everybody saw the podium.
    pub without_podium: u64,
    /// Phones whose head of the sequence is unverified.
    pub unverified: u64,
    /// Players of whom the server did not take leave.
    pub not_told_of_end: u64,
    /// Members that were away at the end.
    pub away_at_end: u64,
    /// Attempts to come in, or to come back, that failed and were made again.
    pub failed_attempts: u64,
    /// States that somebody else than the game's first server sent.
    pub new_epochs: u64,
    /// Sockets lost that nobody dropped.
    pub cut_off: u64,
    /// Sockets dropped as planned.
    pub dropped: u64,
    /// Answers sent again.
    pub sent_again: u64,
    /// Planned answers whose question had closed before they were sent.
    pub too_late_to_send: u64,
    /// CPU of the harness per join of the first stage's climb, in microseconds: less what the climb's other messages cost, at
    /// the price that they have in the hold.
    pub harness_us_per_join: f64,
    /// Faults by kind.
    pub faults: BTreeMap<&'static str, u64>,
    /// The first of them in words.
    pub fault_examples: Vec<String>,
}

/// The times of a stage, for merging.
#[derive(Debug)]
struct StageTimes {
    name: String,
    join: Micros,
    join_service: Micros,
    phase: PhaseTimes,
    spent: Spent,
    window: Window,
}

/// Where games lie, and who says so.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'a> {
    /// Admin listeners of the game servers, whose metrics tell; without any, games are counted where the harness placed them.
    pub admins: &'a [Target],
    /// Connections go to the next server, whoever has the game, so that most have to be passed on.
    pub in_turn: bool,
}

/// Runs `stages` of `plan` against `targets`.
///
/// # Errors
/// The set-up failed, or the harness itself did. What the servers do wrong is in the outcome.
pub fn run(
    targets: &Targets,
    Placed { admins, in_turn }: Placed<'_>,
    plan: &Plan,
    stages: &Stages,
    console: &mut Console,
) -> Result<Outcome, ScenarioError> {
    let mut engine = Engine::new(plan.clone(), targets.clone())?;
    engine.on_loss(OnLoss::Return);
    let mut school = School::default();
    let (mut all, mut times) = (Vec::new(), Vec::new());
    let (games_before, passed_on_before) = spread::so_far(admins)?;
    let before = Spent::so_far(&engine);
    let mut joins = Spent::default();
    for number in 0..stages.classes.len() {
        let climb = climb(&mut engine, &mut school, stages, number, console)?;
        let (figures, stage_times) = hold(&mut engine, &school, stages, number, &before, console)?;
        if number == 0 {
            joins = joins_alone(climb, figures.harness_us_per_message);
        }
        all.push(figures);
        times.push(stage_times);
    }
    // Some come later than the last hold ends.
    let ended_at = clock::now();
    let spread = Spread::of(&school, targets, admins, &games_before)?;
    let passed_on = spread::count_passed_on(admins)?.saturating_sub(passed_on_before);
    console.progress("ending the games");
    let without_podium = school.end(&mut engine)?;
    let stuck = school.explain_stuck(&engine);
    engine.run_until(clock::now().plus_ms(STEP_MS_MAX), |e| school.away(e) == 0)?;
    let away_at_end = school.away(&engine);
    let unverified = school.ask_every_head(&mut engine)?;
    console.progress("fetching the reports");
    let verdict = school.reckon(&mut engine, STEP_MS_MAX)?;
    take_leave(&mut engine, &school)?;
    let tally = &engine.world.tally;
    let figures = Figures {
        not_joined: not_joined(&engine, ended_at),
        stages: all,
        spread,
        passed_on: (!admins.is_empty()).then_some(passed_on),
        in_turn,
        fault_examples: [&stuck, &verdict.reckoning.examples, tally.faults.examples()].concat(),
        ledger: verdict.reckoning,
        without_report: verdict.without_report,
        without_podium,
        unverified,
        not_told_of_end: not_told(&school, &engine),
        away_at_end,
        failed_attempts: tally.failed_attempts,
        new_epochs: tally.new_epochs,
        cut_off: tally.cut_off,
        dropped: tally.dropped,
        sent_again: tally.sent_again,
        too_late_to_send: tally.too_late_to_send,
        harness_us_per_join: joins.us_per_join(),
        faults: tally.faults.counts().map(|(kind, n)| (kind.name(), n)).collect(),
    };
    let mut measured = judge::measured(plan, &figures, &times, &tally.faults);
    own::enter_joins(&mut measured, &joins);
    measured.seconds(&mut engine.world.tally);
    Ok(Outcome {
        scenario: "ramp",
        table: judge::table(&figures),
        measured,
        figures: serde_json::to_value(&figures).unwrap_or_default(),
        own: own_in_holds(&engine, &times),
    })
}

/// Hosts close the games, and everybody is told.
fn take_leave(engine: &mut Engine, school: &School) -> Result<(), ScenarioError> {
    // A reload that was planned for a question which the host ended early may have come meanwhile.
    engine.run_until(clock::now().plus_ms(STEP_MS_MAX), |e| school.away(e) == 0)?;
    school.tell_hosts(engine, Task::Finish);
    engine.run_until(clock::now().plus_ms(STEP_MS_MAX), |e| not_told(school, e) == 0)?;
    Ok(())
}

/// How late the harness itself was. Only holds count, and so does only the lateness in them.
fn own_in_holds(engine: &Engine, times: &[StageTimes]) -> Own {
    let mut lateness = Micros::default();
    times
        .iter()
        .for_each(|stage| lateness.merge(&stage.phase.lateness));
    Own {
        lateness,
        ..own::own(engine)
    }
}

fn not_joined(engine: &Engine, ended_at: Stamp) -> u64 {
    let missing = |player: &&Player| player.due_at() < ended_at && player.id().is_none();
    count(engine.players().filter(missing).count())
}

fn not_told(school: &School, engine: &Engine) -> u64 {
    let classes = school.classes(engine);
    classes
        .map(|class| u64::from(class.joined.saturating_sub(class.ended)))
        .sum()
}

/// What the joins of a climb cost alone. Classes play while others join; each join has one message, its `welcome`, and the
/// others cost what a message costs in the hold.
fn joins_alone(climb: Spent, us_per_message: f64) -> Spent {
    let others = climb.messages.saturating_sub(climb.joined);
    let play = Duration::from_secs_f64(real(others) * us_per_message / 1e6);
    let play_us = u64::try_from(play.as_micros()).unwrap_or(u64::MAX);
    Spent {
        cpu_us: climb.cpu_us.saturating_sub(play_us),
        ..climb
    }
}

/// Opens the lobbies of a stage and lets its classes in, spread over the climb.
fn climb(
    engine: &mut Engine,
    school: &mut School,
    stages: &Stages,
    number: usize,
    console: &mut Console,
) -> Result<Spent, ScenarioError> {
    let from = number
        .checked_sub(1)
        .and_then(|before| stages.classes.get(before))
        .copied()
        .unwrap_or(0);
    let upto = stages.classes.get(number).copied().unwrap_or(from);
    let plan = engine.world.plan.clone();
    let new: Vec<u32> = plan
        .my_classes()
        .filter(|class| (from..upto).contains(class))
        .collect();
    console.progress(&format!("stage of {upto} classes: opening {} lobbies", new.len()));
    let known = school.rooms.len();
    school.open(engine, &new)?;
    school.wait_for_hosts(engine)?;

    let _before = engine.world.tally.join.take_phase();
    let _before = engine.world.tally.join_service.take_phase();
    let before = Spent::so_far(engine);
    let begin = clock::now();
    let join_ms = u64::from(plan.pace.join_over_ms) + BEFORE_START_MS;
    let spread_us = stages.climb_ms.saturating_sub(join_ms) * 1_000 / count(new.len()).max(1);
    for (position, room) in (0..).zip(&school.rooms[known..]) {
        let opening = begin.plus_us(position * spread_us);
        school::add_players(engine, room.class, opening);
        engine.schedule(Due {
            at: opening.plus_ms(join_ms),
            conn: room.host,
            task: Task::Start,
        });
    }
    console.progress(&format!("stage of {upto} classes: climbing"));
    engine.run_until(begin.plus_ms(stages.climb_ms), |_| false)?;
    Ok(Spent::so_far(engine).since(&before))
}

/// Measures while everybody plays.
fn hold(
    engine: &mut Engine,
    school: &School,
    stages: &Stages,
    number: usize,
    start: &Spent,
    console: &mut Console,
) -> Result<(StageFigures, StageTimes), ScenarioError> {
    let classes = stages.classes.get(number).copied().unwrap_or(0);
    let _climb = engine.world.tally.take_phase();
    let before = Spent::so_far(engine);
    let (begin, begin_unix_ms) = (clock::now(), clock::unix_ms());
    let end = begin.plus_ms(stages.hold_ms);
    while clock::now() < end {
        let messages = engine.world.tally.messages;
        let shown = clock::now();
        engine.run_until(end.min(shown.plus_ms(PROGRESS_EVERY_MS)), |_| false)?;
        let rate =
            real(engine.world.tally.messages - messages) * 1e6 / real(clock::now().since(shown).max(1));
        let p95_ms = engine.world.tally.fan_out.percentile_ms(95.0);
        console.progress(&format!(
            "stage of {classes} classes: {} players, {rate:.0} messages/s, fan-out p95 {p95_ms:.2} ms",
            school.joined(engine)
        ));
    }
    let hold_us = clock::now().since(begin).max(1);
    let window = Window::between(begin_unix_ms, clock::unix_ms(), classes);
    let now = Spent::so_far(engine);
    let (spent, grown) = (now.since(&before), now.since(start));
    let join = engine.world.tally.join.take_phase();
    let join_service = engine.world.tally.join_service.take_phase();
    let phase = engine.world.tally.take_phase();
    let players = school.rooms.iter().map(|room| engine.world.plan.size(room.class));
    let figures = StageFigures {
        classes,
        players: players.map(u64::from).sum(),
        joined: school.joined(engine),
        join: join.quantiles(),
        join_service: join_service.quantiles(),
        fan_out: phase.fan_out.quantiles(),
        ack: phase.ack.quantiles(),
        back: phase.back.quantiles(),
        messages: spent.messages,
        hold_ms: hold_us / 1_000,
        messages_per_s: real(spent.messages) * 1e6 / real(hold_us),
        lateness: phase.lateness.quantiles(),
        handling: phase.handling.quantiles(),
        harness_us_per_message: spent.us_per_message(),
        harness_bytes_per_player: real(grown.rss_bytes) / real(grown.joined.max(1)),
    };
    let name = format!("{classes} classes");
    Ok((
        figures,
        StageTimes {
            name,
            join,
            join_service,
            phase,
            spent: Spent {
                rss_bytes: grown.rss_bytes,
                joined: grown.joined,
                ..spent
            },
            window,
        },
    ))
}

/// Classes at most: what one run can open games for.
pub const CLASSES_MAX: u32 = 4_000;
/// Stages at most.
pub const STAGES_MAX: u32 = 10;

/// Sockets of this process in the last stage, hosts included.
#[must_use]
pub fn sockets(plan: &Plan) -> u64 {
    plan.my_students() + count(plan.my_classes().count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::small;

    #[test]
    fn stages_climb_in_equal_steps() {
        assert_eq!(Stages::lesson(960, 3).classes, [320, 640, 960]);
        assert_eq!(Stages::short(1, 3).classes, [0, 1]);
        let plan = Stages::lesson(960, 3).plan(1);
        assert_eq!((small(plan.sizes.len()), plan.my_students()), (960, 28_800));
        assert_eq!(sockets(&plan), 29_760);
        assert!((20..=200).contains(&plan.questions), "{}", plan.questions);
    }

    #[test]
    fn no_class_is_still_joining_when_a_stage_holds() {
        for (mut stages, least_ms) in [(Stages::lesson(10, 1), 30_200), (Stages::short(10, 1), 2_200)] {
            assert!(stages.begins());
            stages.climb_ms = least_ms;
            assert!(stages.begins());
            stages.climb_ms -= 1;
            assert!(!stages.begins());
        }
    }

    #[test]
    fn the_short_form_takes_about_a_minute() {
        let stages = Stages::short(96, 3);
        let ms: u64 = (stages.climb_ms + stages.hold_ms) * count(stages.classes.len());
        assert!((45_000..=75_000).contains(&ms), "{ms}");
    }
}
