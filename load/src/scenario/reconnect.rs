//! `reconnect`: in the middle of an open question every socket drops and comes back at once with the token that it holds,
//! one every 300 µs, as one process cannot open them faster and be in time. Answers how long it takes until everybody is
//! in play again, and whether anything was lost on the way: every `welcome` must cover what was missed, every answer that
//! was on its way must be settled and counted once.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ScenarioError;
use super::own::{self, Spent};
use super::school::{self, STEP_MS_MAX, School};
use crate::client::{Engine, Host, OnLoss, Targets, Task};
use crate::measure::{Micros, Quantiles, Reckoning};
use crate::plan::{Pace, Plan};
use crate::report::{Console, Figure, Measured, Outcome, Table, bars};
use crate::sys::{clock, real};

/// Questions played: one that everybody sees, one in which everybody drops, one that shows that all are back.
pub const QUESTIONS: u16 = 3;

/// Everybody answers within the time that a question is open, and half of them have not yet when all sockets drop.
pub const PACE: Pace = Pace {
    name: "reconnect",
    join_over_ms: 1_000,
    answer_ms: (500, 3_500),
    results_ms: (500, 1_500),
    close_after_ms: Some(8_000),
};

/// The same in half the time.
pub const PACE_SHORT: Pace = Pace {
    name: "reconnect short",
    join_over_ms: 1_000,
    answer_ms: (200, 1_800),
    results_ms: (300, 700),
    close_after_ms: Some(3_500),
};

/// How fast and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Classes that begin to join in a second.
    pub classes_per_s: u64,
    /// From the first opening of the second question to the drop, in milliseconds.
    pub drop_after_ms: u64,
    /// Who is not back after this time counts as lost, in milliseconds.
    pub back_ms_max: u64,
}

impl Timing {
    /// The measured run: 1,000 sockets a second, everybody dropped in the middle of the answers.
    pub const FULL: Self = Self {
        classes_per_s: 33,
        drop_after_ms: 2_000,
        back_ms_max: 30_000,
    };

    /// The same at the pace of [`PACE_SHORT`].
    pub const SHORT: Self = Self {
        drop_after_ms: 1_000,
        ..Self::FULL
    };
}

/// What it showed.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    /// Classes played by this process.
    pub classes: u64,
    /// Players planned.
    pub players: u64,
    /// Players that were welcomed.
    pub joined: u64,
    /// Sockets dropped, hosts included.
    pub dropped: u64,
    /// From the drop until the last was back, in milliseconds; the limit when somebody never was.
    pub all_back_ms: f64,
    /// From the drop to the `welcome` or `sync` that brought each one back.
    pub back: Quantiles,
    /// Members that did not come back.
    pub never_back: u64,
    /// Answers that were on their way when the sockets dropped.
    pub in_flight: u64,
    /// Answers sent again.
    pub sent_again: u64,
    /// CPU of the harness per join, in microseconds: nothing else goes on.
    pub harness_us_per_join: f64,
    /// CPU of the harness to drop a socket, to open another and to take up what its `welcome` says, in microseconds.
    pub harness_us_per_return: f64,
    /// Why members are still away, in words.
    pub why_away: String,
    /// Answers against the saved results.
    pub ledger: Reckoning,
    /// Faults by kind.
    pub faults: BTreeMap<&'static str, u64>,
    /// The first of them in words.
    pub fault_examples: Vec<String>,
}

