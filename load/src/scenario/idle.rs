//! `idle`: players who sit in lobbies. Answers what an idle socket costs the server in resident memory, and whether all
//! of them are still there after the server's pings.

use std::collections::BTreeMap;

use serde::Serialize;

use super::own::{self, Spent};
use super::{ScenarioError, Teacher};
use crate::client::{Due, Engine, EngineError, Targets, Task};
use crate::measure::{Quantiles, Tally};
use crate::plan::Plan;
use crate::report::{Console, Figure, Measured, Outcome, Table, bars};
use crate::sys::{clock, count, process, real, signals, small};
use crate::wire::Status;

/// Lobbies opened by one teacher: below the twenty games a minute that the API allows.
const LOBBIES_PER_TEACHER: u32 = 10;
/// Connecting may take this much longer than planned, in milliseconds.
const GRACE_MS: u64 = 30_000;
/// Memory counts as settled when it has changed by no more than this between two looks, in KiB.
const SETTLED_KIB: u64 = 64;
/// It is taken as it is after this many looks.
const LOOKS_MAX: u32 = 8;

/// From so many connects a second on the harness's own CPU per join is judged: at lower rates most of it is waking two threads
/// for every step of every join, whoever they are.
const MEASURED_CONNECTS_PER_S: u64 = 1_000;

/// How fast and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Sockets opened in a second.
    pub connects_per_s: u64,
    /// Between two looks at the server's memory, in milliseconds.
    pub look_ms: u64,
    /// Sockets are held this long, in milliseconds.
    pub hold_ms: u64,
    /// At the end every socket asks for a `pong`, spread over this time, in milliseconds.
    pub ask_over_ms: u64,
}

impl Timing {
    /// The measured run: held for longer than the 15 s between two pings of the server.
    pub const FULL: Self = Self {
        connects_per_s: 100,
        look_ms: 2_000,
        hold_ms: 20_000,
        ask_over_ms: 5_000,
    };

    /// The same in ten seconds, with a tenth of the sockets.
    pub const SHORT: Self = Self {
        connects_per_s: MEASURED_CONNECTS_PER_S,
        look_ms: 500,
        hold_ms: 2_000,
        ask_over_ms: 1_000,
    };
}

/// What the sockets cost.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    /// Sockets planned.
    pub sockets: u32,
    /// Players that were welcomed.
    pub joined: u32,
    /// Sockets that answered an application ping at the end.
    pub alive: u64,
    /// Players in the lobbies by the server's own count.
    pub counted_by_server: u64,
    /// Resident memory of the server before the first socket, in KiB.
    pub server_before_kib: u64,
    /// The same when all had joined and it had settled.
    pub server_joined_kib: u64,
    /// The same after holding them.
    pub server_held_kib: u64,
    /// The same after every socket had a ping answered: a buffer that grows with the first message counts.
    pub server_asked_kib: u64,
    /// The largest of the three, less what was there before, per joined socket, in KiB.
    pub server_kib_per_socket: f64,
    /// The harness's own growth per socket, in KiB.
    pub harness_kib_per_socket: f64,
    /// CPU of the server per join, in microseconds.
    pub server_us_per_join: f64,
    /// CPU of the harness per join, in microseconds.
    pub harness_us_per_join: f64,
    /// CPU of the harness to send one ping and to read its pong, in microseconds.
    pub harness_us_per_pong: f64,
    /// Join times.
    pub join: Quantiles,
    /// Join times without the harness's own delay.
    pub join_service: Quantiles,
    /// How late the harness itself was.
    pub lateness: Quantiles,
    /// Share of reads that the kernel stamped, from 0 to 1. The other reads count from when they were handled.
    pub kernel_stamped: f64,
    /// Faults by kind.
    pub faults: BTreeMap<&'static str, u64>,
    /// The first of them in words.
    pub fault_examples: Vec<String>,
}

