//! Printing, judging and keeping the outcome of a run. Measuring is [`crate::measure`]'s.

pub mod bars;
mod check;
mod console;
mod results;
mod table;

pub use check::{Check, CheckKind};
pub use console::Console;
pub use results::{Outcome, Results, SCHEMA_VERSION};
pub use table::Table;
