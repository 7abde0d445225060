//! Times in microseconds, in HDR histograms: bounded memory, 0.1 % resolution, and merging is adding.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Longest time told apart: ten minutes.
const LONGEST_US: u64 = 600_000_000;
/// Significant digits.
const DIGITS: u8 = 3;

/// A histogram of times in microseconds.
#[derive(Debug, Clone)]
pub struct Micros {
    histogram: Option<Histogram<u64>>,
}

/// The figures of a histogram that results show, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantiles {
    /// Times recorded.
    pub count: u64,
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Largest.
    pub max_ms: f64,
}

impl Default for Micros {
    fn default() -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, LONGEST_US, DIGITS).ok(),
        }
    }
}

impl Micros {
    /// Records a time; longer ones count as the longest.
    pub fn record(&mut self, us: u64) {
        if let Some(histogram) = &mut self.histogram {
            histogram.saturating_record(us);
        }
    }

    /// Adds everything that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        if let (Some(mine), Some(theirs)) = (&mut self.histogram, &other.histogram)
            && mine.add(theirs).is_err()
        {
            // Both have the same bounds, so nothing is outside; counted as lost if it ever were.
            self.histogram = None;
        }
    }

    /// Times recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, Histogram::len)
    }

    /// The time that `percent` of all times do not exceed, in milliseconds; 0 when there are none.
    #[must_use]
    pub fn percentile_ms(&self, percent: f64) -> f64 {
        let us = self
            .histogram
            .as_ref()
            .map_or(0, |h| h.value_at_percentile(percent));
        crate::sys::real(us) / 1_000.0
    }

    /// The figures to show.
    #[must_use]
    pub fn quantiles(&self) -> Quantiles {
        Quantiles {
            count: self.count(),
            p50_ms: self.percentile_ms(50.0),
            p95_ms: self.percentile_ms(95.0),
            p99_ms: self.percentile_ms(99.0),
            max_ms: self.percentile_ms(100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= b * 0.002
    }

    #[test]
    fn percentiles_are_those_of_the_times() {
        let mut times = Micros::default();
        (1..=1_000).for_each(|ms| times.record(ms * 1_000));
        let q = times.quantiles();
        assert!(
            near(q.p50_ms, 500.0) && near(q.p95_ms, 950.0) && near(q.max_ms, 1_000.0),
            "{q:?}"
        );
        assert_eq!(q.count, 1_000);
    }

    #[test]
    fn merging_is_recording_in_one() {
        let (mut a, mut b, mut both) = (Micros::default(), Micros::default(), Micros::default());
        for us in [5, 70_000, 900] {
            a.record(us);
            both.record(us);
        }
        for us in [1, 2_000_000_000] {
            b.record(us);
            both.record(us);
        }
        a.merge(&b);
        assert_eq!(a.quantiles(), both.quantiles());
        assert_eq!(Micros::default().percentile_ms(95.0), 0.0);
    }
}
