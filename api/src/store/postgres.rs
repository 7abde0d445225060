//! The store in PostgreSQL, for any number of API processes.
//!
//! It owns how long anything may take: a connection that does not come free, a statement that does not end and a server
//! that does not answer each become an error with a name, never a wait without end. Who may wait for a connection at
//! all is decided before, by admission.

use std::future::Future;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::postgres::PgRow;
use sqlx::{Postgres, Row as _, Transaction};
use uuid::Uuid;

use super::{StoreError, StoreUpkeep};

mod accounts;
mod config;
mod error;
mod games;
mod pool;
mod quizzes;
mod removal;
mod replica;
mod resets;
mod schema;
mod shares;
mod timelines;
mod usage;

pub use config::{PostgresConfig, PostgresConfigError};
use error::database;
use pool::{Patience, Pool};
use replica::Replica;

/// Time to wait for a connection: admission lets no more calls in than there are connections, so a longer wait means that
/// the server is away.
const ACQUIRE_MAX: Duration = Duration::from_millis(250);
/// Time to wait for the first connection of a process, at its start: names are looked up and TLS is set up.
const START_MAX: Duration = Duration::from_secs(5);
/// Time for the server to show that it is there.
const WATCH_MAX: Duration = Duration::from_secs(1);
/// A call that takes longer than this makes the store ask whether the server lives at all: one that is frozen or cut off keeps none of its own
/// limits, and nobody should wait for it as long as for one that has much to do.
const SILENT_MAX: Duration = Duration::from_millis(400);
/// Time for the sign of life. With it and the above, and the longest wait for admission (1 s), nobody hangs for 2 s.
const SIGN_MAX: Duration = Duration::from_millis(400);
/// Between two signs of life of a server that goes on answering, but not this call.
const SIGN_EVERY: Duration = Duration::from_millis(300);
/// Time for one call of the store, whatever the server does.
const CALL_MAX: Duration = Duration::from_millis(2_500);
/// Time for a call that moves a whole result: the largest has 100,000 answers.
const RESULT_CALL_MAX: Duration = Duration::from_millis(4_500);
/// Time for a connection to come back to its pool: longer than a statement may take at the server, so that one whose caller left is used
/// again, and soon enough for a pool whose connections were cut to be whole again within seconds.
const BACK_MAX: Duration = Duration::from_millis(2_500);

/// The store in one PostgreSQL database.
#[derive(Debug, Clone)]
pub struct PostgresStore {
    primary: Pool,
    /// A copy that may lag, for counts.
    replica: Option<Replica>,
    /// One connection that no call uses, so that a full pool does not look like an absent server.
    watch: Pool,
}

impl PostgresStore {
    /// Brings the database's schema to this release. Several processes may do it at once: one does, the others wait.
    ///
    /// # Errors
    /// When the database cannot be reached, or a newer release has migrated it.
    pub async fn migrate(config: &PostgresConfig) -> Result<(), StoreError> {
        let pool = connect(config, 1).await?;
        // These limits are for serving: building an index may take minutes, and whoever migrates second waits for the first.
        let mut connection = pool.lend().await?;
        for limit in ["SET statement_timeout = 0", "SET lock_timeout = 0"] {
            sqlx::query(limit)
                .execute(&mut *connection)
                .await
                .map_err(database)?;
        }
        let migrated = async {
            schema::migrate(&mut connection).await?;
            quizzes::fold_titles(&mut connection).await
        };
        let migrated = migrated.await;
        drop(connection);
        pool.close().await;
        migrated
    }

    /// Connects. The schema must be this release's.
    ///
    /// # Errors
    /// When the database cannot be reached, or its schema is older or newer.
    pub async fn open(config: &PostgresConfig) -> Result<Self, StoreError> {
        let primary = connect(config, config.connections()).await?;
        schema::check(&mut *primary.lend().await?).await?;
        let watching = Patience {
            acquire: WATCH_MAX,
            back: SIGN_MAX,
        };
        let watch = Pool::lazy(1, watching, config.connect());
        let replica = config
            .replica()
            .map(|replica| Replica::lazy(config.connections(), replica.connect()));
        Ok(Self {
            primary,
            replica,
            watch,
        })
    }

