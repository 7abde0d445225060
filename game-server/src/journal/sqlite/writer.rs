//! The one task that writes: groups what waits into transactions, and folds the log into the file once a second.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use sqlx::sqlite::SqlitePool;
use sqlx::{Row as _, SqliteConnection};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot, watch};

use super::write::Write;
use crate::journal::LogError;
use crate::supervised::has_panicked;

/// Writes of one transaction: a few milliseconds of work, so that nobody waits long for the others.
const GROUP_MAX: usize = 256;
/// Time between two folds of the log into the file: about what a power cut can cost.
const FOLD_PAUSE: Duration = Duration::from_secs(1);
/// Pages of 4 KiB in the log above which writers wait until it is folded, so that it never fills the disk.
const LOG_PAGES_MAX: i64 = 16_384;

/// Something for the writer.
pub(super) enum Message {
    Write(Box<dyn Job>),
    /// Stop, and say when that is done.
    Close(oneshot::Sender<()>),
}

/// A write whose sender waits.
pub(super) trait Job: Send {
    /// Writes it inside a transaction; an error undoes that.
    fn apply<'a>(&'a mut self, to: &'a mut SqliteConnection) -> JobFuture<'a>;

    /// Tells the sender what became of it.
    fn answer(self: Box<Self>, end: End<'_>);
}

type JobFuture<'a> = Pin<Box<dyn Future<Output = Result<(), LogError>> + Send + 'a>>;

/// How a transaction ended.
#[derive(Clone, Copy)]
pub(super) enum End<'a> {
    Committed,
    /// Certainly not kept, and why.
    Undone(&'a Why),
    /// The commit failed, which may mean either.
    Unknown(&'a Why),
}

/// What SQLite said, for everybody in a group: its own errors cannot be told twice.
#[derive(Debug, Clone, Error)]
#[error("{0}")]
pub(super) struct Why(String);

impl Why {
    fn new(error: &dyn Error) -> Self {
        let mut why = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            why = format!("{why}: {error}");
            cause = error.source();
        }
        Self(why)
    }
}

/// A write, its sender, and what there is to answer once it is committed.
pub(super) struct Pending<W: Write> {
    write: W,
    reply: oneshot::Sender<Result<W::Answer, LogError>>,
    answer: Option<W::Answer>,
}

impl<W: Write> Pending<W> {
    pub(super) fn new(write: W, reply: oneshot::Sender<Result<W::Answer, LogError>>) -> Self {
        Self {
            write,
            reply,
            answer: None,
        }
    }
}

impl<W: Write> Job for Pending<W> {
    fn apply<'a>(&'a mut self, to: &'a mut SqliteConnection) -> JobFuture<'a> {
        Box::pin(async move {
            self.answer = Some(self.write.apply(to).await?);
            Ok(())
        })
    }

    fn answer(self: Box<Self>, end: End<'_>) {
        let answer = match (end, self.answer) {
            (End::Committed, Some(answer)) => Ok(answer),
            (End::Committed, None) => Err(LogError::NotDone("nothing was written".into())),
            (End::Undone(why), _) => Err(LogError::NotDone(why.clone().into())),
            (End::Unknown(why), _) => Err(LogError::Unavailable(why.clone().into())),
        };
        // An error means that nobody waits any longer.
        let _nobody_waits = self.reply.send(answer);
    }
}

/// Writes until the log is closed or dropped.
pub(super) async fn run(pool: SqlitePool, tidier: SqlitePool, mut messages: mpsc::Receiver<Message>) {
    let (wrote, news) = watch::channel(());
    let tidying = tokio::spawn(tidy(tidier.clone(), news));
    let mut messages_waiting = Vec::new();
    let mut close = None;
    while close.is_none() && messages.recv_many(&mut messages_waiting, GROUP_MAX).await > 0 {
        let mut group = Vec::with_capacity(messages_waiting.len());
        for message in messages_waiting.drain(..) {
            match message {
                Message::Write(job) => group.push(job),
                Message::Close(reply) => close = Some(reply),
            }
        }
        // Whoever waits for a group that made it panic hears that nobody answered; the transaction is undone with its connection.
        let _panicked = has_panicked("writer", write(&pool, group)).await;
        // An error means that nobody folds the log, which it survives.
        let _nobody_folds = wrote.send(());
    }
    // The last connection to close folds what is left.
    tidying.abort();
    tidier.close().await;
    pool.close().await;
    if let Some(reply) = close {
        let _nobody_waits = reply.send(());
    }
}

/// Writes a group in one transaction; when one of its writes fails, each in a transaction of its own.
async fn write(pool: &SqlitePool, group: Vec<Box<dyn Job>>) {
    if group.is_empty() {
        return;
    }
    let is_single = group.len() == 1;
    let Err(Undone { group, why }) = transact(pool, group).await else {
        return;
    };
    for job in group {
        if is_single {
            job.answer(End::Undone(&why));
        } else if let Err(Undone { group, why }) = transact(pool, vec![job]).await {
            for job in group {
                job.answer(End::Undone(&why));
            }
        }
    }
}

/// A group whose transaction was undone.
struct Undone {
    group: Vec<Box<dyn Job>>,
    why: Why,
}

/// Writes a group in one transaction and answers it; gives it back when the transaction was undone.
async fn transact(pool: &SqlitePool, mut group: Vec<Box<dyn Job>>) -> Result<(), Undone> {
    // IMMEDIATE takes the write lock first: a transaction that upgrades later fails at once when it is beaten to it.
    let mut transaction = match pool.begin_with("BEGIN IMMEDIATE").await {
        Ok(transaction) => transaction,
        Err(error) => {
            let why = Why::new(&error);
            return Err(Undone { group, why });
        }
    };
    for job in &mut group {
        if let Err(error) = job.apply(&mut transaction).await {
            let why = Why::new(&error);
            // Dropped without an end it is undone as well, at the latest before the next one begins.
            let _undone = transaction.rollback().await;
            return Err(Undone { group, why });
        }
    }
    let failed = transaction.commit().await.err().map(|error| Why::new(&error));
    let end = failed.as_ref().map_or(End::Committed, End::Unknown);
    for job in group {
        job.answer(end);
    }
    Ok(())
}

/// Folds the log into the file when something was written, a second apart, until the writer is gone. Each fold brings all that
/// was committed before it to the disk.
async fn tidy(pool: SqlitePool, mut news: watch::Receiver<()>) {
    let mut is_failing = false;
    while news.changed().await.is_ok() {
        let folded = fold(&pool).await;
        let has_failed = is_failing;
        is_failing = folded.is_err();
        if let Err(error) = folded
            && !has_failed
        {
            let error = &error as &dyn Error;
            tracing::warn!(error, "the games' log is not folded into its file, trying again");
        }
        tokio::time::sleep(FOLD_PAUSE).await;
    }
}

async fn fold(pool: &SqlitePool) -> Result<(), sqlx::Error> {
    // PASSIVE holds nobody up, and leaves what it cannot have.
    let row = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)")
        .fetch_one(pool)
        .await?;
    let pages: i64 = row.try_get(1)?;
    if pages > LOG_PAGES_MAX {
        sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
            .fetch_one(pool)
            .await?;
    }
    Ok(())
}