/// Fills the lobbies of `plan` and measures the processes `pids`, which serve `targets` together.
///
/// # Errors
/// The set-up failed, the process cannot be read, or the harness itself failed.
pub fn run(
    targets: &Targets,
    plan: &Plan,
    pids: &[u32],
    timing: Timing,
    console: &mut Console,
) -> Result<Outcome, ScenarioError> {
    let mut engine = Engine::new(plan.clone(), targets.clone())?;
    console.progress(&format!("opening {} lobbies", plan.sizes.len()));
    let codes = open_lobbies(&mut engine, targets)?;
    let server_before = settle(&mut engine, pids, timing)?;
    let own_before = Spent::so_far(&engine);

    let sockets = connect_all(&mut engine, timing, console)?;
    let server_cpu_us = usage(pids)?.cpu_us.saturating_sub(server_before.cpu_us);
    let joining = Spent::so_far(&engine).since(&own_before);
    console.progress("waiting for the server's memory to settle");
    let server_joined = settle(&mut engine, pids, timing)?;
    console.progress(&format!("holding for {} s", timing.hold_ms / 1_000));
    engine.run_until(clock::now().plus_ms(timing.hold_ms), |_| false)?;
    let server_held = usage(pids)?;
    let own_held = Spent::so_far(&engine);
    ask_all(&mut engine, timing, console)?;
    let (server_asked, asking) = (usage(pids)?, Spent::so_far(&engine).since(&own_held));

    let joined: u32 = engine.world.classes.iter().map(|c| c.joined).sum();
    let per_socket = |kib: u64| real(kib) / f64::from(joined.max(1));
    let grown = |before: u64, after: u64| after.saturating_sub(before);
    let worst_kib = server_joined
        .rss_kib
        .max(server_held.rss_kib)
        .max(server_asked.rss_kib);
    let tally = &engine.world.tally;
    let figures = Figures {
        sockets,
        joined,
        alive: tally.pongs,
        counted_by_server: count_players(targets, &codes)?,
        server_before_kib: server_before.rss_kib,
        server_joined_kib: server_joined.rss_kib,
        server_held_kib: server_held.rss_kib,
        server_asked_kib: server_asked.rss_kib,
        server_kib_per_socket: per_socket(grown(server_before.rss_kib, worst_kib)),
        harness_kib_per_socket: per_socket(own_held.since(&own_before).rss_bytes) / 1_024.0,
        server_us_per_join: per_socket(server_cpu_us),
        harness_us_per_join: per_socket(joining.cpu_us),
        harness_us_per_pong: real(asking.cpu_us) / real(tally.pongs.max(1)),
        join: tally.join.quantiles(),
        join_service: tally.join_service.quantiles(),
        lateness: tally.lateness.quantiles(),
        kernel_stamped: engine.stamped_share(),
        faults: tally.faults.counts().map(|(kind, n)| (kind.name(), n)).collect(),
        fault_examples: tally.faults.examples().to_vec(),
    };
    let mut measured = measured(&figures, tally);
    if timing.connects_per_s >= MEASURED_CONNECTS_PER_S {
        own::enter_joins(&mut measured, &joining);
    }
    let held = own_held.since(&own_before);
    own::enter_memory(&mut measured, held.joined, held.rss_bytes);
    measured.seconds(&mut engine.world.tally);
    Ok(Outcome {
        scenario: "idle",
        table: table(&figures),
        measured,
        figures: serde_json::to_value(&figures).unwrap_or_default(),
        own: own::own(&engine),
    })
}

fn open_lobbies(engine: &mut Engine, targets: &Targets) -> Result<Vec<String>, ScenarioError> {
    let plan = engine.world.plan.clone();
    let mut teacher = Teacher::register(targets, 0, 1)?;
    let mut codes = Vec::new();
    for class in 0..small(plan.sizes.len()) {
        if signals::stop_requested() {
            return Err(EngineError::Stopped.into());
        }
        if class > 0 && class % LOBBIES_PER_TEACHER == 0 {
            teacher = Teacher::register(targets, class / LOBBIES_PER_TEACHER, 1)?;
        }
        let lobby = teacher.open_lobby(targets, &plan, class)?;
        engine.add_class(&lobby.code);
        codes.push(lobby.code);
    }
    Ok(codes)
}

/// What all of `pids` use together.
fn usage(pids: &[u32]) -> Result<process::Usage, ScenarioError> {
    let mut all = process::Usage::default();
    for &pid in pids {
        let one = process::usage(pid).map_err(|source| ScenarioError::Process { pid, source })?;
        all.rss_kib += one.rss_kib;
        all.cpu_us += one.cpu_us;
        all.descriptors += one.descriptors;
    }
    Ok(all)
}

/// Serves the sockets until the memory of `pids` has stopped changing.
fn settle(engine: &mut Engine, pids: &[u32], timing: Timing) -> Result<process::Usage, ScenarioError> {
    let mut last = usage(pids)?;
    for _look in 0..LOOKS_MAX {
        engine.run_until(clock::now().plus_ms(timing.look_ms), |_| false)?;
        let now = usage(pids)?;
        if now.rss_kib.abs_diff(last.rss_kib) <= SETTLED_KIB {
            return Ok(now);
        }
        last = now;
    }
    Ok(last)
}

