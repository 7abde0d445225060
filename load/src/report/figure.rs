//! Where a threshold's figure comes from. Thresholds name their source instead of carrying a number, because what was
//! merged from several segments has to be judged anew.

use serde::{Deserialize, Serialize};

use super::measured::Measured;
use super::store::{self, StoreUse};
use crate::measure::growth_exponent;
use crate::sys::{count, real};

/// A figure of what was measured. What was not measured is no figure, and keeps no limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Figure {
    /// A count as it is.
    Count {
        /// Name of the count.
        name: String,
    },
    /// One count over another, times `scale`.
    Ratio {
        /// Name of the count above.
        over: String,
        /// Name of the count below; 0 there is no figure.
        under: String,
        /// Factor.
        scale: f64,
    },
    /// A count of the ledger.
    Ledger {
        /// Name of the count.
        name: String,
    },
    /// All faults that clients saw.
    Faults,
    /// A percentile of times, in milliseconds; none of no times.
    Percentile {
        /// Name of the times.
        name: String,
        /// Name of the phase.
        phase: String,
        /// From 0 to 100.
        percent: f64,
    },
    /// The largest value that any segment read.
    Peak {
        /// Name of the peak.
        name: String,
    },
    /// How the mean of a series grows with its key: the slope in double logarithms.
    Exponent {
        /// Name of the series.
        series: String,
    },
    /// Bytes a second that the store of live games received in a phase.
    StoreRate {
        /// Name of the phase.
        phase: String,
    },
    /// Bytes that it received for each game.
    StorePerGame,
    /// How evenly a series is spread: its largest sum over the mean of its sums.
    Spread {
        /// Name of the series.
        series: String,
    },
}

impl Figure {
    /// The figure, if it was measured.
    #[must_use]
    pub fn of(&self, measured: &Measured) -> Option<f64> {
        match self {
            Self::Count { name } => measured.counts.get(name).map(|&n| real(n)),
            Self::Ratio { over, under, scale } => {
                let (over, under) = (measured.counts.get(over)?, measured.counts.get(under)?);
                (*under > 0).then(|| real(*over) / real(*under) * scale)
            }
            Self::Ledger { name } => measured.ledger.get(name).map(|&n| real(n)),
            Self::Faults => Some(real(measured.faults.values().sum())),
            Self::Percentile { name, phase, percent } => {
                let times = measured.times.get(name)?.get(phase)?;
                (times.count() > 0).then(|| times.percentile_ms(*percent))
            }
            Self::Peak { name } => measured.peaks.get(name).copied(),
            Self::Exponent { series } => {
                let points = measured.series.get(series)?.iter();
                let points: Vec<_> = points.map(|(&key, cell)| (real(key), cell.mean())).collect();
                growth_exponent(&points)
            }
            Self::StoreRate { phase } => {
                let window = measured.windows.get(phase)?;
                Some(StoreUse::of(&measured.resources, Some(*window))?.bytes_per_s())
            }
            Self::StorePerGame => store::bytes_per_game(measured),
            Self::Spread { series } => {
                let sums = || measured.series.get(series).into_iter().flat_map(|s| s.values());
                let total: u64 = sums().map(|cell| cell.sum).sum();
                let largest = sums().map(|cell| cell.sum).max()?;
                (total > 0).then(|| real(largest) * real(count(sums().count())) / real(total))
            }
        }
    }
}
