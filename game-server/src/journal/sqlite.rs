//! Games in an SQLite file of their own, for the one-process product.
//!
//! One task writes for all games: what arrives while a transaction commits goes into the next one, so that a commit is shared
//! by whoever waits. Reads have connections of their own. What a commit survives is [`Durability`].

mod read;
mod write;
mod writer;

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::Duration;

use protocol::ids::GameCode;
use sqlx::Connection as _;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use thiserror::Error;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use super::{
    Asserted, Batch, Birth, ClaimId, Claimed, Created, GameLog, LogError, LogFuture, Owner, RecordNumber,
    ServerId, Stored, Tail, Written,
};
use write::Write;
use writer::{Message, Pending};

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/sqlite");

/// Connections that read: at a start games are loaded eight at a time, later hardly ever.
const READERS: u32 = 4;
/// Time to wait for one of them. A start reads thousands of games, a few milliseconds each.
const READ_ACQUIRE_MAX: Duration = Duration::from_secs(30);
/// Time that SQLite itself waits for a lock. Only another process (a backup) can hold one for long.
const BUSY_MAX: Duration = Duration::from_secs(5);
/// Writes that may wait: four of every game of a full server. A game has one in flight, so that it is never reached unless
/// games are created and removed faster than the disk takes.
const QUEUE_MAX: usize = 8_192;

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, however it comes. After a power cut the last second or so may be missing.
    Process,
    /// A power cut as well, for a disk synchronisation at every commit.
    Power,
}

/// A [`GameLog`] in one SQLite file. Clones are the same log.
#[derive(Debug, Clone)]
pub struct SqliteLog {
    writer: mpsc::Sender<Message>,
    readers: SqlitePool,
}

/// Why the file cannot be used.
#[derive(Debug, Error)]
pub enum SqliteLogError {
    /// It cannot be opened.
    #[error("the games' file cannot be opened")]
    Open(#[source] sqlx::Error),
    /// Its schema is a newer release's, or cannot be brought to this one's.
    #[error("the games' file was written by another release, or is damaged")]
    Migrate(#[source] sqlx::migrate::MigrateError),
}

impl SqliteLog {
    /// Opens the file, makes it when there is none, and brings its schema to this release.
    ///
    /// # Errors
    /// When the file cannot be opened, or a newer release has migrated it.
    pub async fn open(path: &Path, durability: Durability) -> Result<Self, SqliteLogError> {
        Self::open_with(path, options(path, durability)).await
    }

    async fn open_with(path: &Path, options: SqliteConnectOptions) -> Result<Self, SqliteLogError> {
        create_private(path).map_err(|error| SqliteLogError::Open(sqlx::Error::Io(error)))?;
        let writer = pool(1)
            .connect_with(options.clone())
            .await
            .map_err(SqliteLogError::Open)?;
        MIGRATIONS.run(&writer).await.map_err(SqliteLogError::Migrate)?;
        let tidier = pool(1)
            .connect_with(options.clone())
            .await
            .map_err(SqliteLogError::Open)?;
        let readers = pool(READERS)
            .connect_with(options.pragma("query_only", "ON"))
            .await
            .map_err(SqliteLogError::Open)?;
        let (sender, messages) = mpsc::channel(QUEUE_MAX);
        tokio::spawn(writer::run(writer, tidier, messages));
        Ok(Self {
            writer: sender,
            readers,
        })
    }

    /// Writes what waits and closes every connection; the log is folded into the file.
    pub async fn close(&self) {
        self.readers.close().await;
        let (reply, closed) = oneshot::channel();
        // An error of either means that it is closed already.
        if self.writer.send(Message::Close(reply)).await.is_ok() {
            let _closed = closed.await;
        }
    }

    /// Hands a write to the writer.
    fn write<W: Write>(&self, write: W) -> LogFuture<W::Answer> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Pending::new(write, reply));
        let queued = self
            .writer
            .try_send(Message::Write(job))
            .map_err(|error| match error {
                TrySendError::Full(_) => LogError::NotDone("too many writes wait".into()),
                TrySendError::Closed(_) => LogError::NotDone("the log is closed".into()),
            });
        Box::pin(async move {
            queued?;
            answer
                .await
                .unwrap_or_else(|gone| Err(LogError::Unavailable(gone.into())))
        })
    }
}

impl GameLog for SqliteLog {
    fn create(&self, code: GameCode, birth: Birth) -> LogFuture<Created> {
        self.write(write::Create { code, birth })
    }

    fn claim(
        &self,
        code: GameCode,
        seen: ClaimId,
        server: ServerId,
        claim: ClaimId,
        least_epoch: u32,
    ) -> LogFuture<Claimed> {
        self.write(write::Claim {
            code,
            seen,
            server,
            claim,
            least_epoch,
        })
    }

    fn assert(&self, code: GameCode, birth: Birth) -> LogFuture<Asserted> {
        self.write(write::Assert { code, birth })
    }

    fn append(&self, code: GameCode, claim: ClaimId, batch: Batch) -> LogFuture<Written> {
        self.write(write::Append { code, claim, batch })
    }

    fn snapshot(
        &self,
        code: GameCode,
        claim: ClaimId,
        through: RecordNumber,
        snapshot: Vec<u8>,
    ) -> LogFuture<Written> {
        self.write(write::Snapshot {
            code,
            claim,
            through,
            snapshot,
        })
    }

    fn tail(&self, code: GameCode) -> LogFuture<Option<Tail>> {
        let readers = self.readers.clone();
        Box::pin(async move { read::tail(&readers, code).await })
    }

    fn load(&self, code: GameCode) -> LogFuture<Option<Stored>> {
        let readers = self.readers.clone();
        Box::pin(async move { read::load(&readers, code).await })
    }

    fn release(&self, code: GameCode, claim: ClaimId) -> LogFuture<Written> {
        self.write(write::Release { code, claim })
    }

    fn remove(&self, code: GameCode, claim: ClaimId, after: Duration) -> LogFuture<Written> {
        self.write(write::Remove { code, claim, after })
    }

    fn games(&self) -> LogFuture<Vec<(GameCode, Option<Owner>)>> {
        let readers = self.readers.clone();
        Box::pin(async move { read::games(&readers).await })
    }
}

/// Makes the file, if there is none, readable by its owner only: it holds children's names. SQLite gives the log beside it the
/// same rights.
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

fn options(path: &Path, durability: Durability) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(match durability {
            Durability::Process => SqliteSynchronous::Normal,
            Durability::Power => SqliteSynchronous::Full,
        })
        .foreign_keys(true)
        .busy_timeout(BUSY_MAX)
        // Folding the log into the file takes synchronisations; the writer's tidying task does it, not a commit.
        .pragma("wal_autocheckpoint", "0")
}

fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .min_connections(1)
        .max_connections(connections)
        .acquire_timeout(READ_ACQUIRE_MAX)
        .idle_timeout(None)
        .max_lifetime(None)
        // A connection to a local file does not go stale.
        .test_before_acquire(false)
        // Where the disk is full SQLite rolls a transaction back by itself, and the driver, whose own rollback then fails,
        // takes the connection to be inside of it for ever: no game could be saved until a restart.
        .before_acquire(|connection, _| Box::pin(async move { Ok(!connection.is_in_transaction()) }))
}

/// A number for SQLite, which has only signed integers; ours never come near the end.
fn int(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
