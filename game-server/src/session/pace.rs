//! How fast a client may talk: a token bucket in whole milliseconds.

use tokio::time::{Duration, Instant};

/// Frames a second of a player, and at once: a child that hammers a button stays below, a script does not.
pub(crate) const PLAYER: Rate = Rate {
    per_second: 10,
    burst: 20,
};
/// Frames a second of a host, and at once: someone who removes players one by one, quickly.
pub(crate) const HOST: Rate = Rate {
    per_second: 20,
    burst: 40,
};

/// A rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    per_second: u32,
    burst: u32,
}

/// The state of one client's bucket.
#[derive(Debug)]
pub(crate) struct Pace {
    rate: Rate,
    /// When the bucket will be full; the further away, the emptier it is.
    full_at: Instant,
}

impl Pace {
    pub(crate) fn new(rate: Rate, now: Instant) -> Self {
        Self { rate, full_at: now }
    }

    /// Takes one frame out; false when there is none left.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        let one = Duration::from_secs(1) / self.rate.per_second;
        let next = self.full_at.max(now) + one;
        let allowed = next - now <= one * self.rate.burst;
        if allowed {
            self.full_at = next;
        }
        allowed
    }

    /// The role turned out to be another.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_the_rate() {
        let start = Instant::now();
        let mut pace = Pace::new(PLAYER, start);
        let taken = (0..100).filter(|_| pace.take(start)).count();
        assert_eq!(taken, 20);
        let later = start + Duration::from_secs(1);
        assert_eq!((0..100).filter(|_| pace.take(later)).count(), 10);
        let much_later = start + Duration::from_secs(60);
        assert_eq!((0..100).filter(|_| pace.take(much_later)).count(), 20);
    }
}
