//! The store in SQLite, for one process on one machine.
//!
//! Reads have a small pool; writes have one connection of their own, since SQLite takes one writer at a time: waiting
//! for the connection is fair and bounded, waiting for SQLite's lock is neither.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{Connection as _, Row as _, Sqlite, Transaction};

use super::documents::{from_json, to_json};
use super::{StoreError, StoreUpkeep};

mod accounts;
mod games;
mod quizzes;
mod removal;
mod resets;
mod shares;
mod timelines;
mod usage;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

/// Connections that read. Two cores read two at a time; the others keep a slow report from holding up a list.
const READERS: u32 = 4;
/// Time to wait for a connection that reads: longer queues only hide that the machine is full.
const READ_ACQUIRE_MAX: Duration = Duration::from_millis(250);
/// Time to wait for the connection that writes: a result of 500 players takes a tenth of this, and the end of a school
/// hour brings several.
const WRITE_ACQUIRE_MAX: Duration = Duration::from_secs(2);
/// Time that SQLite itself waits for a lock. Only another process (a backup) can hold one for long.
const BUSY_MAX: Duration = Duration::from_secs(1);

/// The store in one SQLite file.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    readers: SqlitePool,
    writer: SqlitePool,
}

impl SqliteStore {
    /// Opens the file, makes it when there is none, and brings its schema to this release.
    ///
    /// # Errors
    /// When the file cannot be opened, or a newer release has migrated it.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .journal_mode(SqliteJournalMode::Wal)
            // FULL syncs the log at every commit: what was answered survives a power cut, not only a crash.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_MAX);
        create_private(path).map_err(|error| database(sqlx::Error::Io(error)))?;
        // The writer comes first: it lays the file out and switches it to WAL.
        let writer = pool(1, WRITE_ACQUIRE_MAX)
            .connect_with(options.clone())
            .await
            .map_err(database)?;
        MIGRATIONS.run(&writer).await.map_err(StoreError::Migrate)?;
        quizzes::fold_titles(&writer).await?;
        let readers = pool(READERS, READ_ACQUIRE_MAX)
            .connect_with(options.pragma("query_only", "ON"))
            .await
            .map_err(database)?;
        Ok(Self { readers, writer })
    }

    /// Closes every connection; the log is folded into the file.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    async fn begin(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        // IMMEDIATE takes the write lock first: a transaction that upgrades later fails at once when it is beaten to it.
        self.writer.begin_with("BEGIN IMMEDIATE").await.map_err(database)
    }
}

#[async_trait]
impl StoreUpkeep for SqliteStore {
    async fn answers(&self) -> Result<(), StoreError> {
        // A file of this machine is not away.
        Ok(())
    }

    async fn close(&self) {
        Self::close(self).await;
    }

    async fn stand(&self, time: Duration) -> Result<(), StoreError> {
        let _held = self.readers.acquire().await.map_err(database)?;
        tokio::time::sleep(time).await;
        Ok(())
    }
}

/// Makes the file, if there is none, readable by its owner only: it holds password hashes and children's names. SQLite gives
/// the log beside it the same rights.
fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path).map(drop)
}

fn pool(connections: u32, acquire_max: Duration) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .min_connections(1)
        .max_connections(connections)
        .acquire_timeout(acquire_max)
        .idle_timeout(None)
        .max_lifetime(None)
        // A connection to a local file does not go stale.
        .test_before_acquire(false)
        // Where the disk is full SQLite rolls a transaction back by itself, and the driver, whose own rollback then fails,
        // takes the connection to be inside of it for ever: nothing could be written until a restart.
        .before_acquire(|connection, _| Box::pin(async move { Ok(!connection.is_in_transaction()) }))
}

/// SQLite's primary result codes for "locked by somebody else".
const LOCKED_CODES: [i32; 2] = [5, 6];

/// SQLite's primary result code for "no room to write".
const FULL_CODE: i32 = 13;

fn database(error: sqlx::Error) -> StoreError {
    let code = error
        .as_database_error()
        .and_then(|e| e.code())
        .and_then(|code| code.parse::<i32>().ok())
        // The low byte is the primary code, the rest refines it.
        .map(|code| code & 0xff);
    let locked = code.is_some_and(|code| LOCKED_CODES.contains(&code));
    if locked || matches!(error, sqlx::Error::PoolTimedOut) {
        StoreError::Busy(error)
    } else if code == Some(FULL_CODE) {
        StoreError::Full(error)
    } else {
        StoreError::Database(error)
    }
}

/// A count or time for SQLite, which has only signed integers. Unix milliseconds pass its end in 292 million years.
fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// An unsigned column.
fn uint<T: TryFrom<i64>>(row: &SqliteRow, column: &'static str) -> Result<T, StoreError> {
    let value: i64 = row.try_get(column).map_err(database)?;
    T::try_from(value).map_err(|_| StoreError::Corrupt { column })
}

/// A column of text or bytes.
fn get<'r, T: sqlx::Decode<'r, Sqlite> + sqlx::Type<Sqlite>>(
    row: &'r SqliteRow,
    column: &'static str,
) -> Result<T, StoreError> {
    row.try_get(column).map_err(database)
}

/// A column of JSON.
fn json<T: serde::de::DeserializeOwned>(row: &SqliteRow, column: &'static str) -> Result<T, StoreError> {
    from_json(get(row, column)?, column)
}

#[cfg(test)]
mod tests;
