//! What the generator knows of itself: how late it was, for the verdict, and what it used, against its own bars.

use crate::client::Engine;
use crate::report::{Figure, Measured, bars};
use crate::sys::{process, real};
use crate::verdict::Own;

/// Fewer joins, messages or players than this are not judged: what a process uses to start would be most of it.
const MANY: u64 = 1_000;

/// What the verdict asks for, of everything that `engine` did so far.
pub(super) fn own(engine: &Engine) -> Own {
    let (stamped, unstamped) = engine.stamps();
    Own {
        lateness: engine.world.tally.lateness.clone(),
        dropped: engine.never_done(),
        stamped,
        unstamped,
        ..Own::default()
    }
}

/// What this process has used and done up to a moment, or between two of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Spent {
    /// CPU of all threads, in microseconds; the watch beside the run is part of it.
    pub(super) cpu_us: u64,
    /// Resident memory, in bytes.
    pub(super) rss_bytes: u64,
    /// Messages received by players and hosts.
    pub(super) messages: u64,
    /// Players that were welcomed.
    pub(super) joined: u64,
}

impl Spent {
    /// Up to now.
    pub(super) fn so_far(engine: &Engine) -> Self {
        Self {
            cpu_us: process::own_cpu_us(),
            rss_bytes: process::own_usage().map_or(0, |usage| usage.rss_kib * 1_024),
            messages: engine.world.tally.messages,
            joined: engine.world.classes.iter().map(|c| u64::from(c.joined)).sum(),
        }
    }

    /// Between `before` and this moment.
    pub(super) const fn since(&self, before: &Self) -> Self {
        Self {
            cpu_us: self.cpu_us.saturating_sub(before.cpu_us),
            rss_bytes: self.rss_bytes.saturating_sub(before.rss_bytes),
            messages: self.messages.saturating_sub(before.messages),
            joined: self.joined.saturating_sub(before.joined),
        }
    }

    /// CPU of one join, in microseconds, when nothing else went on.
    pub(super) fn us_per_join(&self) -> f64 {
        real(self.cpu_us) / real(self.joined.max(1))
    }

    /// CPU of one message, in microseconds, when nothing but play went on.
    pub(super) fn us_per_message(&self) -> f64 {
        real(self.cpu_us) / real(self.messages.max(1))
    }
}

/// Enters what was spent while players joined and nothing else went on.
pub(super) fn enter_joins(measured: &mut Measured, spent: &Spent) {
    let of = (spent.cpu_us, spent.joined);
    let (bar, target) = (bars::HARNESS_JOIN_US_MAX, bars::HARNESS_JOIN_US_TARGET);
    enter(measured, "harness CPU per join", of, (bar, target), "µs");
}

/// Enters what was spent while nothing but play went on. The sending of answers is part of a message's cost.
pub(super) fn enter_messages(measured: &mut Measured, spent: &Spent) {
    let (bar, target) = (bars::HARNESS_MESSAGE_US_MAX, bars::HARNESS_MESSAGE_US_TARGET);
    let of = (spent.cpu_us, spent.messages);
    enter(measured, "harness CPU per message", of, (bar, target), "µs");
}

/// Enters what the memory of this process has grown by for `players` players.
pub(super) fn enter_memory(measured: &mut Measured, players: u64, bytes: u64) {
    let (bar, target) = (bars::HARNESS_BYTES_MAX, bars::HARNESS_BYTES_TARGET);
    enter(
        measured,
        "harness memory per player",
        (bytes, players),
        (bar, target),
        "B",
    );
}

/// As two counts, so that segments merge.
fn enter(measured: &mut Measured, name: &str, (of, per): (u64, u64), (bar, target): (f64, f64), unit: &str) {
    let (over, under) = (format!("{name}: all, {unit}"), format!("{name}: of"));
    measured.count(&over, of);
    measured.count(&under, per);
    if per < MANY {
        return;
    }
    let figure = || Figure::Ratio {
        over: over.clone(),
        under: under.clone(),
        scale: 1.0,
    };
    measured.target(name, figure(), bar, unit);
    measured.target(&format!("{name}, where it should go"), figure(), target, unit);
}
