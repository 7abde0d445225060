//! The bars of `bigroom` and its table.

use super::{Figures, RoomFigures};
use crate::plan::{self, Plan};
use crate::report::{Check, Table, bars};
use crate::sys::real;

/// Judges what the rooms showed. Correctness must be perfect in every room; bytes are judged where the bar is defined,
/// with 500 players and the whole quiz.
pub(super) fn checks(plan: &Plan, figures: &Figures) -> Vec<Check> {
    let mut checks: Vec<Check> = figures.rooms.iter().flat_map(correctness).collect();
    let full_room = figures.rooms.iter().find(|room| room.players == bars::FULL_ROOM);
    if let Some(room) = full_room {
        if plan.questions == plan::QUESTIONS {
            let megabytes = real(room.traffic.payload_bytes) / 1e6;
            checks.push(Check::bar(
                "payload to 500 players",
                megabytes,
                bars::ROOM_MB_MAX,
                "MB",
            ));
            checks.push(Check::target(
                "payload to 500 players",
                megabytes,
                bars::ROOM_MB_TARGET,
                "MB",
            ));
        }
        checks.push(Check::target(
            "last of 500 phones, p95",
            room.last_phone.p95_ms,
            bars::LAST_PHONE_MS_MAX,
            "ms",
        ));
    }
    if let Some(exponent) = figures.growth_exponent {
        checks.push(Check::bar(
            "growth exponent of payload",
            exponent,
            bars::EXPONENT_MAX,
            "",
        ));
    }
    checks
}

fn correctness(room: &RoomFigures) -> Vec<Check> {
    let name = |what: &str| format!("{} players: {what}", room.players);
    let mut checks = vec![Check::zero(
        name("not joined"),
        u64::from(room.players.saturating_sub(room.joined)),
    )];
    let not_told = room.joined.saturating_sub(room.told_of_end);
    checks.push(Check::zero(name("not told of the end"), u64::from(not_told)));
    checks.push(Check::zero(
        name("faults seen by clients"),
        room.faults.values().sum(),
    ));
    let disagreements = room.agreement.faults().into_iter().chain(room.ledger.faults());
    checks.extend(disagreements.map(|(what, n)| Check::zero(name(what), n)));
    checks
}

/// A line for every room.
pub(super) fn table(figures: &Figures) -> Table {
    let mut table = Table::new(&[
        "players",
        "payload B",
        "wire B",
        "payload B/player",
        "frames",
        "join p50/p95 ms",
        "fan-out p50/p95 ms",
        "last phone p95 ms",
        "ack p50/p95 ms",
        "sent/acked/refused",
        "faults",
        "own late/handling p99 ms",
        "own µs/message",
    ]);
    for room in &figures.rooms {
        let pair = |q: &crate::measure::Quantiles| format!("{:.2}/{:.2}", q.p50_ms, q.p95_ms);
        let ledger = &room.ledger;
        table.row(vec![
            room.players.to_string(),
            room.traffic.payload_bytes.to_string(),
            room.traffic.wire_bytes.to_string(),
            format!(
                "{:.0}",
                real(room.traffic.payload_bytes) / f64::from(room.players.max(1))
            ),
            room.traffic.frames.to_string(),
            pair(&room.join),
            pair(&room.fan_out),
            format!("{:.2}", room.last_phone.p95_ms),
            pair(&room.ack),
            format!("{}/{}/{}", ledger.sent, ledger.acked, ledger.refused),
            room.faults.values().sum::<u64>().to_string(),
            format!("{:.2}/{:.2}", room.lateness.p99_ms, room.handling.p99_ms),
            format!("{:.1}", room.harness_us_per_message),
        ]);
    }
    table
}
