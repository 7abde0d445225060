//! `nine`: it is nine o'clock. 240 classes begin within a minute, from twelve schools, each of which has one address; then fifty teachers behind
//! one address start at the same moment; then one teacher starts thirty games. Answers how long a join takes while everybody comes, whether
//! anybody is refused for the address that they share, and what somebody is told who asks for too much.

mod judge;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::mpsc::{self, Receiver, SyncSender};

use serde::Serialize;

use super::own::own;
use super::staff::{self, Member, Size, json};
use super::timetable::{Ended, Timetable};
use super::{Place, ScenarioError};
use crate::client::calls::{Ask, Calls, Heard, Way, request, way_from};
use crate::client::{Engine, Targets};
use crate::measure::{Micros, Quantiles};
use crate::plan::{Pace, Plan};
use crate::report::{Console, Outcome};
use crate::sys::clock::{self, Stamp};
use crate::sys::{count, index, small};
use crate::wire::{self, CreateGame};

/// Players of a class.
pub const CLASS_SIZE: u32 = 30;
/// Schools, each with an address of its own.
const SCHOOLS: u8 = 12;
/// The first school's address is this one of the loopback network, 127.0.0.0/8.
const FIRST_SCHOOL: u8 = 2;
/// Students of a class join over this time.
const PACE: Pace = Pace {
    name: "nine",
    join_over_ms: 10_000,
    ..Pace::FAST
};
/// Games that one teacher starts.
const GAMES_OF_ONE: u32 = 30;
/// Those of them that are one too many for a minute.
const REFUSED_OF_ONE: u64 = 10;
/// Between two starts of one teacher, in milliseconds: ten a second is as fast as anybody clicks.
const ONE_EVERY_MS: u64 = 100;
/// Whoever waits gives up after this time, in milliseconds.
const GIVE_UP_MS: u64 = 10_000;
/// After the last join was due, everybody is waited for this long, in milliseconds.
const GRACE_MS: u64 = 15_000;
/// How often lobbies that were opened are taken up, in milliseconds.
const LOOK_MS: u64 = 5;
/// Before the first class, in milliseconds: threads begin meanwhile.
const BEFORE_MS: u64 = 500;

/// How many, and how fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Classes that begin.
    pub classes: u32,
    /// Over this time, in milliseconds.
    pub over_ms: u64,
    /// Teachers behind one address.
    pub behind_one: u32,
    /// Whether times are judged by their bars, or only reported.
    pub is_judged: bool,
}

impl Timing {
    /// The measured run: the last class begins so that its last student joins at the end of the minute.
    pub const FULL: Self = Self {
        classes: 240,
        over_ms: 50_000,
        behind_one: 50,
        is_judged: true,
    };

    /// A few classes in a few seconds, of which only counts are judged.
    pub const SHORT: Self = Self {
        classes: 12,
        over_ms: 3_000,
        behind_one: 12,
        is_judged: false,
    };

    /// The plan of such a run.
    #[must_use]
    pub fn plan(&self, seed: u64) -> Plan {
        let join_over_ms = match self.is_judged {
            true => PACE.join_over_ms,
            false => 2_000,
        };
        let pace = Pace { join_over_ms, ..PACE };
        Plan::new(seed, pace, 1, vec![CLASS_SIZE; index(self.classes)])
    }
}

/// What a run showed.
#[derive(Debug, Clone, Serialize)]
struct Figures {
    classes: u64,
    players: u64,
    joined: u64,
    join: Quantiles,
    join_service: Quantiles,
    opened: Quantiles,
    behind_one: Quantiles,
    refused_of_one: u64,
    /// Starts by status, but 201.
    refused: Vec<(u16, u64)>,
    #[serde(skip)]
    opened_times: Micros,
    #[serde(skip)]
    behind_one_times: Micros,
    not_opened: u64,
    not_started_behind_one: u64,
    refused_for_a_limit: u64,
    without_a_time: u64,
    fault_examples: Vec<String>,
}

/// A lobby that was opened, or could not be.
struct Opened {
    class: u32,
    status: u16,
}

