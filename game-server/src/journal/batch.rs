//! Records in a row on their way to a log, framed once.

use super::{Record, RecordNumber, frame};

/// Records in a row, numbered and framed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    follows: RecordNumber,
    bytes: Vec<u8>,
    /// Where each record ends in `bytes`.
    ends: Vec<usize>,
}

impl Batch {
    /// No records, after the one with the number `follows`.
    #[must_use]
    pub fn new(follows: RecordNumber) -> Self {
        Self {
            follows,
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The records given, after the one with the number `follows`.
    #[must_use]
    pub fn of<'a>(follows: RecordNumber, records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut batch = Self::new(follows);
        for record in records {
            batch.push(record);
        }
        batch
    }

    /// Adds a record.
    pub fn push(&mut self, record: &Record) {
        let number = self.last().next();
        frame::write(&mut self.bytes, number, record);
        self.ends.push(self.bytes.len());
    }

    /// The number before the first record.
    #[must_use]
    pub fn follows(&self) -> RecordNumber {
        self.follows
    }

    /// The number of the last record.
    #[must_use]
    pub fn last(&self) -> RecordNumber {
        self.follows.plus(self.ends.len())
    }

    /// How many records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The frames.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes away the records up to `through`; nothing happens when that is before the first one.
    pub fn forget(&mut self, through: RecordNumber) {
        let ahead = through.0.saturating_sub(self.follows.0);
        let count = usize::try_from(ahead).unwrap_or(usize::MAX).min(self.ends.len());
        let Some(cut) = count.checked_sub(1).and_then(|last| self.ends.get(last)).copied() else {
            return;
        };
        self.bytes.drain(..cut);
        self.ends.drain(..count);
        for end in &mut self.ends {
            *end -= cut;
        }
        self.follows = self.follows.plus(count);
    }

    /// What of it a journal that ends at `last` lacks; none when records in between are missing.
    #[must_use]
    pub fn after(mut self, last: RecordNumber) -> Option<Self> {
        if self.follows > last {
            return None;
        }
        self.forget(last);
        Some(self)
    }
}
