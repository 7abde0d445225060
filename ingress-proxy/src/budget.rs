//! How many requests may be sent a second time: a tenth of those that come, so that retries never double the load of servers
//! that fail because they have too much of it.

use std::sync::atomic::{AtomicU32, Ordering};

/// Requests that earn one retry.
const REQUESTS_PER_RETRY: u32 = 10;
/// Retries that can be saved up: one pod's worth of requests in flight when it dies.
const SAVED_MAX: u32 = 100;
/// Retries there are at the start.
const SAVED_FIRST: u32 = 10;

/// The budget, in tenths of a retry.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU32);

impl Default for Budget {
    fn default() -> Self {
        Self(AtomicU32::new(SAVED_FIRST * REQUESTS_PER_RETRY))
    }
}

impl Budget {
    /// A request has come.
    pub(crate) fn earn(&self) {
        let more = |saved: u32| (saved < SAVED_MAX * REQUESTS_PER_RETRY).then_some(saved + 1);
        // Full is fine.
        let _saved = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    /// Whether one may be sent again.
    pub(crate) fn spend(&self) -> bool {
        let less = |saved: u32| saved.checked_sub(REQUESTS_PER_RETRY);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_a_tenth_and_are_not_hoarded() {
        let budget = Budget::default();
        let spent = |budget: &Budget| std::iter::from_fn(|| budget.spend().then_some(())).count();
        assert_eq!(spent(&budget), 10);
        (0..1_000).for_each(|_| budget.earn());
        assert_eq!(spent(&budget), 100);
        (0..100_000).for_each(|_| budget.earn());
        assert_eq!(spent(&budget), 100);
        (0..9).for_each(|_| budget.earn());
        assert_eq!(spent(&budget), 0);
    }
}
