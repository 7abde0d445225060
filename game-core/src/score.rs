//! What a correct answer earns. Whether it is correct is the question's business, whether the question counts the game's.

#[cfg(test)]
mod tests;

/// Points of a correct answer at once, and of every correct answer when only accuracy counts.
pub const POINTS_MAX: u32 = 1_000;
/// Points that speed can cost: half of them, so that a slow correct answer is worth more than a quick guess at two choices.
pub const SPEED_POINTS_MAX: u32 = 500;

/// How correct answers earn points. A wrong answer earns none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Scoring {
    /// `1000 - floor(500 * elapsed / time)`: 1000 at once, falling linearly to 500 at the deadline. Rounding is in the
    /// player's favour, as what speed costs is rounded down.
    #[default]
    Speed,
    /// 1000 whenever it comes.
    Accuracy,
}

impl Scoring {
    /// Points of a correct answer that took `elapsed_ms` of the question's `time_ms`; an `elapsed_ms` past `time_ms` counts
    /// as `time_ms`.
    #[must_use]
    pub fn points(self, elapsed_ms: u32, time_ms: u32) -> u32 {
        match self {
            Self::Accuracy => POINTS_MAX,
            Self::Speed => {
                let elapsed_ms = u64::from(elapsed_ms.min(time_ms));
                let cost = elapsed_ms * u64::from(SPEED_POINTS_MAX) / u64::from(time_ms.max(1));
                // The quotient is at most SPEED_POINTS_MAX, so that the fallback is never taken.
                POINTS_MAX - u32::try_from(cost).unwrap_or(SPEED_POINTS_MAX)
            }
        }
    }
}
