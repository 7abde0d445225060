//! The API's wall clock: the one place that reads it, so tests can move it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Unix time, from the machine or moved ahead of it by a test.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    ahead_ms: Arc<AtomicU64>,
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub fn system() -> Self {
        Self::default()
    }

    /// Moves this clock and all its clones ahead; for tests of expiry.
    pub fn advance(&self, by: Duration) {
        let by_ms = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.ahead_ms.fetch_add(by_ms, Ordering::Relaxed);
    }

    /// Unix milliseconds. A machine whose clock stands before 1970 reads as 1970.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        #[expect(clippy::disallowed_methods, reason = "the home of the wall clock in the API")]
        let now = SystemTime::now();
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis())
            .unwrap_or(u64::MAX)
            .saturating_add(self.ahead_ms.load(Ordering::Relaxed))
    }

    /// Unix seconds, rounded down.
    #[must_use]
    pub fn now_s(&self) -> u64 {
        self.now_ms() / 1000
    }
}
