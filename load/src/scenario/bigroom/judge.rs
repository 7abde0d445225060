//! The bars of `bigroom` and its table.

use super::{Figures, Room, RoomFigures};
use crate::plan::{self, Plan};
use crate::report::{Figure, Measured, Table, bars};
use crate::sys::real;

/// What the rooms showed, and what it is judged by. Correctness must be perfect in every room; bytes are judged where the
/// bar is defined, with 500 players and the whole quiz.
pub(super) fn measured(plan: &Plan, rooms: &[Room]) -> Measured {
    let mut measured = Measured::default();
    for room in rooms {
        let figures = &room.figures;
        measured.point(PAYLOAD, u64::from(figures.players), figures.traffic.payload_bytes);
        measured.count("games", 1);
        measured.count("joined", u64::from(figures.joined));
        measured.count("payload_bytes", figures.traffic.payload_bytes);
        measured.count("wire_bytes", figures.traffic.wire_bytes);
        measured.count("frames", figures.traffic.frames);
        measured.ledger(&figures.ledger);
        measured.faults(&room.tally.faults);
        let phase = format!("{} players", figures.players);
        for (name, times) in [
            ("join", &*room.tally.join),
            ("fan_out", &room.tally.fan_out),
            ("last_phone", &room.last_phone),
            ("ack", &room.tally.ack),
            ("own_lateness", &room.tally.lateness),
            ("own_handling", &room.tally.handling),
        ] {
            measured.times(name, &phase, times);
        }
        correctness(&mut measured, figures);
        if figures.players == bars::FULL_ROOM {
            judge_full_room(&mut measured, plan, figures, phase);
        }
    }
    if plan.sizes.iter().any(|size| Some(size) != plan.sizes.first()) {
        let exponent = Figure::Exponent {
            series: PAYLOAD.to_owned(),
        };
        measured.bar("growth exponent of payload", exponent, bars::EXPONENT_MAX, "");
    }
    measured
}

/// The series of payload bytes by players of the room.
const PAYLOAD: &str = "payload_bytes_by_players";

fn judge_full_room(measured: &mut Measured, plan: &Plan, room: &RoomFigures, phase: String) {
    if plan.questions == plan::QUESTIONS {
        let name = "payload to 500 players";
        measured.peak(name, real(room.traffic.payload_bytes) / 1e6);
        let figure = || Figure::Peak {
            name: name.to_owned(),
        };
        measured.bar(name, figure(), bars::ROOM_MB_MAX, "MB");
        measured.target(name, figure(), bars::ROOM_MB_TARGET, "MB");
    }
    let last_phone = Figure::Percentile {
        name: "last_phone".to_owned(),
        phase,
        percent: 95.0,
    };
    measured.target(
        "last of 500 phones, p95",
        last_phone,
        bars::LAST_PHONE_MS_MAX,
        "ms",
    );
}

fn correctness(measured: &mut Measured, room: &RoomFigures) {
    let name = |what: &str| format!("{} players: {what}", room.players);
    let not_joined = room.players.saturating_sub(room.joined);
    measured.zero(&name("not joined"), u64::from(not_joined));
    let not_told = room.joined.saturating_sub(room.told_of_end);
    measured.zero(&name("not told of the end"), u64::from(not_told));
    measured.zero(
        &name("phones whose head of the sequence is unverified"),
        room.unverified,
    );
    measured.zero(&name("games taken over"), room.new_epochs);
    measured.zero(&name("faults seen by clients"), room.faults.values().sum());
    for (what, n) in room.agreement.faults().into_iter().chain(room.ledger.faults()) {
        measured.zero(&name(what), n);
    }
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
