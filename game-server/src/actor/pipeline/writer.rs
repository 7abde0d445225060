//! One game's writes to its log: one at a time, appends in natural groups, snapshots in between.
//!
//! After an answer that was lost the tail is read before anything is repeated. When the log was away for so long that clients
//! saw unsaved changes, when it lost something, or when too much waits, the next write is a snapshot of everything. A log that comes
//! back as another run of its store is written to again when the game is certainly this server's: see [`asserting`].

mod asserting;

use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use protocol::ids::GameCode;
use runtime::metrics::{self, Counter, Histogram};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::backoffice::Backoffice;
use crate::cluster::Verdict;
use crate::journal::{
    Asserted, Batch, GameLog, LogError, LogFuture, Owner, Record, RecordNumber, StoreRun, Tail, Written,
};
use crate::stored::{self, Snapshot, WriteVersion};

/// Least time between two snapshots of a game, unless one is needed to go on.
const SNAPSHOT_PAUSE: Duration = Duration::from_secs(2);
/// A game that changed gets a snapshot after this time: what its timeline has seen beside the journal is kept by snapshots alone.
const SNAPSHOT_AFTER: Duration = Duration::from_secs(60);
/// How long a snapshot that is due waits for a moment without records to append.
const SNAPSHOT_YIELD: Duration = Duration::from_secs(1);
/// A snapshot is due when the journal has as many bytes as the last one: then all snapshots of a game cost no more than its journal. It
/// is not worth one before this many, and past 3,000 answers, which replay in a few milliseconds, it is due however large the last was.
const SNAPSHOT_AT_BYTES: RangeInclusive<usize> = 4 * 1024..=64 * 1024;
/// Bytes of journal that a store ever holds of one game, and that ever wait for it: then a snapshot replaces them.
pub const JOURNAL_BYTES_MAX: usize = 1024 * 1024;
/// First and longest pause before a failed write is repeated.
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(5);
/// Answers in a snapshot above which it is encoded beside the game's task: about 1 ms of work.
const ANSWERS_INLINE_MAX: usize = 3_000;

/// A game in its log, as its owner knows it.
pub(crate) struct Ownership {
    /// Bound to `run`.
    pub(crate) log: Arc<dyn GameLog>,
    /// The run under which `owner` was written.
    pub(crate) run: StoreRun,
    /// What the other servers say when the run changes; none for a server that is alone.
    pub(crate) verdicts: Option<watch::Receiver<Option<Arc<Verdict>>>>,
    /// Who gives the epoch when they cannot say it.
    pub(crate) backoffice: Arc<dyn Backoffice>,
    /// The version of its snapshots.
    pub(crate) writes: Arc<WriteVersion>,
    pub(crate) code: GameCode,
    pub(crate) owner: Owner,
    /// As kept, for a store that lost them.
    pub(crate) facts: Vec<u8>,
}

/// What a write's answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settled {
    /// More may be saved than before.
    Saved,
    /// Nothing is known yet; it is repeated.
    Failed,
    /// The game is somebody else's.
    Fenced,
}

pub(super) struct Writer {
    at: Ownership,
    /// Tells when the log is back.
    runs: watch::Receiver<StoreRun>,
    /// The store changed into this run, and the game was not written to it yet.
    unverified: Option<StoreRun>,
    /// Records made and not known to be saved; those after `saved`, unless too many had to wait.
    unsaved: Batch,
    saved: RecordNumber,
    flight: Option<Flight>,
    retry_at: Option<Instant>,
    retry_pause: Duration,
    /// Writes have failed, and none was kept since; said once.
    is_failing: bool,
    /// The answer of a write was lost, or the game may be another server's: read the tail first.
    is_unsure: bool,
    /// A tail that was asked for before this says nothing.
    doubted_at: Option<Instant>,
    /// The log needs everything again.
    needs_snapshot: bool,
    /// The log has no such game any longer.
    is_missing: bool,
    /// The API wants a higher epoch than the owner's.
    is_outbid: bool,
    /// The epoch under which the game is written again. The owner's own is the log's, so that clients are never told of one that
    /// nobody keeps.
    next_epoch: u32,
    /// Since when a snapshot is wanted.
    wanted_since: Option<Instant>,
    snapshot_at: Instant,
    /// Bytes of the last snapshot that this writer sent as one.
    snapshot_bytes: usize,
    /// Bytes of journal behind the last snapshot.
    journal_bytes: usize,
}

