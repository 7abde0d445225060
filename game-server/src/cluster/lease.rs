//! Leases: one a server, not one a game. A server renews its own every second; one that is not renewed for five is gone.
//!
//! Where an earlier run of a server could be reached is remembered beyond its lease, so that it can still be asked whether it
//! serves a game: one that is cut off from the store goes on with its classes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use crate::journal::{LogFuture, ServerId};

/// How long a lease lasts. A server that nobody hears of for this long is presumed dead: phones wait for it at most this
/// long.
pub const LEASE_TIME: Duration = Duration::from_secs(5);

/// A server among others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The run of a server.
    pub server: ServerId,
    /// Where other servers reach it, as `host:port`.
    pub address: String,
    /// The newest version of snapshots that it reads.
    pub reads: u8,
}

/// A server that has or had a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its lease.
    pub lease: Lease,
    /// Whether the lease was renewed within [`LEASE_TIME`].
    pub is_leased: bool,
}

/// What a renewal found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewed {
    /// The lease was there.
    Kept,
    /// It was not: it is the first one, or the one before had ended and others may have acted on that.
    Anew,
}

/// Where leases are kept: beside the games, so that who cannot reach the games cannot renew its lease.
pub trait Leases: Send + Sync + 'static {
    /// Takes or renews a lease for [`LEASE_TIME`].
    fn renew(&self, lease: Lease) -> LogFuture<Renewed>;

    /// Everybody with a lease, and those whose lease ran out and whom nobody has forgotten yet.
    fn members(&self) -> LogFuture<Vec<Member>>;

    /// Ends a server's lease and forgets it: by itself at its end, or by others once it is certain that it is gone.
    fn forget(&self, server: ServerId) -> LogFuture<()>;
}

/// Leases in memory, for servers of one process: tests and the simulation. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryLeases(Arc<Mutex<Members>>);

type Members = BTreeMap<(String, Uuid), (Lease, Instant)>;

impl MemoryLeases {
    /// Nobody yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        // Every change of the map is one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Renewed {
    /// By whether there was a lease.
    #[must_use]
    pub fn of(was_leased: bool) -> Self {
        if was_leased { Self::Kept } else { Self::Anew }
    }
}

impl Leases for MemoryLeases {
    fn renew(&self, lease: Lease) -> LogFuture<Renewed> {
        let leases = self.clone();
        Box::pin(async move {
            let now = Instant::now();
            let before = leases
                .lock()
                .insert(key(&lease.server), (lease, now + LEASE_TIME));
            Ok(Renewed::of(before.is_some_and(|(_, until)| until > now)))
        })
    }

    fn members(&self) -> LogFuture<Vec<Member>> {
        let leases = self.clone();
        Box::pin(async move {
            let now = Instant::now();
            let member = |(lease, until): &(Lease, Instant)| Member {
                lease: lease.clone(),
                is_leased: *until > now,
            };
            Ok(leases.lock().values().map(member).collect())
        })
    }

    fn forget(&self, server: ServerId) -> LogFuture<()> {
        let leases = self.clone();
        Box::pin(async move {
            leases.lock().remove(&key(&server));
            Ok(())
        })
    }
}

fn key(server: &ServerId) -> (String, Uuid) {
    (server.name.clone(), server.incarnation)
}
