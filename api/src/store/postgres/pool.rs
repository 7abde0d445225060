//! Connections that are lent to calls and come back in time, or are closed.
//!
//! sqlx asks the server about every connection that comes back to its pool, and waits for the answer without a bound. Where a firewall
//! has forgotten a connection, or a machine went away without a word, there is none: each call that was given up would keep its
//! place for as long as the kernel goes on trying, a quarter of an hour, and a few of them are the whole pool.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{Connection as _, Postgres, Transaction};
use tokio::runtime::Handle;

use super::error::database;
use crate::store::StoreError;

/// How long an unused connection is kept; firewalls forget silent ones after minutes.
const IDLE_MAX: Duration = Duration::from_secs(120);
/// How long a connection lives at most: servers behind one name change.
const LIFETIME_MAX: Duration = Duration::from_secs(30 * 60);
/// Time for a connection that has lain unused since a silence to show that it still leads somewhere: a healthy server takes a tenth of
/// it, and a new connection must fit into the rest of a call's wait.
const CHECK_MAX: Duration = Duration::from_millis(50);
/// A transaction whose statements all see the same moment.
const ONE_MOMENT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// How patient a pool is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Longest wait for a connection.
    pub(super) acquire: Duration,
    /// Longest time that a connection takes to come back, before it is closed and its place given to a new one.
    pub(super) back: Duration,
}

/// Connections to one server.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    connections: PgPool,
    back_max: Duration,
    silences: Silences,
}

/// When the server was silent last.
#[derive(Debug, Clone)]
struct Silences {
    started: Instant,
    /// Milliseconds since `started`; zero for never.
    last_ms: Arc<AtomicU64>,
}

impl Silences {
    fn new() -> Self {
        Self {
            started: Instant::now(),
            last_ms: Arc::default(),
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Whether there was one while a connection was idle for this long.
    fn within(&self, idle: Duration) -> bool {
        let last_ms = self.last_ms.load(Ordering::Relaxed);
        let idle_ms = u64::try_from(idle.as_millis()).unwrap_or(u64::MAX);
        last_ms > 0 && self.now_ms().saturating_sub(idle_ms) <= last_ms
    }
}

impl Pool {
    /// At most so many connections, each made when it is needed.
    pub(super) fn lazy(most: u32, patience: Patience, server: PgConnectOptions) -> Self {
        let silences = Silences::new();
        let known = silences.clone();
        let options =
            options(patience.acquire)
                .max_connections(most)
                .before_acquire(move |connection, told| {
                    let suspected = known.within(told.idle_for);
                    Box::pin(async move {
                        let well = !suspected
                            || tokio::time::timeout(CHECK_MAX, connection.ping())
                                .await
                                .is_ok_and(|pong| pong.is_ok());
                        Ok(well)
                    })
                });
        Self {
            connections: options.connect_lazy_with(server),
            back_max: patience.back,
            silences,
        }
    }

    /// A connection for one call.
    pub(super) async fn lend(&self) -> Result<Lent, StoreError> {
        let connection = self.connections.acquire().await.map_err(database)?;
        Ok(Lent {
            connection,
            back_max: self.back_max,
        })
    }

    /// The server was silent: connections that nobody used since are looked at before they are lent again.
    pub(super) fn suspect(&self) {
        let now_ms = self.silences.now_ms().max(1);
        self.silences.last_ms.fetch_max(now_ms, Ordering::Relaxed);
    }

    pub(super) async fn close(&self) {
        self.connections.close().await;
    }
}

/// The options of every pool.
pub(super) fn options(acquire_max: Duration) -> PgPoolOptions {
    PgPoolOptions::new()
        .acquire_timeout(acquire_max)
        .idle_timeout(IDLE_MAX)
        .max_lifetime(LIFETIME_MAX)
        // Costs a round trip a call, and a connection that broke is noticed by its first statement as well.
        .test_before_acquire(false)
}

/// A connection that comes back when it is dropped, if it does so in time.
#[derive(Debug)]
pub(super) struct Lent {
    connection: PoolConnection<Postgres>,
    back_max: Duration,
}

impl Lent {
    /// Begins a transaction; undone unless it is committed.
    pub(super) async fn transaction(&mut self) -> Result<Transaction<'_, Postgres>, StoreError> {
        self.connection.begin().await.map_err(database)
    }

    /// Begins a transaction that only reads, and whose statements all see the same moment.
    pub(super) async fn moment(&mut self) -> Result<Transaction<'_, Postgres>, StoreError> {
        self.connection.begin_with(ONE_MOMENT).await.map_err(database)
    }
}

impl Deref for Lent {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // What the pool does by itself, but with an end: given up, the connection is closed and its place is free.
        let (back_max, back) = (self.back_max, self.connection.return_to_pool());
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(tokio::time::timeout(back_max, back));
        }
    }
}
