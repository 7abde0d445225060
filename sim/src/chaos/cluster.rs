//! What goes wrong among several servers.

use super::{FAULTS_MS, Fault, Party, Target, When, empty, moment, trouble};
use crate::Millis;
use crate::class::ClientId;
use crate::dice::Dice;

/// The faults of a run with so many servers to begin with, each with its time.
pub(crate) fn draw(dice: &mut Dice, clients: usize, servers: usize) -> Vec<(Millis, Fault)> {
    // One run in twelve is a quiet one.
    let count = if dice.chance(8) { 0 } else { dice.between(2, 8) };
    let mut faults = Vec::new();
    for _ in 0..count {
        let at = dice.between(FAULTS_MS.0, FAULTS_MS.1);
        faults.push((at, fault(dice, clients, servers)));
    }
    if dice.chance(20) {
        faults.push((dice.between(1_000, 30_000), Fault::Join));
    }
    if dice.chance(20) {
        let kill = Fault::Kill {
            target: Target::Owner,
            when: When::ClassGone,
            restart_ms: None,
        };
        faults.push((FAULTS_MS.0, kill));
    }
    faults
}

/// Most faults find the owner: what happens to others is seldom seen.
fn target(dice: &mut Dice, servers: usize) -> Target {
    if dice.chance(75) {
        Target::Owner
    } else {
        Target::Server(dice.below(servers))
    }
}

fn fault(dice: &mut Dice, clients: usize, servers: usize) -> Fault {
    let client = ClientId(dice.below(clients));
    let target = target(dice, servers);
    match dice.weighted(&[26, 9, 14, 22, 12, 8, 2, 3, 4, 3, 3, 3, 5]) {
        0 => Fault::Kill {
            target,
            when: cluster_moment(dice),
            restart_ms: restart(dice),
        },
        1 => Fault::Stop {
            target,
            drain_ms: dice.between(500, 12_000),
            hurry_ms: dice.chance(30).then(|| dice.between(10, 4_000)),
            restart_ms: restart(dice),
        },
        2 => Fault::Pause {
            target,
            lasts_ms: match dice.weighted(&[1, 2, 5]) {
                0 => dice.between(100, 1_000),
                1 => dice.between(1_000, 5_000),
                _ => dice.between(5_500, 13_000),
            },
        },
        3 => cut(dice, target, servers),
        4 => trouble(dice),
        5 => empty(dice),
        6 => Fault::EmptyAndKill {
            restart_ms: dice.between(30, 2_500),
        },
        7 => Fault::CutOff { client },
        8 => Fault::Offline {
            client,
            lasts_ms: dice.between(500, 15_000),
        },
        9 => Fault::Reload { client },
        10 => Fault::ApiAway {
            lasts_ms: dice.between(500, 8_000),
        },
        11 => Fault::ClockStep {
            target,
            by_ms: clock_step(dice),
        },
        _ => Fault::WrongHints {
            lasts_ms: dice.between(10_000, 40_000),
        },
    }
}

/// A kill or a stop without a restart is what others must make good; one with it meets an earlier run of the same name.
fn restart(dice: &mut Dice) -> Option<Millis> {
    match dice.weighted(&[45, 40, 15]) {
        0 => None,
        1 => Some(dice.between(30, 2_500)),
        _ => Some(dice.between(4_000, 15_000)),
    }
}

fn cluster_moment(dice: &mut Dice) -> When {
    match dice.weighted(&[60, 15, 15, 10]) {
        0 => moment(dice),
        1 => When::AppendSent,
        2 => When::ClaimKept,
        _ => When::ReleaseKept,
    }
}

fn cut(dice: &mut Dice, a: Target, servers: usize) -> Fault {
    let other = Party::Server(dice.below(servers));
    let b = match dice.weighted(&[4, 3, 3, 6]) {
        0 => Party::Store,
        1 => Party::Proxy,
        2 => other,
        _ => Party::Backstage,
    };
    Fault::Cut {
        a,
        b,
        lasts_ms: match dice.weighted(&[1, 1, 1]) {
            // Longer than a lease and what it takes to find that out.
            _ if b == Party::Backstage => dice.between(5_500, 14_000),
            0 => dice.between(200, 4_000),
            _ => dice.between(4_000, 14_000),
        },
    }
}

/// Minutes or hours, either way.
fn clock_step(dice: &mut Dice) -> i64 {
    let by_ms = i64::try_from(dice.between(1_000, 3 * 60 * 60 * 1_000)).unwrap_or(1_000);
    if dice.chance(50) { by_ms } else { -by_ms }
}