/// Lets it be nine o'clock at the servers of `place`.
///
/// # Errors
/// The set-up failed, or the harness itself did. What the servers do wrong is in the outcome.
pub fn run(
    place: &Place,
    plan: &Plan,
    timing: Timing,
    console: &mut Console,
) -> Result<Outcome, ScenarioError> {
    let mut ways = Vec::new();
    let site = place.site(0, &mut ways)?;
    let mut calls = Calls::new(ways, GIVE_UP_MS)?;
    let size = Size {
        teachers: timing.classes + timing.behind_one + 1,
        quizzes: 1,
        questions: 1,
        games: (0, 0),
    };
    let staff = staff::hire(&mut calls, &site, size, plan.seed, console)?;
    let (of_classes, others) = staff.split_at(index(timing.classes).min(staff.len()));
    let (together, one) = others.split_at(index(timing.behind_one).min(others.len()));

    let targets = place.targets.clone().coming_from(schools());
    let mut engine = Engine::new(plan.clone(), targets)?;
    console.progress(&format!("{} classes begin", timing.classes));
    let opened = begin(&mut engine, of_classes, timing)?;
    console.progress(&format!(
        "{} teachers behind one address start",
        timing.behind_one
    ));
    let at_once = start_together(&place.targets, together)?;
    console.progress("one teacher starts thirty games");
    let of_one = start_many(&place.targets, one)?;
    let figures = figures(&engine, timing, (&opened, &at_once, &of_one));
    let mut measured = judge::measured(&engine.world.tally, &figures, timing.is_judged);
    let own = own(&engine);
    measured.seconds(&mut engine.world.tally);
    Ok(Outcome {
        scenario: "nine",
        table: judge::table(&figures),
        measured,
        own,
        figures: serde_json::to_value(&figures).unwrap_or_default(),
    })
}

/// The addresses of all schools.
fn schools() -> Vec<IpAddr> {
    (0..SCHOOLS)
        .map(|school| IpAddr::V4(Ipv4Addr::new(127, 0, 0, FIRST_SCHOOL + school)))
        .collect()
}

/// Ways from `sources` to all game servers, by source and server.
fn ways(targets: &Targets, sources: &[IpAddr]) -> Vec<Way> {
    let servers = targets.game_servers();
    let from = |source: &IpAddr| {
        let source = *source;
        servers.iter().map(move |server| way_from(server.clone(), source))
    };
    sources.iter().flat_map(from).collect()
}

/// Opens a lobby under `code`.
fn create(targets: &Targets, member: &Member, code: &str, source: usize) -> (u32, std::rc::Rc<[u8]>) {
    let servers = targets.game_servers().len();
    let server = index(targets.server_of(code));
    let host = &targets.game(code).host;
    let path = targets.game_path(&format!("/games?g={code}"));
    let quiz = member.quizzes.first().map_or("", String::as_str);
    let body = json(&CreateGame::of_stored(quiz, code));
    let way = small(source * servers + server);
    (way, request("POST", &path, host, Some(&member.token), "", &body))
}

/// The code of game `number`; those of `round` are others than those of another round.
fn code(plan: &Plan, number: u32, round: u32) -> String {
    wire::code(plan.code_positions(number, round, small(wire::CODE_ALPHABET.len())))
}

