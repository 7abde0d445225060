//! What a run saw: times, sequence checks, faults, the ledger of answers, and the harness's own model of scores.
//! Nothing here talks to a server; printing and judging is [`crate::report`]'s.

mod faults;
mod fit;
mod histogram;
mod ledger;
mod scoring;
mod sequence;
mod tally;
mod timed;

pub use faults::{FaultKind, Faults};
pub use fit::growth_exponent;
pub use histogram::{Micros, PackedMicros, Quantiles};
pub use ledger::{Fate, Ledger, Reckoning, Rule, Sent};
pub use scoring::{points, rank};
pub use sequence::{Sequence, SequenceFault};
pub use tally::{PhaseTimes, Tally};
pub use timed::Timed;
