//! The two things that no test can hold still: the wall clock and randomness. Their only home in this crate; a game's own
//! time is monotonic and comes from its actor.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand::Rng;

/// Unix time in milliseconds: for "created" and "ended" in results, never for deadlines.
pub(crate) fn unix_ms() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "the home of the wall clock in this crate"
    )]
    let now = SystemTime::now();
    let since = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Unix time in seconds, `after` from now: for the expiry of tokens.
pub(crate) fn expiry_s(after: Duration) -> u64 {
    (unix_ms() / 1_000).saturating_add(after.as_secs())
}

/// A delay of `from` to `to` milliseconds, so that clients sent away together do not come back together.
pub(crate) fn jitter_ms(from: u32, to: u32) -> u32 {
    #[expect(clippy::disallowed_methods, reason = "the home of randomness in this crate")]
    let mut rng = rand::rng();
    rng.random_range(from..=to)
}
