//! Printing, judging and keeping the outcome of a run. Measuring is [`crate::measure`]'s, merging [`crate::merge`]'s,
//! whether the numbers may be believed [`crate::verdict`]'s.

pub mod bars;
mod check;
mod console;
mod figure;
mod judgement;
mod markdown;
mod measured;
mod outcome;
mod record;
mod resources;
pub mod store;
mod table;

pub use check::{Check, CheckKind};
pub use console::Console;
pub use figure::Figure;
pub use judgement::Judgement;
pub use markdown::Report;
pub use measured::{Cell, Measured, Threshold};
pub use outcome::Outcome;
pub use record::{FILE_NAME, PlanRecord, ReadError, Record, SCHEMA_VERSION, SegmentRecord};
pub use resources::{Resources, Sample, Summary};
pub use store::{StoreUse, Window};
pub use table::Table;
