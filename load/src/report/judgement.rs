//! What a record comes to: whether its numbers may be believed, and whether they keep their limits.

use serde::Serialize;

use super::check::{Check, CheckKind};
use super::console::Console;
use super::record::Record;
use super::store;
use super::table::Table;
use crate::verdict::{Verdict, Word};

/// Verdict and checks. Thresholds are judged once all segments are together, never before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// Whether the numbers may be believed.
    pub verdict: Verdict,
    /// Whether the run passed; none while segments are missing, so nothing can be said.
    pub passed: Option<bool>,
    /// Every threshold with its figure; none while segments are missing.
    pub checks: Vec<Check>,
    /// Figures of a part that must be 0 and are not: no other part can make them 0.
    pub spoilt: Vec<Check>,
}

impl Judgement {
    /// Judges `record`.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        let generators = record.segments.iter().map(|(&number, s)| (number, &s.readings));
        let verdict = Verdict::of(generators, record.segments_of > 1);
        let mut checks = record.measured.checks();
        let mut spoilt = Vec::new();
        if !record.is_whole() {
            spoilt = std::mem::take(&mut checks);
            spoilt.retain(|check| check.kind == CheckKind::Correctness && !check.met);
        }
        let believed = verdict.word != Word::Invalid;
        let passed = record
            .is_whole()
            .then(|| believed && !checks.iter().any(Check::fails));
        Self {
            verdict,
            passed,
            checks,
            spoilt,
        }
    }

    /// Whether whoever asked should go on: nothing failed, and the numbers may be believed.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.passed.unwrap_or(self.verdict.word != Word::Invalid)
    }

    /// The last word.
    #[must_use]
    pub const fn conclusion(&self) -> &'static str {
        match (self.verdict.word, self.passed) {
            (Word::Invalid, _) => "INVALID: the numbers above say nothing about the servers",
            (_, Some(true)) => "PASSED",
            (_, Some(false)) => "FAILED",
            (_, None) => "a part of a run: `load merge` with the others judges it",
        }
    }

    /// Prints the verdict first, then `table` and every check that is not a plain success; successes as one line.
    pub fn print(&self, record: &Record, table: &Table, console: &mut Console) {
        console.settle();
        console.line(&format!("verdict: {}", self.verdict.word));
        for reason in &self.verdict.reasons {
            console.line(&format!("  {reason}"));
        }
        let Record { plan, hardware, .. } = record;
        console.line(&format!(
            "{}: seed {}, plan {}, pace {}; {} cores, {}, kernel {}",
            record.scenario, plan.seed, plan.hash, plan.pace, hardware.cores, hardware.cpu, hardware.kernel
        ));
        console.line(&table.to_string());
        for line in store::lines(&record.measured) {
            console.line(&line);
        }
        let is_plain = |check: &&Check| check.kind == CheckKind::Correctness && check.met;
        if record.is_whole() {
            let zeros = self.checks.iter().filter(is_plain).count();
            console.line(&format!("ok: {zeros} figures that must be 0 are 0"));
        }
        for check in self.checks.iter().filter(|check| !is_plain(check)) {
            console.line(&check.to_string());
        }
        for check in &self.spoilt {
            console.line(&format!("this part alone fails the run: {check}"));
        }
        for example in &record.measured.fault_examples {
            console.line(&format!("  seen: {example}"));
        }
        console.line(self.conclusion());
    }
}

#[cfg(test)]
mod tests;
