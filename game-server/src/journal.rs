//! The journal of a game: its accepted commands with their times, in order. Replaying them gives the same game.
//!
//! A [`GameLog`] keeps, for each game, who owns it, what never changes about it, its last snapshot and the records after that. It
//! knows nothing about the rules: facts and snapshots are bytes to it, records are [`Batch`]es. Every write names the claim it
//! is made under and the number it follows, so that a server that lost a game can no longer change it and a repeated write
//! changes nothing. Who may claim a game, and when, is not decided here.

mod batch;
mod error;
mod frame;
mod memory;
mod owner;
mod record;
mod redis;
mod run;
mod sqlite;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use protocol::ids::GameCode;
use tokio::sync::watch;

pub use batch::Batch;
pub use error::LogError;
pub use frame::{FRAME_BYTES_MAX, Journal, Unreadable, read as read_journal};
pub use memory::{MemoryImage, MemoryLog, Trouble};
pub use owner::{ClaimId, Owner, ServerId};
pub use record::{DecodeError, Entry, FORMAT_VERSION, Record};
pub use redis::{RedisConfig, RedisConfigError, RedisLog};
pub use run::{StoreId, StoreRun};
pub use sqlite::{Durability, SqliteLog, SqliteLogError};

/// Number of a record in its game's journal, from 1 without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RecordNumber(pub u64);

impl RecordNumber {
    /// The number before the first record.
    pub const NONE: Self = Self(0);

    /// The number of the record after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number `count` records further.
    #[must_use]
    pub fn plus(self, count: usize) -> Self {
        Self(self.0.saturating_add(u64::try_from(count).unwrap_or(u64::MAX)))
    }
}

/// A game on its way into a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Birth {
    /// The first owner, or the one who writes its game again into a store that lost it.
    pub owner: Owner,
    /// What never changes about the game, the questions above all.
    pub facts: Vec<u8>,
    /// The whole state.
    pub snapshot: Vec<u8>,
    /// The last record that `snapshot` contains: [`RecordNumber::NONE`] for a new game.
    pub through: RecordNumber,
}

/// What became of a [`GameLog::create`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Created {
    /// The game is kept now.
    New,
    /// It was kept before, by a create with the same key. The owner may be another one by now.
    Same(Owner),
    /// Another game has the code.
    Taken(Owner),
}

/// What became of a [`GameLog::claim`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    /// The game is the claimer's, under this record.
    Yes(Owner),
    /// Somebody else claimed it since the record was read.
    Beaten(Owner),
    /// There is no such game.
    Missing,
}

/// What became of a [`GameLog::assert`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asserted {
    /// The game is kept as its owner has it, under this record.
    Yes(Owner),
    /// Somebody else claimed it in the present run of the store. Whoever gets this owns the game no longer.
    Fenced,
    /// Not kept: an older state than what its owner wrote in this run.
    Refused {
        /// The journal's last number.
        last: RecordNumber,
    },
}

/// What became of a write under a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Kept, as safely as the log can.
    Saved,
    /// Not kept: the game is under another claim, or released. Whoever gets this owns the game no longer.
    Fenced,
    /// Not kept: the log has no such game. It was removed, or the store lost its data.
    Missing,
    /// Not kept: the numbers do not follow. An append names a number past the journal's last one; a snapshot does not cover it.
    Refused {
        /// The journal's last number.
        last: RecordNumber,
    },
}

/// Where a game's journal stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Who owns the game.
    pub owner: Owner,
    /// Number of the last record kept, in the snapshot or after it.
    pub last: RecordNumber,
    /// The run of the store under which the owner was written. Another one than the present one means that the store may have lost
    /// a later owner.
    pub store: StoreId,
}