    /// Bounds one call: by `time_max`, and by a server that gives no sign of life beside it.
    fn within<'a, T: Send + 'a>(
        &'a self,
        time_max: Duration,
        call: impl Future<Output = Result<T, StoreError>> + Send + 'a,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + 'a {
        // On the heap, as a statement's future is large, and most calls end before the rest of this is looked at.
        let mut call = Box::pin(call);
        let call = within(time_max, async move {
            if let Ok(done) = tokio::time::timeout(SILENT_MAX, &mut call).await {
                return done;
            }
            tokio::select! {
                done = &mut call => done,
                silent = Box::pin(self.silence()) => Err(silent),
            }
        });
        async move {
            let done = call.await;
            if matches!(done, Err(StoreError::Silent)) {
                // Connections that lie unused may be as dead as this call's, and do not know it.
                self.primary.suspect();
                self.watch.suspect();
            }
            done
        }
    }

    /// Ends when the server does not answer any more.
    async fn silence(&self) -> StoreError {
        while within(SIGN_MAX, self.sign_of_life()).await.is_ok() {
            tokio::time::sleep(SIGN_EVERY).await;
        }
        StoreError::Silent
    }

    async fn sign_of_life(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1")
            .execute(&mut *self.watch.lend().await?)
            .await
            .map(drop)
            .map_err(database)
    }
}

async fn connect(config: &PostgresConfig, connections: u32) -> Result<Pool, StoreError> {
    // The error of a first connection says what is wrong; a pool that never gets one only says that it waited.
    let first = pool::options(START_MAX).max_connections(1);
    let first = first.connect_with(config.connect()).await.map_err(database)?;
    first.close().await;
    let patience = Patience {
        acquire: config.acquire_max().unwrap_or(ACQUIRE_MAX),
        back: BACK_MAX,
    };
    Ok(Pool::lazy(connections, patience, config.connect()))
}

#[async_trait]
impl StoreUpkeep for PostgresStore {
    async fn answers(&self) -> Result<(), StoreError> {
        within(WATCH_MAX, self.sign_of_life()).await
    }

    async fn close(&self) {
        tokio::join!(self.primary.close(), self.watch.close());
        if let Some(replica) = &self.replica {
            replica.close().await;
        }
    }

    async fn stand(&self, time: Duration) -> Result<(), StoreError> {
        let _held = self.primary.lend().await?;
        tokio::time::sleep(time).await;
        Ok(())
    }
}

/// Bounds one call of the store.
async fn within<T>(
    time_max: Duration,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    tokio::time::timeout(time_max, call)
        .await
        .unwrap_or(Err(StoreError::Silent))
}

/// Takes this teacher's turn among changes to quizzes and games; false when there is no such teacher.
async fn take_turn(tx: &mut Transaction<'_, Postgres>, teacher: Uuid) -> Result<bool, StoreError> {
    let done = sqlx::query("UPDATE teachers SET revision = revision + 1 WHERE id = $1")
        .bind(teacher)
        .execute(&mut **tx)
        .await
        .map_err(database)?;
    Ok(done.rows_affected() == 1)
}

/// A count or time for a BIGINT. Unix milliseconds pass its end in 292 million years.
fn int8(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A count for an INTEGER.
fn int4<T: TryInto<i32>>(value: T, column: &'static str) -> Result<i32, StoreError> {
    value.try_into().map_err(|_| StoreError::Range { column })
}

/// An unsigned value from an INTEGER column.
fn uint4<T: TryFrom<i32>>(row: &PgRow, column: &'static str) -> Result<T, StoreError> {
    let value: i32 = get(row, column)?;
    T::try_from(value).map_err(|_| StoreError::Corrupt { column })
}

/// An unsigned value from a BIGINT column.
fn uint8<T: TryFrom<i64>>(row: &PgRow, column: &'static str) -> Result<T, StoreError> {
    let value: i64 = get(row, column)?;
    T::try_from(value).map_err(|_| StoreError::Corrupt { column })
}

/// A column as it is.
fn get<'r, T: sqlx::Decode<'r, Postgres> + sqlx::Type<Postgres>>(
    row: &'r PgRow,
    column: &'static str,
) -> Result<T, StoreError> {
    row.try_get(column).map_err(database)
}

#[cfg(test)]
mod tests;
