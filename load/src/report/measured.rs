//! What was measured, in the form that merges: counts add, histograms add, peaks take the larger, sets unite. Merging is
//! therefore associative and knows no order; `tests.rs` of [`crate::merge`] holds it to that.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::check::{Check, CheckKind};
use super::figure::Figure;
use super::resources::Resources;
use super::store::Window;
use crate::measure::{Faults, Micros, PackedMicros, Reckoning, Tally};

/// Examples of faults kept, however many segments report some.
const EXAMPLES_MAX: usize = 20;

/// A cell of a series: a sum and how many values it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cell {
    /// Sum of the values.
    pub sum: u64,
    /// How many.
    pub values: u64,
}

impl Cell {
    /// Mean of the values.
    #[must_use]
    pub fn mean(self) -> f64 {
        crate::sys::real(self.sum) / crate::sys::real(self.values.max(1))
    }
}

/// A figure and the most it may be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// What missing it means.
    pub kind: CheckKind,
    /// Where the figure comes from.
    pub figure: Figure,
    /// The most it may be.
    pub limit: f64,
    /// Unit of both.
    pub unit: String,
}

/// Everything a run measured. Names are the scenario's; units stand last in them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Counts; merging adds them.
    pub counts: BTreeMap<String, u64>,
    /// Values of which the largest stands for all, such as memory per player.
    pub peaks: BTreeMap<String, f64>,
    /// Counts by a key, such as bytes by size of the room or players by server.
    pub series: BTreeMap<String, BTreeMap<u64, Cell>>,
    /// Times by name and phase.
    pub times: BTreeMap<String, BTreeMap<String, Micros>>,
    /// Times by name and Unix second.
    pub seconds: BTreeMap<String, BTreeMap<u64, PackedMicros>>,
    /// Answers by what became of them.
    pub ledger: BTreeMap<String, u64>,
    /// Faults that clients saw, by kind.
    pub faults: BTreeMap<String, u64>,
    /// Some of them in words: the first in the order of the alphabet, so that merging knows no order.
    pub fault_examples: BTreeSet<String>,
    /// What processes used, second by second.
    pub resources: Resources,
    /// When phases lasted, in every segment: what resources are read for.
    #[serde(default)]
    pub windows: BTreeMap<String, Window>,
    /// What is judged, by name.
    pub thresholds: BTreeMap<String, Threshold>,
}

impl Measured {
    /// Adds to a count.
    pub fn count(&mut self, name: &str, n: u64) {
        add(&mut self.counts, name, n);
    }

    /// Raises a peak. What is no number was not measured.
    pub fn peak(&mut self, name: &str, value: f64) {
        if !value.is_finite() {
            return;
        }
        let peak = self.peaks.entry(name.to_owned()).or_insert(value);
        *peak = peak.max(value);
    }

    /// Adds one value to a series.
    pub fn point(&mut self, series: &str, key: u64, value: u64) {
        let cell = self
            .series
            .entry(series.to_owned())
            .or_default()
            .entry(key)
            .or_default();
        cell.sum = cell.sum.saturating_add(value);
        cell.values += 1;
    }

    /// Adds times of a phase.
    pub fn times(&mut self, name: &str, phase: &str, times: &Micros) {
        let phases = self.times.entry(name.to_owned()).or_default();
        phases.entry(phase.to_owned()).or_default().merge(times);
    }

    /// Adds times of one Unix second; their histogram is a coarse one.
    pub fn second(&mut self, name: &str, unix_s: u64, times: &PackedMicros) {
        let seconds = self.seconds.entry(name.to_owned()).or_default();
        seconds
            .entry(unix_s)
            .and_modify(|held| held.merge(times))
            .or_insert_with(|| times.clone());
    }

    /// Adds the times of all seconds so far.
    pub fn seconds(&mut self, tally: &mut Tally) {
        tally.end_second();
        for (name, timed) in tally.timed() {
            for (&unix_s, times) in timed.seconds() {
                self.second(name, unix_s, times);
            }
        }
    }

    /// Adds the counts of a ledger: every whole number of `reckoning` by the name of its field.
    pub fn ledger(&mut self, reckoning: &impl Serialize) {
        let fields = serde_json::to_value(reckoning).unwrap_or_default();
        for (name, value) in fields.as_object().into_iter().flatten() {
            if let Some(n) = value.as_u64() {
                add(&mut self.ledger, name, n);
            }
        }
    }

    /// Adds the faults that clients saw.
    pub fn faults(&mut self, faults: &Faults) {
        for (kind, n) in faults.counts() {
            add(&mut self.faults, kind.name(), n);
        }
        self.fault_examples.extend(faults.examples().iter().cloned());
        self.shorten_examples();
    }

