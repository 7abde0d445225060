//! Times in microseconds, in HDR histograms: bounded memory, 0.1 % resolution, and merging is adding.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

/// Longest time told apart: ten minutes.
const LONGEST_US: u64 = 600_000_000;
/// Significant digits of a phase.
const DIGITS: u8 = 3;
/// Significant digits of one second, of which there are thousands.
const COARSE_DIGITS: u8 = 2;
/// Longest serialised histogram that is read: every bucket filled with a large count.
const SERIALISED_BYTES_MAX: usize = 512 * 1024;

/// A histogram of times in microseconds. In results it is the format "V2" of HdrHistogram in base64, which the plotters
/// and mergers of other languages read, too.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Micros {
    histogram: Option<Histogram<u64>>,
}

/// A histogram in a hundred bytes or so, as it lies in results: for the seconds of a long run, of which there are thousands.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Micros", try_from = "Micros")]
pub struct PackedMicros(Box<[u8]>);

/// The figures of a histogram that results show, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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

impl Quantiles {
    /// Median, 95th and 99th percentile and the largest, in whole milliseconds, for tables.
    #[must_use]
    pub fn four_ms(&self) -> String {
        format!(
            "{:.0}/{:.0}/{:.0}/{:.0}",
            self.p50_ms, self.p95_ms, self.p99_ms, self.max_ms
        )
    }

    /// Median and the largest, in whole milliseconds, for tables.
    #[must_use]
    pub fn middle_and_most_ms(&self) -> String {
        format!("{:.0}/{:.0}", self.p50_ms, self.max_ms)
    }
}

/// Its figures: the buckets are thousands of numbers.
impl fmt::Debug for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.quantiles().fmt(f)
    }
}

impl fmt::Debug for PackedMicros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Micros::from(self.clone()).fmt(f)
    }
}

impl From<&Micros> for PackedMicros {
    fn from(times: &Micros) -> Self {
        Self(times.bytes().into())
    }
}

impl From<Micros> for PackedMicros {
    fn from(times: Micros) -> Self {
        Self::from(&times)
    }
}

impl From<PackedMicros> for Micros {
    fn from(packed: PackedMicros) -> Self {
        // It was packed here, so it is no other program's.
        Self::of_bytes(&packed.0).unwrap_or_default()
    }
}

impl PackedMicros {
    /// Adds everything that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        let mut mine = Micros::from(self.clone());
        mine.merge(&Micros::from(other.clone()));
        *self = Self::from(&mine);
    }
}

impl Default for Micros {
    fn default() -> Self {
        Self::with_digits(DIGITS)
    }
}

impl From<Micros> for String {
    fn from(times: Micros) -> Self {
        BASE64_STANDARD.encode(times.bytes())
    }
}

impl TryFrom<String> for Micros {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.len() > SERIALISED_BYTES_MAX {
            return Err(format!("a histogram of {} bytes", text.len()));
        }
        let bytes = BASE64_STANDARD
            .decode(&text)
            .map_err(|e| format!("no base64: {e}"))?;
        Self::of_bytes(&bytes)
    }
}

impl Micros {
    /// The format "V2".
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to memory fails only for more than 2^31 buckets; what cannot be written is empty and is not read back.
        let written = self
            .histogram
            .as_ref()
            .is_some_and(|h| V2Serializer::new().serialize(h, &mut bytes).is_ok());
        if written { bytes } else { Vec::new() }
    }

    fn of_bytes(mut bytes: &[u8]) -> Result<Self, String> {
        let read: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes)
            .map_err(|e| format!("no histogram: {e:?}"))?;
        // Into one with our bounds, so that two of them always add.
        let mut times = Self::with_digits(read.sigfig());
        if read.high() > LONGEST_US {
            return Err("a histogram with other bounds".to_owned());
        }
        if let Some(histogram) = &mut times.histogram {
            histogram
                .add(&read)
                .map_err(|_| "a histogram with other bounds".to_owned())?;
        }
        Ok(times)
    }

    fn with_digits(digits: u8) -> Self {
        Self {
            histogram: Histogram::new_with_bounds(1, LONGEST_US, digits).ok(),
        }
    }

    /// An empty histogram of 1 % resolution and a tenth of the memory: for single seconds.
    #[must_use]
    pub fn coarse() -> Self {
        Self::with_digits(COARSE_DIGITS)
    }

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

    /// Forgets everything.
    pub fn clear(&mut self) {
        if let Some(histogram) = &mut self.histogram {
            histogram.reset();
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
        assert_eq!(a, both);
        assert_eq!(Micros::default().percentile_ms(95.0), 0.0);
    }

    #[test]
    fn what_was_written_is_read_back_and_still_merges() {
        for mut times in [Micros::default(), Micros::coarse()] {
            let empty = times.clone();
            [0, 3, 90_000, u64::MAX]
                .into_iter()
                .for_each(|us| times.record(us));
            for original in [empty, times] {
                let text = serde_json::to_string(&original).expect("text");
                let mut back: Micros = serde_json::from_str(&text).expect("read");
                assert_eq!(back, original);
                back.merge(&original);
                assert_eq!(back.count(), 2 * original.count());
            }
        }
    }

    #[test]
    fn packed_ones_are_small_and_merge() {
        let (mut one, mut other) = (Micros::coarse(), Micros::coarse());
        (1..500).for_each(|n| one.record(300 + n * n % 900));
        (1..500).for_each(|n| other.record(400 + n * n % 1_900));
        let mut packed = PackedMicros::from(&one);
        assert!(packed.0.len() < 1_000, "{} bytes", packed.0.len());
        packed.merge(&PackedMicros::from(&other));
        one.merge(&other);
        assert_eq!(Micros::from(packed.clone()), one);
        let text = serde_json::to_string(&packed).expect("text");
        assert_eq!(
            text,
            serde_json::to_string(&one).expect("text"),
            "in results they look alike"
        );
        assert_eq!(serde_json::from_str::<PackedMicros>(&text).expect("read"), packed);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "AAAA",
            "no base64",
            "HISTFAAAAAEAAAAAAAAAAwAAAAAAAAAAAAAAAAAAAAA=",
        ] {
            assert!(Micros::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
