//! The journal of a game: its accepted commands with their times, in order. Replaying them gives the same game.
//!
//! A [`GameLog`] keeps journals; the actor appends before it shows a change to anybody. Ownership (epochs, claims), snapshots
//! and takeover come with the stores that need them; a store gets whole records and knows nothing about games.

mod memory;
mod record;

use std::future::Future;
use std::pin::Pin;

use protocol::ids::GameId;
use thiserror::Error;

pub use memory::MemoryLog;
pub use record::{DecodeError, FORMAT_VERSION, Record};

/// Number of a record in its game's journal, from 1 without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

/// A call to a log in flight. It owns what it needs, so that an actor can keep it while it goes on.
pub type LogFuture<T> = Pin<Box<dyn Future<Output = Result<T, LogError>> + Send>>;

/// Where journals are kept.
pub trait GameLog: Send + Sync + 'static {
    /// Appends `records`, the first of which has the number `first`. Answered when they are kept as safely as this log can.
    /// Records whose numbers the log has already are skipped, so that an append whose answer was lost can be repeated.
    /// At most one append of a game is in flight.
    fn append(&self, game: GameId, first: RecordNumber, records: Vec<Record>) -> LogFuture<()>;

    /// All records of a game, from number 1.
    fn read(&self, game: GameId) -> LogFuture<Vec<Record>>;

    /// Forgets a game that has ended.
    fn remove(&self, game: GameId) -> LogFuture<()>;
}

/// Why a log did not do what was asked.
#[derive(Debug, Error)]
pub enum LogError {
    /// It cannot be reached or did not answer; whether an append was kept is unknown. Repeat it.
    #[error("the journal's store is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The numbers do not follow: records in between are missing.
    #[error("the journal ends at record {}; record {} cannot follow", last.0, first.0)]
    Gap {
        /// Last record kept.
        last: RecordNumber,
        /// First record of the append.
        first: RecordNumber,
    },
    /// The journal outgrew the log and was given up.
    #[error("the journal outgrew its bound of {bytes_max} bytes")]
    Outgrown {
        /// The bound.
        bytes_max: usize,
    },
    /// A kept record cannot be read.
    #[error("record {} cannot be read", number.0)]
    Unreadable {
        /// Which one.
        number: RecordNumber,
        /// Why.
        #[source]
        source: DecodeError,
    },
}