    /// Adds the counts of a ledger, and judges that nothing in it went wrong.
    pub fn ledger_must_hold(&mut self, reckoning: &Reckoning) {
        self.ledger(reckoning);
        for (name, _) in reckoning.faults() {
            let name = name.replace(' ', "_");
            self.must_be_zero(&format!("answers {name}"), Figure::Ledger { name });
        }
    }

    /// Adds the faults that clients saw with `examples` of what else went wrong, and judges that there were none.
    pub fn must_be_faultless(&mut self, faults: &Faults, examples: &[String]) {
        self.faults(faults);
        self.fault_examples.extend(examples.iter().cloned());
        self.must_be_zero("faults seen by clients", Figure::Faults);
    }

    /// Judges that a figure is 0.
    pub fn must_be_zero(&mut self, name: &str, figure: Figure) {
        self.threshold(CheckKind::Correctness, name, figure, 0.0, "");
    }

    /// Judges a figure by a bar.
    pub fn bar(&mut self, name: &str, figure: Figure, limit: f64, unit: &str) {
        self.threshold(CheckKind::Bar, name, figure, limit, unit);
    }

    /// Judges a figure by a target.
    pub fn target(&mut self, name: &str, figure: Figure, limit: f64, unit: &str) {
        self.threshold(CheckKind::Target, name, figure, limit, unit);
    }

    /// Judges a figure by a bar, or only by a target in a run too short for its times to be judged.
    pub fn bar_if(&mut self, is_judged: bool, name: &str, figure: Figure, limit: f64, unit: &str) {
        let kind = if is_judged {
            CheckKind::Bar
        } else {
            CheckKind::Target
        };
        self.threshold(kind, name, figure, limit, unit);
    }

    /// Adds to a count and judges that it is 0.
    pub fn zero(&mut self, name: &str, n: u64) {
        self.count(name, n);
        self.must_be_zero(
            name,
            Figure::Count {
                name: name.to_owned(),
            },
        );
    }

    fn threshold(&mut self, kind: CheckKind, name: &str, figure: Figure, limit: f64, unit: &str) {
        let name = match kind {
            CheckKind::Correctness | CheckKind::Bar => name.to_owned(),
            CheckKind::Target => format!("{name} (target)"),
        };
        let unit = unit.to_owned();
        let threshold = Threshold {
            kind,
            figure,
            limit,
            unit,
        };
        self.thresholds.insert(name, threshold);
    }

    /// All thresholds against the figures.
    #[must_use]
    pub fn checks(&self) -> Vec<Check> {
        let judge = |(name, t): (&String, &Threshold)| Check::of(name, t, t.figure.of(self));
        self.thresholds.iter().map(judge).collect()
    }

    /// Adds everything that `other` measured; the name of a threshold on which both disagree.
    ///
    /// # Errors
    /// Both have a threshold of that name, and it differs: they were measured by different programs.
    pub fn merge(&mut self, other: Self) -> Result<(), String> {
        for (name, threshold) in other.thresholds {
            let mine = self
                .thresholds
                .entry(name.clone())
                .or_insert_with(|| threshold.clone());
            if *mine != threshold {
                return Err(name);
            }
        }
        other
            .counts
            .iter()
            .for_each(|(name, &n)| add(&mut self.counts, name, n));
        other
            .ledger
            .iter()
            .for_each(|(name, &n)| add(&mut self.ledger, name, n));
        other
            .faults
            .iter()
            .for_each(|(name, &n)| add(&mut self.faults, name, n));
        other
            .peaks
            .iter()
            .for_each(|(name, &value)| self.peak(name, value));
        for (name, cells) in other.series {
            let mine = self.series.entry(name).or_default();
            for (key, theirs) in cells {
                let cell = mine.entry(key).or_default();
                cell.sum = cell.sum.saturating_add(theirs.sum);
                cell.values = cell.values.saturating_add(theirs.values);
            }
        }
        for (name, phases) in &other.times {
            phases
                .iter()
                .for_each(|(phase, times)| self.times(name, phase, times));
        }
        for (name, seconds) in &other.seconds {
            seconds
                .iter()
                .for_each(|(&second, times)| self.second(name, second, times));
        }
        self.fault_examples.extend(other.fault_examples);
        self.shorten_examples();
        self.resources.merge(other.resources);
        for (phase, theirs) in other.windows {
            self.windows.entry(phase).or_insert(theirs).meet(theirs);
        }
        Ok(())
    }

    fn shorten_examples(&mut self) {
        while self.fault_examples.len() > EXAMPLES_MAX {
            self.fault_examples.pop_last();
        }
    }
}

fn add(counts: &mut BTreeMap<String, u64>, name: &str, n: u64) {
    let count = counts.entry(name.to_owned()).or_insert(0);
    *count = count.saturating_add(n);
}
