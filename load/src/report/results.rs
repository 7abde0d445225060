//! The record of a run: `results.json`, with everything that is needed to compare it with another.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::check::Check;
use super::console::Console;
use super::table::Table;
use crate::plan::Plan;
use crate::sys::hardware::Hardware;

/// Version of the layout of `results.json`; grows when a reader of the old one would misread the new one.
pub const SCHEMA_VERSION: u32 = 1;

/// What a scenario hands over.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its name.
    pub scenario: &'static str,
    /// The figures for people.
    pub table: Table,
    /// The figures against their limits.
    pub checks: Vec<Check>,
    /// All figures.
    pub figures: serde_json::Value,
}

/// The record.
#[derive(Debug, Serialize)]
pub struct Results {
    schema_version: u32,
    scenario: &'static str,
    harness_version: &'static str,
    /// Begin of the run, Unix milliseconds.
    begun_unix_ms: u64,
    passed: bool,
    hardware: Hardware,
    plan: PlanRecord,
    figures: serde_json::Value,
    checks: Vec<Check>,
    #[serde(skip)]
    table: Table,
}

#[derive(Debug, Serialize)]
struct PlanRecord {
    seed: u64,
    hash: String,
    pace: &'static str,
    questions: u16,
    sizes: Vec<u32>,
}

impl Results {
    /// The record of `outcome`, which began at `begun_unix_ms` and carried out `plan`.
    #[must_use]
    pub fn new(outcome: Outcome, plan: &Plan, begun_unix_ms: u64) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            scenario: outcome.scenario,
            harness_version: env!("CARGO_PKG_VERSION"),
            begun_unix_ms,
            passed: !outcome.checks.iter().any(Check::fails),
            hardware: Hardware::read(),
            plan: PlanRecord {
                seed: plan.seed,
                hash: plan_hash(plan),
                pace: plan.pace.name,
                questions: plan.questions,
                sizes: plan.sizes.clone(),
            },
            figures: outcome.figures,
            checks: outcome.checks,
            table: outcome.table,
        }
    }

    /// Whether no bar was missed and nothing was wrong.
    #[must_use]
    pub const fn passed(&self) -> bool {
        self.passed
    }

    /// Prints plan, table and every check that is not a plain success; successes of the same kind as one line.
    pub fn print(&self, console: &mut Console) {
        console.settle();
        let Self { plan, hardware, .. } = self;
        console.line(&format!(
            "{}: seed {}, plan {}, pace {}; {} cores, {}, kernel {}",
            self.scenario, plan.seed, plan.hash, plan.pace, hardware.cores, hardware.cpu, hardware.kernel
        ));
        console.line(&self.table.to_string());
        let zeros = self
            .checks
            .iter()
            .filter(|c| c.kind == super::CheckKind::Correctness && c.met)
            .count();
        console.line(&format!("ok: {zeros} figures that must be 0 are 0"));
        for check in &self.checks {
            if check.kind != super::CheckKind::Correctness || !check.met {
                console.line(&check.to_string());
            }
        }
        for example in self.fault_examples() {
            console.line(&format!("  seen: {example}"));
        }
        console.line(if self.passed { "PASSED" } else { "FAILED" });
    }

    /// Examples of faults, from the figures or from the rooms in them.
    fn fault_examples(&self) -> Vec<&str> {
        let rooms = self.figures["rooms"].as_array().map_or(&[][..], Vec::as_slice);
        let parts = std::iter::once(&self.figures).chain(rooms);
        let examples = parts
            .filter_map(|part| part["fault_examples"].as_array())
            .flatten();
        examples.filter_map(serde_json::Value::as_str).collect()
    }

    /// Writes `results.json` into `dir`, which is made when it does not exist; where it is.
    ///
    /// # Errors
    /// The directory or file cannot be written.
    pub fn write(&self, dir: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(dir)?;
        let path = dir.join("results.json");
        let text = serde_json::to_string_pretty(self)?;
        fs::write(&path, text + "\n")?;
        Ok(path)
    }
}

/// The plan's hash as it is printed.
fn plan_hash(plan: &Plan) -> String {
    format!("{:016x}", plan.hash())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Pace;

    fn results(checks: Vec<Check>) -> Results {
        let plan = Plan::new(3, Pace::FAST, 2, vec![4]);
        let outcome = Outcome {
            scenario: "bigroom",
            table: Table::new(&["players"]),
            checks,
            figures: serde_json::json!({"rooms": [{"fault_examples": ["gap: one"]}]}),
        };
        Results::new(outcome, &plan, 7)
    }

    #[test]
    fn the_record_says_what_was_measured_on_what() {
        let dir = tempfile::tempdir().expect("directory");
        let path = results(vec![Check::bar("x", 2.0, 1.0, "")])
            .write(&dir.path().join("new"))
            .expect("written");
        let json: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(path).expect("file")).expect("JSON");
        assert_eq!(json["schema_version"], 1);
        assert_eq!(json["passed"], false);
        assert_eq!(json["plan"]["hash"].as_str().map(str::len), Some(16));
        assert!(json["hardware"]["cores"].as_u64().is_some_and(|n| n > 0));
    }

    #[test]
    fn a_missed_target_passes() {
        let results = results(vec![
            Check::target("x", 2.0, 1.0, ""),
            Check::zero("y".to_owned(), 0),
        ]);
        assert!(results.passed());
        assert_eq!(results.fault_examples(), ["gap: one"]);
    }
}
