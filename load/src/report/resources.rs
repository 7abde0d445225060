//! What processes used, second by second.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sys::process::Usage;

/// What one process used at one second.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sample {
    /// CPU used so far, in microseconds.
    pub cpu_us: u64,
    /// Resident memory, in KiB.
    pub rss_kib: u64,
    /// Open descriptors.
    pub descriptors: u64,
    /// Whatever else its kind of process has, such as a store's bytes received; growing counters and levels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<String, u64>,
}

/// Samples by process and Unix second.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Resources(pub BTreeMap<String, BTreeMap<u64, Sample>>);

/// The figures of one process over a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Seconds sampled.
    pub seconds: u64,
    /// Cores used, mean from the first sample to the last.
    pub cores: f64,
    /// Largest resident memory, in KiB.
    pub rss_kib_max: u64,
    /// Most descriptors.
    pub descriptors_max: u64,
}

impl From<Usage> for Sample {
    fn from(usage: Usage) -> Self {
        Self {
            cpu_us: usage.cpu_us,
            rss_kib: usage.rss_kib,
            descriptors: usage.descriptors,
            more: BTreeMap::new(),
        }
    }
}

impl Resources {
    /// Enters a sample. Two samples of one process in one second give the larger of each figure.
    pub fn enter(&mut self, process: &str, unix_s: u64, sample: Sample) {
        let seconds = self.0.entry(process.to_owned()).or_default();
        let mine = seconds.entry(unix_s).or_default();
        mine.cpu_us = mine.cpu_us.max(sample.cpu_us);
        mine.rss_kib = mine.rss_kib.max(sample.rss_kib);
        mine.descriptors = mine.descriptors.max(sample.descriptors);
        for (name, value) in sample.more {
            let held = mine.more.entry(name).or_insert(value);
            *held = value.max(*held);
        }
    }

    /// Enters everything that `other` holds.
    pub fn merge(&mut self, other: Self) {
        for (process, seconds) in other.0 {
            for (second, sample) in seconds {
                self.enter(&process, second, sample);
            }
        }
    }

    /// How much a counter of a process has grown in the seconds from `from_s` to `upto_s`, and over how many seconds; one that
    /// started anew began at 0. None without two samples of it.
    #[must_use]
    pub fn grown(&self, process: &str, counter: &str, from_s: u64, upto_s: u64) -> Option<(u64, u64)> {
        if from_s > upto_s {
            return None;
        }
        let samples = self.0.get(process)?.range(from_s..=upto_s);
        let mut values = samples.filter_map(|(&second, sample)| Some((second, *sample.more.get(counter)?)));
        let (first_s, mut before) = values.next()?;
        let (mut last_s, mut grown) = (first_s, 0);
        for (second, value) in values {
            grown += value.checked_sub(before).unwrap_or(value);
            (last_s, before) = (second, value);
        }
        (last_s > first_s).then_some((grown, last_s - first_s))
    }

    /// One line of figures for every process.
    pub fn summaries(&self) -> impl Iterator<Item = (&str, Summary)> {
        self.0.iter().filter_map(|(process, seconds)| {
            let ((&first_s, first), (&last_s, _)) = (seconds.first_key_value()?, seconds.last_key_value()?);
            // A process that was started anew began at 0.
            let mut before = first.cpu_us;
            let cpu_us: u64 = seconds
                .values()
                .map(|sample| {
                    let cpu_us = sample.cpu_us;
                    cpu_us
                        .checked_sub(std::mem::replace(&mut before, cpu_us))
                        .unwrap_or(cpu_us)
                })
                .sum();
            let span_us = last_s.saturating_sub(first_s).max(1) * 1_000_000;
            let summary = Summary {
                seconds: crate::sys::count(seconds.len()),
                cores: crate::sys::real(cpu_us) / crate::sys::real(span_us),
                rss_kib_max: seconds.values().map(|s| s.rss_kib).max().unwrap_or(0),
                descriptors_max: seconds.values().map(|s| s.descriptors).max().unwrap_or(0),
            };
            Some((process.as_str(), summary))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(cpu_us: u64, rss_kib: u64) -> Sample {
        Sample {
            cpu_us,
            rss_kib,
            ..Sample::default()
        }
    }

    #[test]
    fn a_process_that_was_started_anew_used_what_all_of_it_used() {
        let mut resources = Resources::default();
        for (second, cpu_us) in [(10, 2_000_000), (12, 5_000_000), (14, 500_000), (20, 2_500_000)] {
            resources.enter("game-0", second, sample(cpu_us, 1));
        }
        let (_, summary) = resources.summaries().next().expect("a process");
        assert!((summary.cores - 0.55).abs() < 1e-9, "{summary:?}");
    }

    #[test]
    fn a_summary_is_of_the_whole_run() {
        let mut resources = Resources::default();
        resources.enter("game-0", 10, sample(1_000_000, 500));
        resources.enter("game-0", 14, sample(3_000_000, 400));
        resources.enter("game-0", 14, sample(2_000_000, 450));
        let all: Vec<_> = resources.summaries().collect();
        let (name, summary) = all[0];
        assert_eq!((name, summary.seconds, summary.rss_kib_max), ("game-0", 2, 500));
        assert!((summary.cores - 0.5).abs() < 1e-9, "{summary:?}");
    }
}