struct Flight {
    what: What,
    through: RecordNumber,
    bytes: usize,
    since: Instant,
    reply: Pin<Box<dyn Future<Output = Result<Reply, LogError>> + Send>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Append,
    Snapshot,
    Assert,
    Tail,
}

/// The log's answer to whatever was asked.
#[derive(Debug)]
pub(in crate::actor) enum Reply {
    Written(Written),
    /// What became of a snapshot of so many bytes.
    Snapshot(Written, usize),
    /// Also under which run.
    Asserted(Asserted, StoreRun),
    /// The API has the game's result.
    Over,
    Tail(Option<Tail>),
    /// Nothing was asked: the log is back after it could not be reached, or the other servers have said what they hold.
    Returned,
}

impl Writer {
    /// `last` is the last record in the log. `torn` says that a snapshot must come before the next append.
    pub(super) fn new(at: Ownership, last: RecordNumber, torn: bool, now: Instant) -> Self {
        let mut writer = Self {
            runs: at.log.runs(),
            at,
            unverified: None,
            unsaved: Batch::new(last),
            saved: last,
            flight: None,
            retry_at: None,
            retry_pause: RETRY_FIRST,
            is_failing: false,
            is_unsure: false,
            doubted_at: None,
            needs_snapshot: torn,
            is_missing: false,
            is_outbid: false,
            next_epoch: 0,
            wanted_since: torn.then_some(now),
            snapshot_at: now,
            snapshot_bytes: 0,
            journal_bytes: 0,
        };
        // It may have changed while the game was loaded.
        writer.meet_run();
        writer
    }

    /// Takes a record.
    pub(super) fn record(&mut self, record: &Record) {
        self.unsaved.push(record);
        if self.unsaved.bytes().len() > JOURNAL_BYTES_MAX {
            self.unsaved = Batch::new(self.unsaved.last());
            self.needs_snapshot = true;
        }
    }

    /// Number of the last record made.
    pub(super) fn last(&self) -> RecordNumber {
        self.unsaved.last()
    }

    /// Number of the last record that is saved, with all before it.
    pub(super) fn saved(&self) -> RecordNumber {
        self.saved
    }

    pub(super) fn epoch(&self) -> u32 {
        self.at.owner.epoch
    }

    #[cfg(test)]
    pub(super) fn is_writing(&self) -> bool {
        self.flight.is_some()
    }

    /// Whether a write is in flight, or one must come before the game can be left to the log. A higher epoch is not among these: it
    /// waits for the API, and whoever has the game next can get one.
    pub(super) fn has_to_write(&self) -> bool {
        let is_doubtful = self.unverified.is_some() || self.is_unsure;
        self.flight.is_some() || is_doubtful || self.is_missing || self.needs_snapshot
    }

    /// Asks for a look at the owner record before anything else; `at_once` when the log is likely to answer.
    pub(super) fn doubt(&mut self, now: Instant, at_once: bool) {
        self.is_unsure = true;
        self.doubted_at = Some(now);
        if at_once {
            self.is_well();
        }
    }

    /// Whether the owner record is to be looked at first.
    pub(super) fn is_unsure(&self) -> bool {
        self.is_unsure
    }

    /// Asks for a snapshot soon.
    pub(super) fn want_snapshot(&mut self, now: Instant) {
        self.wanted_since.get_or_insert(now);
    }