/// A game as a log keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Who owns it.
    pub owner: Owner,
    /// What never changes about it.
    pub facts: Vec<u8>,
    /// The last snapshot.
    pub snapshot: Vec<u8>,
    /// The last record that the snapshot contains.
    pub through: RecordNumber,
    /// The frames of all records after it, for [`read_journal`]. A log may leave some before it, or one twice: numbers tell.
    pub journal: Vec<u8>,
    /// Number of the last record that was appended, whether or not `journal` can be read that far.
    pub last: RecordNumber,
}

/// A call to a log in flight. It owns what it needs, so that an actor can keep it while it goes on.
pub type LogFuture<T> = Pin<Box<dyn Future<Output = Result<T, LogError>> + Send>>;

/// Where games are kept. Every call is one step: it happens as a whole or not at all.
///
/// At most one write of a game is in flight. An implementation never repeats a write by itself.
pub trait GameLog: Send + Sync + 'static {
    /// Keeps a new game with owner, facts and first snapshot, unless its code is taken. Repeated with the same key and game
    /// it answers [`Created::Same`] and changes nothing.
    fn create(&self, code: GameCode, birth: Birth) -> LogFuture<Created>;

    /// Makes `server` the owner under the new claim `claim`, with the next epoch and at least `least_epoch`, if the game's claim
    /// still is `seen`. Repeated with the same `claim` it answers as before.
    fn claim(
        &self,
        code: GameCode,
        seen: ClaimId,
        server: ServerId,
        claim: ClaimId,
        least_epoch: u32,
    ) -> LogFuture<Claimed>;

    /// Keeps a game as its living owner has it, whatever the log knew of it: for a store that lost it, or went back to a time before
    /// the owner's claim. It gets an epoch above the one kept, and at least the owner's. Fenced when the present run of the store
    /// has another claim; repeated under the same claim it keeps the later state.
    fn assert(&self, code: GameCode, birth: Birth) -> LogFuture<Asserted>;

    /// Appends records. Those whose numbers the journal has already are skipped, so that an append whose answer was lost can
    /// be repeated.
    fn append(&self, code: GameCode, claim: ClaimId, batch: Batch) -> LogFuture<Written>;

    /// Replaces the snapshot by one that contains all records up to `through`, and drops the journal. Refused unless `through`
    /// covers the journal's last number; records that were never appended count as appended.
    fn snapshot(
        &self,
        code: GameCode,
        claim: ClaimId,
        through: RecordNumber,
        snapshot: Vec<u8>,
    ) -> LogFuture<Written>;

    /// Who owns a game and where its journal stands.
    fn tail(&self, code: GameCode) -> LogFuture<Option<Tail>>;

    /// Everything about a game, of one moment.
    fn load(&self, code: GameCode) -> LogFuture<Option<Stored>>;

    /// Gives a game back: nobody owns it, it keeps its epoch, and its claim becomes [`ClaimId::NONE`].
    fn release(&self, code: GameCode, claim: ClaimId) -> LogFuture<Written>;

    /// Forgets a game after a while, which frees its code; at once when `after` is zero. Until then nothing changes.
    fn remove(&self, code: GameCode, claim: ClaimId, after: Duration) -> LogFuture<Written>;

    /// All games kept, in no order: for a server that starts, and for who looks for games that nobody serves. Without an owner when
    /// the record of one cannot be read, which says nothing about the others.
    fn games(&self) -> LogFuture<Vec<(GameCode, Option<Owner>)>>;

    /// Whether it is there when the server's process has ended, so that a later one finds what was given back.
    fn outlives_server(&self) -> bool {
        true
    }

    /// Changes whenever the log can be reached again, since it may lack data then: owners look after their games at once. Never
    /// changes for a log that is never away.
    fn runs(&self) -> watch::Receiver<StoreRun> {
        watch::channel(StoreRun::default()).1
    }

    /// This log, as long as it is reached as `run` says: through any other connection calls are certainly not done, so that a write
    /// cannot reach a store that nobody has looked at. None for a log that has one run only.
    fn bound(&self, _run: &StoreRun) -> Option<Arc<dyn GameLog>> {
        None
    }
}
