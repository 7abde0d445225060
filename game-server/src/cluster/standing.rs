//! Whether this server may still believe that its games are its own.
//!
//! Others take a game over when its server is silent and its lease gone. So a server that stood still, could not renew its lease, or
//! finds that it had ended, has reason to doubt: each of its games looks at its owner record before it tells anything more, for at most a second; then it
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
    /// The lease had ended when it was renewed, and no beat has seen that yet.
    has_lapsed: AtomicBool,
    /// Milliseconds after `started` until which this server may not have heard of others.
    new_until_ms: AtomicU64,
}

impl Standing {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            beat_ms: AtomicU64::new(0),
            renewed_ms: AtomicU64::new(0),
            doubts: AtomicU64::new(0),
            is_unproven: AtomicBool::new(false),
            has_lapsed: AtomicBool::new(false),
            new_until_ms: AtomicU64::new(u64::MAX),
        }
    }

    /// Whether this server has had a lease for less time than one lasts: it may not have heard yet of others that live. One that waits for
    /// the store to come back finds it at the moment at which they do.
    pub(crate) fn is_new(&self, now: Instant) -> bool {
        self.millis(now) < self.new_until_ms.load(Ordering::Acquire)
    }

    /// Reasons to doubt so far. A game to whom this is news looks at its owner record before it tells anything. Also right when
    /// the beat itself has not run yet after a standstill.
    pub(crate) fn doubts(&self, now: Instant) -> u64 {
        let still = now.saturating_duration_since(self.at(self.beat_ms.load(Ordering::Acquire)));
        let is_news = still > STILL_MAX || self.has_lapsed.load(Ordering::Acquire);
        self.doubts.load(Ordering::Acquire) + u64::from(is_news)
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

    /// There is a lease for the first time.
    pub(super) fn joined(&self, now: Instant) {
        let until_ms = self.millis(now + LEASE_TIME);
        // An error means that it has joined before.
        let _joined_before =
            self.new_until_ms
                .compare_exchange(u64::MAX, until_ms, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The lease had ended before it was renewed, and nothing here may have noticed: the clock of a virtual machine stands still with it.
    pub(super) fn lapsed(&self) {
        if self.new_until_ms.load(Ordering::Acquire) == u64::MAX {
            // The first one.
            return;
        }
        tracing::warn!(
            "the lease had ended when it was renewed; games look whether they are still this server's"
        );
        self.has_lapsed.store(true, Ordering::Release);
    }

    /// From now on it beats: a server that waited for its store before has not stood still.
    fn begins(&self, now: Instant) {
        self.beat_ms.store(self.millis(now), Ordering::Release);
    }

    /// Looks once; whether there is a new reason to doubt.
    fn beat(&self, now: Instant) -> bool {
        let before = self.at(self.beat_ms.load(Ordering::Acquire));
        let stood_still = now.saturating_duration_since(before) > STILL_MAX;
        let renewed = self.at(self.renewed_ms.load(Ordering::Acquire));
        let is_unproven = now.saturating_duration_since(renewed) > UNRENEWED_MAX;
        let was_unproven = self.is_unproven.swap(is_unproven, Ordering::AcqRel);
        let has_lapsed = self.has_lapsed.swap(false, Ordering::AcqRel);
        let doubts = stood_still || has_lapsed || is_unproven != was_unproven;
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
    standing.begins(Instant::now());
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
    async fn a_server_that_waited_for_its_store_has_not_stood_still() {
        let standing = Standing::new();
        advance(2 * STILL_MAX).await;
        standing.begins(Instant::now());
        standing.renewed(Instant::now());
        assert_eq!(standing.doubts(Instant::now()), 0);
        assert!(!standing.beat(Instant::now()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_had_ended_is_doubted_before_and_after_the_beat_and_once() {
        let standing = Standing::new();
        standing.lapsed();
        assert_eq!(standing.doubts(Instant::now()), 0, "the first one");
        standing.joined(Instant::now());
        standing.lapsed();
        assert_eq!(standing.doubts(Instant::now()), 1);
        assert!(standing.beat(Instant::now()));
        assert!(!standing.beat(Instant::now()));
        assert_eq!(standing.doubts(Instant::now()), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_new_until_it_has_had_a_lease_for_as_long_as_one_lasts() {
        let standing = Standing::new();
        advance(2 * LEASE_TIME).await;
        assert!(standing.is_new(Instant::now()), "the store was away");
        standing.joined(Instant::now());
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
