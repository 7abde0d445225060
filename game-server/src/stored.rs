//! What of a game is kept as bytes: its facts, once, and snapshots of its state. Where the bytes lie is the journal's business.
//!
//! Both are a version of one byte and then JSON under gzip. Fields may be added under the same version: an older build ignores
//! what it does not know, so that the previous release can read what this one writes. Any other change raises the version,
//! which an older build refuses before it claims the game.

mod facts;
mod gzip;
mod replay;
mod snapshot;
mod version;

use thiserror::Error;

pub(crate) use facts::{StoredFacts, decode as decode_facts, encode as encode_facts};
pub(crate) use replay::{Restored, restore};
pub(crate) use snapshot::{Snapshot, decode as decode_snapshot, encode as encode_snapshot};
pub(crate) use version::{NEWEST as SNAPSHOT_VERSION, WriteVersion};

/// Why kept bytes are no game for this build. They stay as they are.
#[derive(Debug, Error)]
pub(crate) enum StoredError {
    /// Written by a newer build.
    #[error("the {what} has format version {found}; this build reads {known}")]
    UnknownVersion {
        what: &'static str,
        found: u8,
        known: u8,
    },
    /// Empty, not gzip, not JSON, or larger than anything that is ever written.
    #[error("the {what} is damaged")]
    Damaged {
        what: &'static str,
        #[source]
        source: std::io::Error,
    },
    /// The questions cannot be played.
    #[error("the questions cannot be played")]
    Quiz(#[source] game_core::QuizError),
    /// The values are no game.
    #[error("the snapshot is no game")]
    State(#[source] game_core::StateError),
    /// A record cannot be read.
    #[error("the journal cannot be read")]
    Journal(#[source] crate::journal::Unreadable),
    /// A record was accepted once and is refused now.
    #[error("record {number} is refused")]
    Replay {
        number: u64,
        #[source]
        reject: game_core::Reject,
    },
    /// Replaying the journal panicked.
    #[error("replaying the journal panicked")]
    Panicked,
}

#[cfg(test)]
mod tests;
