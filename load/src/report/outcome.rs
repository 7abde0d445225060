//! What a scenario hands over.

use super::check::Check;
use super::measured::Measured;
use super::table::Table;
use crate::verdict::Own;

/// What a scenario hands over.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its name.
    pub scenario: &'static str,
    /// The figures for people.
    pub table: Table,
    /// The figures that merge, and what they are judged by.
    pub measured: Measured,
    /// What else this process alone knows; kept, but neither merged nor judged.
    pub figures: serde_json::Value,
    /// What the generator knows of itself.
    pub own: Own,
}

impl Outcome {
    /// The figures against their limits, as if this process were all of the run.
    #[must_use]
    pub fn checks(&self) -> Vec<Check> {
        self.measured.checks()
    }
}
