//! Which run of a store keeps the games, and by which connection it is reached.
//!
//! A store that restarts, or a replica that takes over, may know less than what was answered before. Owner records name the run
//! under which they were written, so that a record from before can be told from one that holds.

use std::fmt;

/// Tells one run of a store from the next. It changes whenever data may be missing; a log that keeps all for as long as it lives
/// has one for ever.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct StoreId(String);

impl StoreId {
    /// As a log names it.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Eight characters that tell it from others, for tokens.
    #[must_use]
    pub(crate) fn mark(&self) -> String {
        format!("{:08x}", crc32fast::hash(self.0.as_bytes()))
    }

    /// As it is written into owner records.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A run of a store as one connection shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreRun {
    /// Connections so far; each may have missed something.
    pub connection: u64,
    /// The run at its other end.
    pub store: StoreId,
}