    /// Asks for a snapshot of everything before anything else.
    pub(super) fn need_snapshot(&mut self) {
        self.needs_snapshot = true;
    }

    /// Starts a write if there is something to write and none is in flight.
    pub(super) fn start(&mut self, now: Instant, state: impl FnOnce() -> Snapshot) {
        let waits = self.retry_at.is_some_and(|at| at > now);
        if self.flight.is_some() || waits {
            return;
        }
        let Some(what) = self.next(now) else {
            return;
        };
        let (log, code, claim) = (Arc::clone(&self.at.log), self.at.code, self.at.owner.claim);
        let through = self.last();
        let mut bytes = 0;
        let reply: Pin<Box<dyn Future<Output = Result<Reply, LogError>> + Send>> = match what {
            What::Tail => {
                let tail = log.tail(code);
                Box::pin(async move { tail.await.map(Reply::Tail) })
            }
            What::Append => {
                bytes = self.unsaved.bytes().len();
                let written = log.append(code, claim, self.unsaved.clone());
                Box::pin(async move { written.await.map(Reply::Written) })
            }
            What::Snapshot => {
                let (state, version) = (state(), self.at.writes.get());
                Box::pin(async move {
                    let snapshot = encode(state, version).await?;
                    let bytes = snapshot.len();
                    metrics::add(Counter::GameSnapshotBytesTotal, count(bytes));
                    let written = log.snapshot(code, claim, through, snapshot);
                    written.await.map(|written| Reply::Snapshot(written, bytes))
                })
            }
            What::Assert => self.assertion(state()),
        };
        self.flight = Some(Flight {
            what,
            through,
            bytes,
            since: now,
            reply,
        });
    }

    fn next(&self, now: Instant) -> Option<What> {
        if self.unverified.is_some() {
            return self.verdict().map(|_given| What::Assert);
        }
        if self.is_unsure {
            return Some(What::Tail);
        }
        if self.is_missing || self.is_outbid {
            return Some(What::Assert);
        }
        let waiting = self.unsaved.bytes().len();
        let is_full = waiting > 0 && self.journal_bytes + waiting > JOURNAL_BYTES_MAX;
        if self.needs_snapshot || is_full {
            return Some(What::Snapshot);
        }
        let is_due = self.snapshot_due().is_some_and(|due| due <= now);
        let is_late = self.snapshot_due().is_some_and(|due| due + SNAPSHOT_YIELD <= now);
        if is_late || (is_due && self.unsaved.is_empty()) {
            return Some(What::Snapshot);
        }
        (!self.unsaved.is_empty()).then_some(What::Append)
    }

    /// When a snapshot is due.
    fn snapshot_due(&self) -> Option<Instant> {
        let due_bytes = self
            .snapshot_bytes
            .clamp(*SNAPSHOT_AT_BYTES.start(), *SNAPSHOT_AT_BYTES.end());
        let is_wanted = self.wanted_since.is_some() || self.journal_bytes >= due_bytes;
        if is_wanted {
            Some(self.snapshot_at + SNAPSHOT_PAUSE)
        } else {
            (self.journal_bytes > 0).then(|| self.snapshot_at + SNAPSHOT_AFTER)
        }
    }

