//! Why a log did not do what was asked.

use thiserror::Error;

/// A cause, whatever the store's library calls it.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a log did not do what was asked. Refusals that belong to the contract are answers, not errors.
#[derive(Debug, Error)]
pub enum LogError {
    /// It cannot be reached or did not answer; whether a write was kept is unknown. Read the tail and repeat.
    #[error("the journal's store is not available")]
    Unavailable(#[source] Cause),
    /// It said no, and a write was certainly not kept: out of memory, read-only, too many calls waiting. Repeat later.
    #[error("the journal's store refused")]
    NotDone(#[source] Cause),
    /// What it keeps cannot be read: written by a newer release, or damaged.
    #[error("the journal's store holds {what} that cannot be read")]
    Corrupt {
        /// What it is about.
        what: &'static str,
    },
}
