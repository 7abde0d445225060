//! Whether this server may still believe that its games are its own.
//!
//! Others take a game over when its server is silent and its lease gone. So a server that stood still, or could not renew its lease,
//! has reason to doubt: each of its games looks at its owner record before it tells anything more, for at most a second; then it
//! goes on and marks what it tells as unsaved ([`crate::actor`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use runtime::metrics::{self, Counter};
use tokio::time::{Instant, sleep_until};

use super::LEASE_TIME;
use crate::registry::Registry;

/// A server that ran nothing for this long may have lost its games meanwhile: two such pauses and the second that a lease's
/// renewal takes still fit into a lease.
const STILL_MAX: Duration = Duration::from_secs(1);
/// Without a renewed lease for this long, others may see it end soon: 2 s are left.
const UNRENEWED_MAX: Duration = Duration::from_secs(3);
/// How often it is looked at.
const BEAT: Duration = Duration::from_millis(200);

/// Shared by all games of a server.
#[derive(Debug)]
pub(crate) struct Standing {
    started: Instant,
    /// Milliseconds after `started`.
    beat_ms: AtomicU64,
    renewed_ms: AtomicU64,
    /// Reasons to doubt so far.
    doubts: AtomicU64,
    is_unproven: AtomicBool,
}

impl Standing {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            beat_ms: AtomicU64::new(0),
            renewed_ms: AtomicU64::new(0),
            doubts: AtomicU64::new(0),
            is_unproven: AtomicBool::new(false),
        }
    }

    /// Whether this server is younger than a lease: it may not have heard yet of others that live.
    pub(crate) fn is_new(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.started) < LEASE_TIME
    }

    /// Reasons to doubt so far. A game to whom this is news looks at its owner record before it tells anything. Also right when
    /// the beat itself has not run yet after a standstill.
    pub(crate) fn doubts(&self, now: Instant) -> u64 {
        let still = now.saturating_duration_since(self.at(self.beat_ms.load(Ordering::Acquire)));
        self.doubts.load(Ordering::Acquire) + u64::from(still > STILL_MAX)
    }

    /// Whether the lease was not renewed for too long: no game is created or taken over, and games mark what they tell until
    /// they have looked.
    pub(crate) fn is_unproven(&self) -> bool {
        self.is_unproven.load(Ordering::Acquire)
    }

    /// A renewal that was sent at `sent` succeeded.
    pub(super) fn renewed(&self, sent: Instant) {
        self.renewed_ms.store(self.millis(sent), Ordering::Release);
    }

    /// Looks once; whether there is a new reason to doubt.
    fn beat(&self, now: Instant) -> bool {
        let before = self.at(self.beat_ms.load(Ordering::Acquire));
        let stood_still = now.saturating_duration_since(before) > STILL_MAX;
        let renewed = self.at(self.renewed_ms.load(Ordering::Acquire));
        let is_unproven = now.saturating_duration_since(renewed) > UNRENEWED_MAX;
        let was_unproven = self.is_unproven.swap(is_unproven, Ordering::AcqRel);
        let doubts = stood_still || is_unproven != was_unproven;
        if stood_still {
            tracing::warn!("this server stood still; its games look whether they are still its own");
            metrics::inc(Counter::GameStandstillsTotal);
        }
        if is_unproven && !was_unproven {
            tracing::warn!(
                "the lease was not renewed for too long; classes go on, marked as unsaved, and no game starts"
            );
        }
        if doubts {
            self.doubts.fetch_add(1, Ordering::AcqRel);
        }
        self.beat_ms.store(self.millis(now), Ordering::Release);
        doubts
    }

    fn millis(&self, now: Instant) -> u64 {
        let since = now.saturating_duration_since(self.started).as_millis();
        u64::try_from(since).unwrap_or(u64::MAX)
    }

    fn at(&self, millis: u64) -> Instant {
        self.started + Duration::from_millis(millis)
    }
}

/// Beats until it is aborted, and wakes all games when there is a reason to doubt: one that lost its game sends its clients on though
/// nobody speaks.
pub(super) async fn beat(standing: Arc<Standing>, registry: Arc<Registry>) {
    loop {
        let now = Instant::now();
        if standing.beat(now) {
            for game in registry.all() {
                game.nudge();
            }
        }
        sleep_until(now + BEAT).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_standstill_is_seen_before_and_after_the_beat_and_counted_once() {
        let standing = Standing::new();
        standing.renewed(Instant::now());
        advance(STILL_MAX).await;
        assert_eq!(standing.doubts(Instant::now()), 0);
        advance(Duration::from_millis(1)).await;
        assert_eq!(standing.doubts(Instant::now()), 1);
        assert!(standing.beat(Instant::now()));
        assert_eq!(standing.doubts(Instant::now()), 1);
        advance(BEAT).await;
        assert!(!standing.beat(Instant::now()));
        assert_eq!(standing.doubts(Instant::now()), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_new_for_as_long_as_a_lease_lasts() {
        let standing = Standing::new();
        assert!(standing.is_new(Instant::now()));
        advance(LEASE_TIME).await;
        assert!(!standing.is_new(Instant::now()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_is_not_renewed_is_doubted_and_so_is_one_that_is_renewed_again() {
        let standing = Standing::new();
        standing.renewed(Instant::now());
        let beats = async |count: u32| {
            let mut doubts = 0;
            for _ in 0..count {
                advance(BEAT).await;
                doubts += u32::from(standing.beat(Instant::now()));
            }
            doubts
        };
        assert_eq!(beats(15).await, 0);
        assert!(!standing.is_unproven());
        assert_eq!(beats(5).await, 1);
        assert!(standing.is_unproven());
        standing.renewed(Instant::now());
        assert_eq!(beats(5).await, 1);
        assert!(!standing.is_unproven());
    }
}