    /// Waits for the write in flight, or for the log to come back.
    pub(super) async fn answered(&mut self) -> Result<Reply, LogError> {
        let flight = &mut self.flight;
        let reply = async move {
            match flight {
                Some(flight) => flight.reply.as_mut().await,
                None => std::future::pending().await,
            }
        };
        let said = async {
            match &mut self.at.verdicts {
                Some(verdicts) => verdicts.changed().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            reply = reply => reply,
            Ok(()) = self.runs.changed() => Ok(Reply::Returned),
            Ok(()) = said => Ok(Reply::Returned),
        }
    }

    /// Takes the answer of [`Writer::answered`].
    pub(super) fn settle(&mut self, answer: Result<Reply, LogError>, now: Instant) -> Settled {
        if matches!(answer, Ok(Reply::Returned)) {
            return self.log_returned();
        }
        let Some(flight) = self.flight.take() else {
            return Settled::Failed;
        };
        if flight.what == What::Append {
            metrics::record(Histogram::GameJournalAppendSeconds, now - flight.since);
        }
        match answer {
            Ok(Reply::Written(written)) => self.written(&flight, written, now),
            Ok(Reply::Snapshot(written, bytes)) => {
                self.snapshot_bytes = bytes;
                self.written(&flight, written, now)
            }
            Ok(Reply::Asserted(asserted, run)) => self.asserted(&flight, asserted, run, now),
            Ok(Reply::Over) => self.is_over(),
            Ok(Reply::Tail(tail)) if self.is_from_before_doubt(&flight, tail.as_ref()) => Settled::Failed,
            Ok(Reply::Tail(tail)) => self.read_tail(tail),
            Ok(Reply::Returned) => Settled::Failed,
            Err(error) => {
                self.failed(&error, now);
                Settled::Failed
            }
        }
    }

    fn written(&mut self, flight: &Flight, written: Written, now: Instant) -> Settled {
        match written {
            Written::Saved => self.kept(flight, now),
            Written::Fenced => Settled::Fenced,
            Written::Missing => {
                tracing::error!(game = %self.at.owner.game, "the journal's store lost a game; it is written again");
                self.lost();
                Settled::Failed
            }
            Written::Refused { last } => self.refused(flight.through, last),
        }
    }

    /// Looks after the game now, also when there is nothing to write: what the log lost it must get again while its owner lives.
    fn log_returned(&mut self) -> Settled {
        self.meet_run();
        Settled::Failed
    }

    fn kept(&mut self, flight: &Flight, now: Instant) -> Settled {
        self.is_well();
        match flight.what {
            What::Append => {
                metrics::inc(Counter::GameJournalAppendsTotal);
                metrics::add(Counter::GameJournalBytesTotal, count(flight.bytes));
                self.journal_bytes += flight.bytes;
            }
            What::Snapshot | What::Assert => {
                metrics::inc(Counter::GameSnapshotsTotal);
                self.journal_bytes = 0;
                self.snapshot_at = now;
                self.wanted_since = None;
                self.needs_snapshot = false;
                // Too many waited meanwhile: what came after this snapshot is not in the batch.
                if self.unsaved.follows() > flight.through {
                    self.needs_snapshot = true;
                }
            }
            What::Tail => {}
        }
        self.advance(flight.through);
        Settled::Saved
    }

    fn advance(&mut self, through: RecordNumber) {
        if std::mem::replace(&mut self.is_failing, false) {
            tracing::info!(game = %self.at.owner.game, "a game is saved again");
        }
        self.saved = self.saved.max(through);
        self.unsaved.forget(through);
    }

    fn refused(&mut self, through: RecordNumber, last: RecordNumber) -> Settled {
        let game = self.at.owner.game;
        if last > through {
            tracing::error!(%game, last = last.0, "the journal holds records that its owner never made");
            return Settled::Fenced;
        }
        tracing::error!(%game, last = last.0, "the journal's store lost records; everything is written again");
        metrics::inc(Counter::GamesRewrittenTotal);
        self.needs_snapshot = true;
        Settled::Failed
    }

    /// Asked for before the doubt, a tail cannot say that the game is still this server's. That it is another one's it can: a claim
    /// that was replaced never comes back.
    fn is_from_before_doubt(&self, flight: &Flight, tail: Option<&Tail>) -> bool {
        let is_foreign = tail.is_some_and(|tail| tail.owner.claim != self.at.owner.claim);
        self.doubted_at.is_some_and(|at| flight.since < at) && !is_foreign
    }

    fn read_tail(&mut self, tail: Option<Tail>) -> Settled {
        self.is_unsure = false;
        let was_in_doubt = self.doubted_at.take().is_some();
        match tail {
            None => {
                self.lost();
                // Somebody may have had it meanwhile, played it to its end and removed it. The API knows.
                self.is_outbid |= was_in_doubt;
                Settled::Failed
            }
            Some(tail) if tail.owner.claim != self.at.owner.claim => Settled::Fenced,
            Some(tail) => {
                let last = tail.last;
                self.found_again(tail.owner);
                self.read_last(last)
            }
        }
    }

    fn read_last(&mut self, last: RecordNumber) -> Settled {
        if last > self.last() || last < self.saved {
            return self.refused(self.last(), last);
        }
        if last == self.saved {
            return Settled::Failed;
        }
        self.is_well();
        // Whether as journal or inside a snapshot is not known; the next snapshot makes it certain.
        self.journal_bytes += self.unsaved.bytes().len();
        self.advance(last);
        Settled::Saved
    }

    /// The log has no such game any longer. It is written again under an epoch above all that the log may have had.
    pub(super) fn lost(&mut self) {
        self.is_missing = true;
        self.next_epoch = self.next_epoch.max(self.at.owner.epoch).saturating_add(1);
    }

    /// The log has the game, under our claim.
    fn found_again(&mut self, owner: Owner) {
        self.is_missing = false;
        self.at.owner = owner;
    }

    fn is_well(&mut self) {
        self.retry_at = None;
        self.retry_pause = RETRY_FIRST;
    }

    fn failed(&mut self, error: &LogError, now: Instant) {
        // Once for all that fail in a row: a thousand games would fill a disk with what they say about one outage.
        if !std::mem::replace(&mut self.is_failing, true) {
            let error = error as &dyn std::error::Error;
            tracing::warn!(game = %self.at.owner.game, error, "a game is not saved, trying again");
        }
        metrics::inc(Counter::GameJournalAppendsFailedTotal);
        match error {
            LogError::Unavailable(_) => self.is_unsure = true,
            LogError::NotDone(_) | LogError::Corrupt { .. } => {}
        }
        self.retry_at = Some(now + self.retry_pause);
        self.retry_pause = (self.retry_pause * 2).min(RETRY_MAX);
    }

    /// When this wants to be looked at again.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        if self.flight.is_some() {
            return None;
        }
        if self.unverified.is_some() {
            // Nothing is done before the others have said what they hold, which wakes the game.
            return self.verdict().and(self.retry_at);
        }
        let is_to_assert = self.is_missing || self.is_outbid;
        let has_work = self.is_unsure || is_to_assert || self.needs_snapshot || !self.unsaved.is_empty();
        match self.retry_at {
            Some(at) if has_work => Some(at),
            // A snapshot that is due and failed waits as well.
            Some(at) => self.snapshot_due().map(|due| due.max(at)),
            None => self.snapshot_due(),
        }
    }

    /// Whether the log is there when this process has ended.
    pub(super) fn outlives_server(&self) -> bool {
        self.at.log.outlives_server()
    }

    /// Gives the game back.
    pub(super) fn release(&self) -> LogFuture<Written> {
        self.at.log.release(self.at.code, self.at.owner.claim)
    }

    /// Forgets the game.
    pub(super) fn remove(&self) -> LogFuture<Written> {
        let claim = self.at.owner.claim;
        self.at.log.remove(self.at.code, claim, Duration::ZERO)
    }
}

/// Encodes a snapshot, a large one beside the game's task.
async fn encode(state: Snapshot, version: u8) -> Result<Vec<u8>, LogError> {
    let answers: usize = state
        .state
        .players
        .iter()
        .map(|player| player.answers.len())
        .sum();
    if answers <= ANSWERS_INLINE_MAX {
        return Ok(stored::encode_snapshot(&state, version));
    }
    tokio::task::spawn_blocking(move || stored::encode_snapshot(&state, version))
        .await
        .map_err(|error| LogError::NotDone(error.into()))
}

fn count(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(super) mod tests;