/// Lets the classes begin one after the other, and everybody join.
fn begin(engine: &mut Engine, staff: &[Member], timing: Timing) -> Result<Vec<Ended>, ScenarioError> {
    let (plan, targets) = (engine.world.plan.clone(), engine.targets().clone());
    let first = clock::now().plus_ms(BEFORE_MS);
    let apart_us = timing.over_ms * 1_000 / u64::from(timing.classes.max(1));
    let due = |class: u32| first.plus_us(u64::from(class) * apart_us);
    let (tell, lobbies) = mpsc::sync_channel(index(timing.classes).max(1));
    std::thread::scope(|scope| {
        let opening = scope.spawn(|| open(&targets, &plan, staff, &due, &tell));
        let join_ms = u64::from(plan.pace.join_over_ms);
        let limit = first.plus_ms(timing.over_ms + join_ms + GRACE_MS);
        let_in(engine, staff, &lobbies, &due, limit)?;
        opening
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Opens the lobbies of all classes when they are due, each from its school's address, and tells of each.
fn open(
    targets: &Targets,
    plan: &Plan,
    staff: &[Member],
    due: &(dyn Fn(u32) -> Stamp + Sync),
    tell: &SyncSender<Opened>,
) -> Result<Vec<Ended>, ScenarioError> {
    let schools = schools();
    let asks = (0..).zip(staff).map(|(class, member)| {
        let source = index(class) % schools.len();
        let (way, request) = create(targets, member, &code(plan, class, 0), source);
        Ask {
            due: due(class),
            way,
            tag: u64::from(class),
            request,
        }
    });
    let mut told = |heard: &Heard<'_>| {
        let opened = Opened {
            class: small(usize::try_from(heard.tag).unwrap_or(usize::MAX)),
            status: heard.status(),
        };
        // Nobody listens any more when the run was given up.
        let _heard = tell.try_send(opened);
    };
    let mut timetable = Timetable::new(asks.collect(), &mut told);
    Calls::new(ways(targets, &schools), GIVE_UP_MS)?.run(&mut timetable)?;
    Ok(timetable.ended)
}

/// Lets hosts and players of lobbies that were opened come in until everybody is there, or `limit`. They stay.
fn let_in(
    engine: &mut Engine,
    staff: &[Member],
    lobbies: &Receiver<Opened>,
    due: &dyn Fn(u32) -> Stamp,
    limit: Stamp,
) -> Result<(), ScenarioError> {
    let (mut told, mut players) = (0, 0);
    while clock::now() < limit {
        engine.run_until(clock::now().plus_ms(LOOK_MS), |_| false)?;
        while let Ok(Opened { class, status }) = lobbies.try_recv() {
            told += 1;
            let Some(member) = staff.get(index(class)).filter(|_| status == 201) else {
                continue;
            };
            let code = code(&engine.world.plan, class, 0);
            engine.add_class_as(class, &code);
            engine.add_host(class, member.token.clone(), clock::now());
            super::school::add_players(engine, class, due(class).plus_ms(BEFORE_MS));
            players += engine.world.plan.size(class);
        }
        let joined: u32 = engine.world.classes.iter().map(|class| class.joined).sum();
        if told == staff.len() && joined >= players {
            break;
        }
    }
    Ok(())
}

/// All of `staff` start a game at the same moment, from one address.
fn start_together(targets: &Targets, staff: &[Member]) -> Result<Vec<Ended>, ScenarioError> {
    let at = clock::now().plus_ms(BEFORE_MS);
    start(targets, staff.iter().map(|member| (member, at)))
}

/// One teacher starts many games, one after the other.
fn start_many(targets: &Targets, staff: &[Member]) -> Result<Vec<Ended>, ScenarioError> {
    let first = clock::now().plus_ms(BEFORE_MS);
    let one = staff.first().into_iter();
    let games = one.flat_map(|member| {
        (0..GAMES_OF_ONE).map(move |n| (member, first.plus_ms(u64::from(n) * ONE_EVERY_MS)))
    });
    start(targets, games)
}

fn start<'a>(
    targets: &Targets,
    games: impl Iterator<Item = (&'a Member, Stamp)>,
) -> Result<Vec<Ended>, ScenarioError> {
    // Codes of games that nobody joins; those of another start differ by its moment.
    let plan = Plan::new(clock::now().0, PACE, 0, Vec::new());
    let asks = games.zip(0..).map(|((member, due), number)| {
        let (way, request) = create(targets, member, &code(&plan, number, 1), 0);
        Ask {
            due,
            way,
            tag: u64::from(number),
            request,
        }
    });
    let mut nobody = |_: &Heard<'_>| {};
    let mut timetable = Timetable::new(asks.collect(), &mut nobody);
    let school: Vec<IpAddr> = schools().into_iter().take(1).collect();
    Calls::new(ways(targets, &school), GIVE_UP_MS)?.run(&mut timetable)?;
    Ok(timetable.ended)
}

type Starts<'a> = (&'a [Ended], &'a [Ended], &'a [Ended]);

fn figures(engine: &Engine, timing: Timing, (opened, at_once, of_one): Starts<'_>) -> Figures {
    let tally = &engine.world.tally;
    let times = |ended: &[Ended]| {
        let mut times = Micros::default();
        let done = ended.iter().filter(|ended| ended.status == 201);
        done.for_each(|ended| times.record(ended.took_us));
        times
    };
    let missing = |ended: &[Ended], wanted: u32| {
        let done = ended.iter().filter(|ended| ended.status == 201);
        u64::from(wanted).saturating_sub(count(done.count()))
    };
    let mut refused = std::collections::BTreeMap::new();
    for ended in opened.iter().chain(at_once).chain(of_one) {
        if ended.status != 201 {
            *refused.entry(ended.status).or_insert(0) += 1;
        }
    }
    let is_limit = |ended: &&Ended| ended.status == 429;
    let is_well_told = |ended: &&Ended| ended.retry_after_s.is_some_and(|s| (1..=60).contains(&s));
    let limited = of_one.iter().filter(is_limit);
    let (opened_times, behind_one_times) = (times(opened), times(at_once));
    Figures {
        classes: u64::from(timing.classes),
        players: engine.world.plan.my_students(),
        joined: engine.world.classes.iter().map(|c| u64::from(c.joined)).sum(),
        join: tally.join.quantiles(),
        join_service: tally.join_service.quantiles(),
        opened: opened_times.quantiles(),
        behind_one: behind_one_times.quantiles(),
        refused_of_one: count(limited.clone().count()),
        refused: refused.into_iter().collect(),
        not_opened: missing(opened, timing.classes),
        not_started_behind_one: missing(at_once, timing.behind_one),
        refused_for_a_limit: count(opened.iter().chain(at_once).filter(is_limit).count()),
        without_a_time: count(limited.filter(|ended| !is_well_told(ended)).count()),
        fault_examples: tally.faults.examples().to_vec(),
        opened_times,
        behind_one_times,
    }
}
