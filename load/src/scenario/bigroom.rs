//! `bigroom`: one game of each size in turn, the whole reference quiz with every player on a real socket. Answers how
//! bytes grow with the room, how fast a click reaches the last phone, and whether everybody is told the same truth.

mod agreement;
mod judge;
mod room;

use std::collections::BTreeMap;

use serde::Serialize;

pub use agreement::{Agreement, Told};

use super::ScenarioError;
use super::own::{self, Spent};
use crate::client::{Engine, Targets, Traffic};
use crate::measure::{Micros, Quantiles, Reckoning, Tally, growth_exponent};
use crate::plan::Plan;
use crate::report::{Console, Outcome};
use crate::sys::real;

/// A played room.
#[derive(Debug)]
struct Room {
    figures: RoomFigures,
    tally: Tally,
    last_phone: Micros,
    joining: Spent,
    playing: Spent,
}

/// What one room showed.
#[derive(Debug, Clone, Serialize)]
pub struct RoomFigures {
    /// Players planned.
    pub players: u32,
    /// Players that were welcomed.
    pub joined: u32,
    /// Players told that the game ended, whose socket was then closed as the protocol says.
    pub told_of_end: u32,
    /// Phones whose head of the sequence is unverified.
    pub unverified: u64,
    /// States that somebody else than the game's first server sent.
    pub new_epochs: u64,
    /// What the players received.
    pub traffic: Traffic,
    /// From a join's due time to its `welcome`.
    pub join: Quantiles,
    /// From the host's click to the question, at every phone.
    pub fan_out: Quantiles,
    /// From the host's click to the question at the last phone, for every question.
    pub last_phone: Quantiles,
    /// From an answer to its ack.
    pub ack: Quantiles,
    /// How late the harness itself was.
    pub lateness: Quantiles,
    /// How late the harness handled what had arrived; not part of the other times.
    pub handling: Quantiles,
    /// CPU of the harness per message received while questions were played, in microseconds.
    pub harness_us_per_message: f64,
    /// Answers against the saved result.
    pub ledger: Reckoning,
    /// Planned answers whose question had closed before they were sent.
    pub too_late_to_send: u64,
    /// What phones, podium and report say, against the harness's model.
    pub agreement: Agreement,
    /// Faults by kind.
    pub faults: BTreeMap<&'static str, u64>,
    /// The first of them in words.
    pub fault_examples: Vec<String>,
}

/// What all rooms showed.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    /// Room by room.
    pub rooms: Vec<RoomFigures>,
    /// Exponent of the players' payload bytes over the number of players; none with fewer than two sizes.
    pub growth_exponent: Option<f64>,
    /// Share of reads that the kernel stamped, from 0 to 1. The other reads count from when they were handled.
    pub kernel_stamped: f64,
}

/// Plays all rooms of `plan` against `targets`.
///
/// # Errors
/// The set-up failed, or the harness itself did. What the servers do wrong is in the outcome.
pub fn run(targets: &Targets, plan: &Plan, console: &mut Console) -> Result<Outcome, ScenarioError> {
    let mut engine = Engine::new(plan.clone(), targets.clone())?;
    let mut rooms = Vec::new();
    for _class in &plan.sizes {
        rooms.push(room::play(&mut engine, targets, console)?);
    }
    let mut own = own::own(&engine);
    for room in &rooms {
        own.lateness.merge(&room.tally.lateness);
        own.dropped += room.tally.never_done;
    }
    let mut measured = judge::measured(plan, &rooms);
    for room in &mut rooms {
        measured.seconds(&mut room.tally);
        own::enter_joins(&mut measured, &room.joining);
        own::enter_messages(&mut measured, &room.playing);
    }
    let rooms: Vec<_> = rooms.into_iter().map(|room| room.figures).collect();
    let points: Vec<_> = rooms
        .iter()
        .map(|r| (f64::from(r.players), real(r.traffic.payload_bytes)))
        .collect();
    let figures = Figures {
        growth_exponent: growth_exponent(&points),
        kernel_stamped: engine.stamped_share(),
        rooms,
    };
    Ok(Outcome {
        scenario: "bigroom",
        table: judge::table(&figures),
        figures: serde_json::to_value(&figures).unwrap_or_default(),
        measured,
        own,
    })
}
