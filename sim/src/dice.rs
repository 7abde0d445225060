//! Seeded randomness. Everything that is decided by chance in a run is decided here, by a stream of its own for each purpose,
//! so that one decision more in one place does not change all others.

use std::hash::{DefaultHasher, Hash, Hasher};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// One stream of decisions.
#[derive(Debug)]
pub(crate) struct Dice(StdRng);

impl Dice {
    /// The stream of `purpose` within the run `seed`.
    pub(crate) fn new(seed: u64, purpose: &str) -> Self {
        // Its keys are fixed, unlike those of a map.
        let mut hasher = DefaultHasher::new();
        (seed, purpose).hash(&mut hasher);
        Self(StdRng::seed_from_u64(hasher.finish()))
    }

    /// `from` to `to`, both included.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        self.0.random_range(from..=to.max(from))
    }

    /// True so many times in a hundred.
    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.0.random_range(0..100) < percent
    }

    /// A place below `len`; 0 when `len` is 0.
    pub(crate) fn below(&mut self, len: usize) -> usize {
        self.0.random_range(0..len.max(1))
    }

    /// Index of one of `weights`, by their weight.
    pub(crate) fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut at = self.0.random_range(0..weights.iter().sum::<u32>().max(1));
        for (index, weight) in weights.iter().enumerate() {
            match at.checked_sub(*weight) {
                Some(rest) => at = rest,
                None => return index,
            }
        }
        0
    }

    /// 128 bits.
    pub(crate) fn bits(&mut self) -> u128 {
        self.0.random()
    }
}
