//! Connections that fail: a server to which three in a row have failed is asked last for a second.
//!
//! One failure says nothing: nginx's default takes all games of a server away for 10 s after a single one. And a second is short,
//! because a game server that is started again is needed by the games that it holds.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row.
const FAILURES_MAX: u32 = 3;
/// How long a server is asked last then; one more failure after that counts at once.
const RAISED_FOR: Duration = Duration::from_secs(1);

/// What connections have met.
#[derive(Debug, Default)]
pub(super) struct Suspicion(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    raised: Option<Instant>,
}

impl Suspicion {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn connected(&self) {
        *self.lock() = State::default();
    }

    pub(super) fn failed(&self, now: Instant) {
        let mut state = self.lock();
        state.failures = state.failures.saturating_add(1);
        if state.failures >= FAILURES_MAX {
            state.raised = Some(now);
        }
    }

    pub(super) fn is_raised(&self, now: Instant) -> bool {
        self.lock()
            .raised
            .is_some_and(|at| now.duration_since(at) < RAISED_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_in_a_row_count_for_a_second() {
        let (suspicion, now) = (Suspicion::default(), Instant::now());
        for _ in 0..2 {
            suspicion.failed(now);
            suspicion.failed(now);
            assert!(!suspicion.is_raised(now));
            suspicion.connected();
        }
        (0..3).for_each(|_| suspicion.failed(now));
        assert!(suspicion.is_raised(now));
        let later = now + RAISED_FOR;
        assert!(!suspicion.is_raised(later));
        suspicion.failed(later);
        assert!(suspicion.is_raised(later));
        suspicion.connected();
        assert!(!suspicion.is_raised(later));
    }
}
