//! What goes wrong in a run, and when: drawn once, from the seed.

mod cluster;

pub(crate) use cluster::draw as draw_for_cluster;

use crate::Millis;
use crate::class::ClientId;
use crate::dice::Dice;

/// Faults begin after the class has begun to gather and end before it can be over, so that all of them meet a class.
const FAULTS_MS: (Millis, Millis) = (300, 50_000);

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A server is killed, and started again if it is to be.
    Kill {
        target: Target,
        when: When,
        restart_ms: Option<Millis>,
    },
    /// A server is asked to stop, maybe a second time, and started again if it is to be.
    Stop {
        target: Target,
        drain_ms: Millis,
        hurry_ms: Option<Millis>,
        restart_ms: Option<Millis>,
    },
    /// A server stands still, and goes on as if nothing had been.
    Pause { target: Target, lasts_ms: Millis },
    /// Nothing gets through between two parties.
    Cut { a: Target, b: Party, lasts_ms: Millis },
    /// A server that was not there before.
    Join,
    /// A machine's clock is set wrong.
    ClockStep { target: Target, by_ms: i64 },
    /// The proxy places games wrongly, servers that name the owner of one name another server, and everybody comes anew.
    WrongHints { lasts_ms: Millis },
    /// The store is in trouble for a while.
    Trouble { weather: Weather, lasts_ms: Millis },
    /// The store restarts without its data, and has trouble getting up.
    Empty { weather: Weather, lasts_ms: Millis },
    /// The store restarts without its data, and the server is killed before it can write its games again.
    EmptyAndKill { restart_ms: Millis },
    /// A replica of the store takes over that missed the last changes, and maybe whoever has the game dies as well.
    GoBack {
        changes: usize,
        are_leases_old: bool,
        /// The holder is killed at that moment; started again after this time, if it is to be.
        kill: Option<Option<Millis>>,
    },
    /// A client loses its connection without a word.
    CutOff { client: ClientId },
    /// A client has no network for a while.
    Offline { client: ClientId, lasts_ms: Millis },
    /// A client's page is loaded again.
    Reload { client: ClientId },
    /// The API does not answer for a while.
    ApiAway { lasts_ms: Millis },
}

/// Which server something happens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// Whoever owns the game, as the store has it; the first one that runs when it is nobody's.
    Owner,
    /// This one.
    Server(usize),
}

/// The other side of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Party {
    Proxy,
    Store,
    Server(usize),
    /// The store and all other servers: only its clients are left to a server.
    Backstage,
}

/// The moment of a kill, so that rare ones are met often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum When {
    /// At once.
    Now,
    /// After the server has run so many of its tasks once.
    AfterTasks(u64),
    /// When an append has left the server.
    AppendSent,
    /// When the store has kept an append, before it has answered.
    AppendKept,
    /// When an ack that says "saved" has left the server.
    AckSent,
    /// When a snapshot has left the server.
    SnapshotSent,
    /// When the store has kept a snapshot, before it has answered.
    SnapshotKept,
    /// When another server has claimed the game, or the same one after a restart, before it knows.
    ClaimKept,
    /// When a server has given the game back, before it knows.
    ReleaseKept,
    /// When the API has the result, before the server knows.
    ResultKept,
    /// When everybody has gone home, and the game is still shown.
    ClassGone,
}

/// How the store answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Weather {
    /// Within milliseconds.
    #[default]
    Calm,
    /// Late.
    Slow,
    /// Calls get lost, on the way there or on the way back, or arrive when their caller has given up.
    Lossy,
    /// Half of all calls arrive when their caller has given up.
    Late,
    /// Nothing can be reached.
    Away,
    /// Nothing can be written.
    Full,
    /// Claims take long, so that several servers claim at the same time.
    Contended,
}

/// The faults of a run with one server, each with its time.
pub(crate) fn draw(dice: &mut Dice, clients: usize) -> Vec<(Millis, Fault)> {
    // One run in twelve is a quiet one.
    let count = if dice.chance(8) { 0 } else { dice.between(2, 8) };
    let mut faults = Vec::new();
    for _ in 0..count {
        let at = dice.between(FAULTS_MS.0, FAULTS_MS.1);
        faults.push((at, fault(dice, clients)));
    }
    faults
}

fn fault(dice: &mut Dice, clients: usize) -> Fault {
    let restart_ms = dice.between(30, 2_500);
    let client = ClientId(dice.below(clients));
    let target = Target::Server(0);
    match dice.weighted(&[36, 4, 32, 8, 1, 8, 8, 3]) {
        0 => Fault::Kill {
            target,
            when: moment(dice),
            restart_ms: Some(restart_ms),
        },
        1 => Fault::Stop {
            target,
            drain_ms: 0,
            hurry_ms: None,
            restart_ms: Some(restart_ms),
        },
        2 => trouble(dice),
        3 => empty(dice),
        4 => Fault::EmptyAndKill { restart_ms },
        5 => Fault::CutOff { client },
        6 => Fault::Reload { client },
        _ => Fault::ApiAway {
            lasts_ms: dice.between(500, 8_000),
        },
    }
}

/// What a store does that goes back in time, in one run in seven; drawn by itself, so that it adds to what other seeds had.
pub(crate) fn draw_going_back(dice: &mut Dice, is_alone: bool) -> Vec<(Millis, Fault)> {
    if !dice.chance(14) {
        return Vec::new();
    }
    let count = dice.between(1, 2);
    let fault = |dice: &mut Dice| {
        let at = dice.between(3_000, 40_000);
        let restart_ms = dice.between(30, 2_500);
        let is_restarted = is_alone || dice.chance(50);
        let fault = Fault::GoBack {
            changes: match dice.weighted(&[4, 3, 2]) {
                0 => usize::from(dice.chance(70)),
                1 => dice.below(8),
                _ => dice.below(40),
            },
            are_leases_old: dice.chance(20),
            kill: dice.chance(45).then(|| is_restarted.then_some(restart_ms)),
        };
        (at, fault)
    };
    (0..count).map(|_| fault(dice)).collect()
}

fn empty(dice: &mut Dice) -> Fault {
    Fault::Empty {
        weather: if dice.chance(50) {
            Weather::Lossy
        } else {
            Weather::Calm
        },
        lasts_ms: dice.between(200, 5_000),
    }
}

fn moment(dice: &mut Dice) -> When {
    match dice.weighted(&[10, 20, 15, 20, 15, 8, 8, 4, 6]) {
        0 => When::Now,
        1 => When::AfterTasks(dice.between(1, 12)),
        2 => When::AppendSent,
        3 => When::AppendKept,
        4 => When::AckSent,
        5 => When::SnapshotSent,
        6 => When::SnapshotKept,
        7 => When::ClaimKept,
        _ => When::ResultKept,
    }
}

fn trouble(dice: &mut Dice) -> Fault {
    let weather = match dice.weighted(&[1, 2, 2, 1, 1]) {
        0 => Weather::Slow,
        1 => Weather::Lossy,
        2 => Weather::Late,
        3 => Weather::Away,
        _ => Weather::Full,
    };
    Fault::Trouble {
        weather,
        lasts_ms: dice.between(200, 7_000),
    }
}