/// Runs the classes of `plan` against `targets`.
///
/// # Errors
/// The set-up failed, or the harness itself did. What the servers do wrong is in the outcome.
pub fn run(
    targets: &Targets,
    plan: &Plan,
    timing: Timing,
    console: &mut Console,
) -> Result<Outcome, ScenarioError> {
    let mut engine = Engine::new(plan.clone(), targets.clone())?;
    let mut school = open(&mut engine, console)?;
    let start = Spent::so_far(&engine);
    join(&mut engine, &school, timing, console)?;
    let joined = Spent::so_far(&engine);

    school.tell_hosts(&mut engine, Task::Start);
    console.progress("playing the first question");
    wait_for_question(&school, &mut engine, 2)?;
    engine.run_until(clock::now().plus_ms(timing.drop_after_ms), |_| false)?;
    let played = Spent::so_far(&engine);

    console.progress("dropping every socket");
    let returned = drop_all(&mut engine, &school, timing)?;
    let returning = Spent::so_far(&engine).since(&played);

    console.progress("playing on");
    wait_for_question(&school, &mut engine, QUESTIONS)?;
    let without_podium = school.wait_for_podium(&mut engine, podium_ms_max(plan))?;
    let stuck = school.explain_stuck(&engine);
    let unanswered = school.ask_every_head(&mut engine)?;
    let ended = Spent::so_far(&engine);
    console.progress("fetching the reports");
    let verdict = school.reckon(&mut engine, STEP_MS_MAX)?;
    let tally = &engine.world.tally;
    let figures = Figures {
        classes: crate::sys::count(school.rooms.len()),
        players: plan.my_students(),
        joined: school.joined(&engine),
        dropped: returned.dropped,
        all_back_ms: returned.all_back.percentile_ms(100.0),
        back: tally.back.quantiles(),
        never_back: returned.never_back,
        in_flight: returned.in_flight,
        sent_again: tally.sent_again,
        harness_us_per_join: joined.since(&start).us_per_join(),
        harness_us_per_return: real(returning.cpu_us) / real(returned.dropped.max(1)),
        why_away: returned.why_away,
        ledger: verdict.reckoning,
        faults: tally.faults.counts().map(|(kind, n)| (kind.name(), n)).collect(),
        fault_examples: [&stuck, tally.faults.examples()].concat(),
    };
    let mut measured = measured(&engine, &figures);
    own::enter_joins(&mut measured, &joined.since(&start));
    own::enter_messages(&mut measured, &played.since(&joined));
    own::enter_memory(&mut measured, figures.joined, ended.since(&start).rss_bytes);
    measured.seconds(&mut engine.world.tally);
    measured.times("everybody back", "all at once", &returned.all_back);
    measured.zero("classes without a podium for everybody", without_podium);
    measured.zero("phones whose head of the sequence is unverified", unanswered);
    measured.zero("games without a report", verdict.without_report);
    Ok(Outcome {
        scenario: "reconnect",
        table: table(&figures),
        measured,
        figures: serde_json::to_value(&figures).unwrap_or_default(),
        own: own::own(&engine),
    })
}

/// From the last question's opening to the podium: it is closed by the host, its results are shown, and both may take a
/// step longer.
fn podium_ms_max(plan: &Plan) -> u64 {
    let Pace {
        close_after_ms,
        results_ms,
        ..
    } = plan.pace;
    u64::from(close_after_ms.unwrap_or(0) + results_ms.1) + STEP_MS_MAX
}

/// Everybody dropped and coming back.
struct Returned {
    dropped: u64,
    in_flight: u64,
    all_back: Micros,
    never_back: u64,
    why_away: String,
}

/// Drops every socket, and waits until everybody is back.
fn drop_all(engine: &mut Engine, school: &School, timing: Timing) -> Result<Returned, ScenarioError> {
    let in_flight = crate::sys::count(engine.world.tally.ledger.unsettled());
    let dropped_at = clock::now();
    let dropped = school::drop_all(engine, dropped_at);
    let before = engine.world.tally.dropped;
    let limit = dropped_at.plus_ms(timing.back_ms_max);
    engine.run_until(limit, |e| {
        e.world.tally.dropped >= before + dropped && school.away(e) == 0
    })?;
    let mut all_back = Micros::default();
    all_back.record(clock::now().since(dropped_at));
    Ok(Returned {
        dropped,
        in_flight,
        all_back,
        never_back: school.away(engine),
        why_away: school::explain(&school::refusals(engine)),
    })
}