fn connect_all(engine: &mut Engine, timing: Timing, console: &mut Console) -> Result<u32, ScenarioError> {
    let plan = engine.world.plan.clone();
    let begin = clock::now();
    let mut sockets: u32 = 0;
    for (class, &size) in (0..).zip(&plan.sizes) {
        for student in 0..size {
            let at = begin.plus_us(u64::from(sockets) * 1_000_000 / timing.connects_per_s);
            engine.add_player(class, student, at);
            sockets += 1;
        }
    }
    let limit = begin.plus_ms(u64::from(sockets) * 1_000 / timing.connects_per_s + GRACE_MS);
    let mut shown = 0;
    engine.run_until(limit, |e| {
        let there: u32 = e.world.classes.iter().map(|c| c.joined + c.gone).sum();
        if there / 1_000 > shown {
            shown = there / 1_000;
            console.progress(&format!("{there} of {sockets} sockets"));
        }
        there >= sockets
    })?;
    Ok(sockets)
}

fn ask_all(engine: &mut Engine, timing: Timing, console: &mut Console) -> Result<(), ScenarioError> {
    console.progress("asking every socket for a pong");
    let begin = clock::now();
    let conns = small(engine.conns().len());
    for conn in 0..conns {
        let at = begin.plus_us(u64::from(conn) * timing.ask_over_ms * 1_000 / u64::from(conns.max(1)));
        engine.schedule(Due {
            at,
            conn,
            task: Task::Ping,
        });
    }
    let open = count(engine.open_sockets());
    engine.run_until(begin.plus_ms(timing.ask_over_ms + GRACE_MS), |e| {
        e.world.tally.pongs >= open
    })?;
    Ok(())
}

fn count_players(targets: &Targets, codes: &[String]) -> Result<u64, ScenarioError> {
    let mut players = 0;
    for code in codes {
        let path = targets.game_path(&format!("/status?g={code}"));
        let status: Status = targets.game_http(code).get_json(&path, None)?;
        players += u64::from(status.players);
    }
    Ok(players)
}

fn measured(figures: &Figures, tally: &Tally) -> Measured {
    let mut measured = Measured::default();
    let sockets = u64::from(figures.sockets);
    measured.count("joined", u64::from(figures.joined));
    measured.count("alive", figures.alive);
    measured.times("join", "joining", &tally.join);
    measured.times("join service", "joining", &tally.join_service);
    measured.times("own_lateness", "all", &tally.lateness);
    measured.faults(&tally.faults);
    let not_joined = sockets.saturating_sub(u64::from(figures.joined));
    measured.zero("sockets not joined", not_joined);
    let dead = sockets.saturating_sub(figures.alive);
    measured.zero("sockets dead after the hold", dead);
    let missing = sockets.abs_diff(figures.counted_by_server);
    measured.zero("players missing at the server", missing);
    measured.must_be_zero("faults seen by clients", Figure::Faults);
    let name = "server memory per idle socket";
    measured.peak(name, figures.server_kib_per_socket);
    let figure = || Figure::Peak {
        name: name.to_owned(),
    };
    measured.bar(name, figure(), bars::IDLE_KIB_MAX, "KiB");
    measured.target(name, figure(), bars::IDLE_KIB_TARGET, "KiB");
    measured
}

fn table(figures: &Figures) -> Table {
    let mut table = Table::new(&[
        "sockets",
        "alive",
        "server before/joined/held/asked KiB",
        "server KiB/socket",
        "harness KiB/socket",
        "join p50/p95 ms",
        "without own delay",
        "server µs/join",
        "harness µs/join",
        "harness µs/pong",
        "own lateness p99 ms",
    ]);
    table.row(vec![
        figures.sockets.to_string(),
        figures.alive.to_string(),
        [
            figures.server_before_kib,
            figures.server_joined_kib,
            figures.server_held_kib,
            figures.server_asked_kib,
        ]
        .map(|kib| kib.to_string())
        .join("/"),
        format!("{:.2}", figures.server_kib_per_socket),
        format!("{:.2}", figures.harness_kib_per_socket),
        format!("{:.2}/{:.2}", figures.join.p50_ms, figures.join.p95_ms),
        format!(
            "{:.2}/{:.2}",
            figures.join_service.p50_ms, figures.join_service.p95_ms
        ),
        format!("{:.0}", figures.server_us_per_join),
        format!("{:.0}", figures.harness_us_per_join),
        format!("{:.1}", figures.harness_us_per_pong),
        format!("{:.2}", figures.lateness.p99_ms),
    ]);
    table
}
