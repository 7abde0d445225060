//! The harness's only clock. Everything is measured in microseconds since the process's first look at it, on one
//! monotonic clock, so that stamps of all players and hosts compare.

use std::fmt;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

static START: OnceLock<Instant> = OnceLock::new();

/// A point in time, in microseconds since the process's first look at the clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Stamp(pub u64);

/// Now.
#[must_use]
pub fn now() -> Stamp {
    let start = *START.get_or_init(Instant::now);
    Stamp(micros(start.elapsed()))
}

/// Wall clock in Unix milliseconds: names runs and dates results, never measures.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the clock's one home in this crate")]
pub fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Waits. Only for steps between runs, such as a server's start: while players are simulated the engine's poller waits.
#[expect(
    clippy::disallowed_methods,
    reason = "no asynchronous runtime in this crate, and nobody else on the thread"
)]
pub fn pause_ms(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// Waits until `moment`, for the engine that looks at its sockets then. The kernel may make it 50 µs longer.
#[expect(
    clippy::disallowed_methods,
    reason = "the engine's thread has nothing else to do"
)]
pub fn pause_until(moment: Stamp) {
    let wait = moment.until(now());
    if !wait.is_zero() {
        std::thread::sleep(wait);
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Both clocks are read at most so often for a precise offset.
const PRECISE_READS: u32 = 5;
/// Read within this time of each other they are near enough, in microseconds.
const PRECISE_US: u64 = 50;

/// How far the wall clock is ahead of this process's clock. The kernel stamps arrivals with the wall clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WallOffset {
    us: u64,
}

impl WallOffset {
    /// As of now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the clock's one home in this crate")]
    pub fn now() -> Self {
        let wall = micros(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        Self {
            us: wall.saturating_sub(now().0),
        }
    }

    /// As of now, read until both clocks were read within a few microseconds of each other, or as near as it gets.
    #[must_use]
    pub fn precise() -> Self {
        let mut nearest = (u64::MAX, Self::now());
        for _attempt in 0..PRECISE_READS {
            let before = now();
            let read = Self::now();
            let took_us = now().since(before);
            if took_us < nearest.0 {
                nearest = (took_us, read);
            }
            if took_us <= PRECISE_US {
                break;
            }
        }
        nearest.1
    }

    /// How far apart the two are, in microseconds: what the wall clock was set by between them.
    #[must_use]
    pub const fn apart_us(self, other: Self) -> u64 {
        self.us.abs_diff(other.us)
    }

    #[cfg(test)]
    pub(crate) const fn of_us(us: u64) -> Self {
        Self { us }
    }

    /// The Unix second at `stamp`.
    #[must_use]
    pub const fn unix_s(self, stamp: Stamp) -> u64 {
        self.us.saturating_add(stamp.0) / 1_000_000
    }

    /// A moment of the wall clock, in seconds and nanoseconds; none when it is none.
    #[must_use]
    pub fn stamp(self, seconds: i64, nanoseconds: i64) -> Option<Stamp> {
        let us = u64::try_from(seconds).ok()?.checked_mul(1_000_000)?;
        let us = us.checked_add(u64::try_from(nanoseconds).ok()? / 1_000)?;
        Some(Stamp(us.checked_sub(self.us)?))
    }
}

impl Stamp {
    /// This point plus `ms` milliseconds.
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms.saturating_mul(1_000)))
    }

    /// This point plus `us` microseconds.
    #[must_use]
    pub const fn plus_us(self, us: u64) -> Self {
        Self(self.0.saturating_add(us))
    }

    /// Microseconds from `earlier` to this point; 0 when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Time until this point as seen from `now`; zero when it has passed.
    #[must_use]
    pub const fn until(self, now: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(now.0))
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03} s", self.0 / 1_000_000, self.0 / 1_000 % 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_add_and_compare() {
        let a = Stamp(1_500);
        assert_eq!(a.plus_ms(2), Stamp(3_500));
        assert_eq!(a.plus_us(2).since(a), 2);
        assert_eq!(a.since(a.plus_ms(1)), 0);
        assert_eq!(a.plus_ms(1).until(a), Duration::from_millis(1));
        assert!(now() <= now());
    }

    #[test]
    fn a_moment_of_the_wall_clock_becomes_a_stamp() {
        let offset = WallOffset { us: 1_000_000_000 };
        assert_eq!(offset.stamp(1_000, 5_999), Some(Stamp(5)));
        assert_eq!(offset.stamp(999, 0), None);
        assert_eq!(offset.stamp(-1, 0), None);
        assert_eq!(offset.unix_s(Stamp(1_999_999)), 1_001);
    }
}