/// The lobbies of all classes, with their hosts.
fn open(engine: &mut Engine, console: &mut Console) -> Result<School, ScenarioError> {
    engine.on_loss(OnLoss::Return);
    let mut school = School::default();
    let classes: Vec<u32> = engine.world.plan.my_classes().collect();
    console.progress(&format!("opening {} lobbies", classes.len()));
    school.open(engine, &classes)?;
    school.wait_for_hosts(engine)?;
    Ok(school)
}

fn join(
    engine: &mut Engine,
    school: &School,
    timing: Timing,
    console: &mut Console,
) -> Result<(), ScenarioError> {
    let begin = clock::now();
    for (position, room) in (0..).zip(&school.rooms) {
        let opening = begin.plus_us(position * 1_000_000 / timing.classes_per_s);
        school::add_players(engine, room.class, opening);
    }
    let players = engine.world.plan.my_students();
    let join_ms = u64::from(engine.world.plan.pace.join_over_ms);
    let climb_ms = crate::sys::count(school.rooms.len()) * 1_000 / timing.classes_per_s;
    console.progress(&format!("{players} players join"));
    engine.run_until(begin.plus_ms(climb_ms + join_ms + STEP_MS_MAX), |e| {
        school.joined(e) >= players
    })?;
    Ok(())
}

/// Waits until every class has question `q`, or something later.
fn wait_for_question(school: &School, engine: &mut Engine, q: u16) -> Result<bool, ScenarioError> {
    let limit = clock::now().plus_ms(podium_ms_max(&engine.world.plan) * u64::from(q));
    let there = |host: &Host| host.question() >= q || host.is_over();
    Ok(engine.run_until(limit, |e| school.hosts(e).all(there))?)
}

fn measured(engine: &Engine, figures: &Figures) -> Measured {
    let tally = &engine.world.tally;
    let mut measured = Measured::default();
    let percentile = |percent| Figure::Percentile {
        name: "back".to_owned(),
        phase: "all at once".to_owned(),
        percent,
    };
    measured.count("players", figures.players);
    measured.count("games", crate::sys::count(engine.world.plan.my_classes().count()));
    measured.count("joined", figures.joined);
    measured.count("sockets dropped", figures.dropped);
    measured.count("answers in flight at the drop", figures.in_flight);
    measured.count("answers sent again", figures.sent_again);
    measured.times("back", "all at once", &tally.back);
    measured.times("join", "all", &tally.join);
    measured.times("ack", "all", &tally.ack);
    measured.zero(
        "players not joined",
        figures.players.saturating_sub(figures.joined),
    );
    measured.zero("members not back", figures.never_back);
    measured.zero("sockets lost that nobody dropped", tally.cut_off);
    measured.zero("states of games taken over", tally.new_epochs);
    measured.count("attempts to connect that failed", tally.failed_attempts);
    measured.ledger_must_hold(&figures.ledger);
    measured.must_be_faultless(&tally.faults, &figures.fault_examples);
    measured.target("back in play, p99", percentile(99.0), bars::BACK_MS_MAX, "ms");
    measured
}

fn table(figures: &Figures) -> Table {
    let mut table = Table::new(&[
        "players",
        "dropped",
        "back p50/p95/p99 ms",
        "all back ms",
        "never back",
        "in flight",
        "sent again",
        "sent/acked/refused",
        "faults",
        "own µs/join",
        "own µs/return",
    ]);
    let (back, ledger) = (&figures.back, &figures.ledger);
    table.row(vec![
        figures.players.to_string(),
        figures.dropped.to_string(),
        format!("{:.1}/{:.1}/{:.1}", back.p50_ms, back.p95_ms, back.p99_ms),
        format!("{:.0}", figures.all_back_ms),
        figures.never_back.to_string(),
        figures.in_flight.to_string(),
        figures.sent_again.to_string(),
        format!("{}/{}/{}", ledger.sent, ledger.acked, ledger.refused),
        figures.faults.values().sum::<u64>().to_string(),
        format!("{:.1}", figures.harness_us_per_join),
        format!("{:.1}", figures.harness_us_per_return),
    ]);
    table
}
