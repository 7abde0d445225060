//! Faults that are put in on purpose, one at a time, so that a test can show that a run notices each of them.
//!
//! All are made around the store: in the log that a process sees, in what the store does, in what it hands out. So the server
//! needs no seam for them, and no build of it can contain one.

use game_server::{Batch, Entry, MemoryLog, Record, RecordNumber, Stored, Written, read_journal};

use crate::store::{Ask, Said};

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// The log says "saved" when an append with an answer leaves, not when it is kept.
    AckBeforeAppend,
    /// The store takes records without looking at their numbers.
    NoNumberCheck,
    /// The store takes a snapshot that does not cover its journal.
    OlderSnapshotWins,
    /// Who restores a game applies every record found, whatever its number. The store hands out numbers that say so.
    ReplayWithoutSkipping,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::AckBeforeAppend,
        Self::NoNumberCheck,
        Self::OlderSnapshotWins,
        Self::ReplayWithoutSkipping,
    ];

    /// Its name on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AckBeforeAppend => "ack-before-append",
            Self::NoNumberCheck => "no-number-check",
            Self::OlderSnapshotWins => "older-snapshot-wins",
            Self::ReplayWithoutSkipping => "replay-without-skipping",
        }
    }

    /// Whether an append is called saved before it is.
    pub(crate) fn acks_early(self, batch: &Batch) -> bool {
        let has_answer = |batch: &Batch| {
            read_journal(batch.bytes(), batch.follows()).is_ok_and(|journal| {
                let entries = journal.records.iter().map(|record| &record.entry);
                entries
                    .into_iter()
                    .any(|entry| matches!(entry, Entry::Command(game_core::Command::Answer { .. })))
            })
        };
        self == Self::AckBeforeAppend && has_answer(batch)
    }

    /// Does what is asked in the mutated way; none when this mutation leaves it as it is.
    pub(crate) fn perform(self, log: &MemoryLog, ask: &Ask) -> Option<Said> {
        let mut written = None;
        match (self, ask) {
            (Self::NoNumberCheck, Ask::Append(code, claim, batch)) => log.tamper(*code, |stored| {
                if stored.owner.claim == *claim {
                    stored.journal.extend_from_slice(batch.bytes());
                    stored.last = stored.last.max(batch.last());
                    written = Some(Written::Saved);
                }
            }),
            (Self::OlderSnapshotWins, Ask::Snapshot(code, claim, through, snapshot)) => {
                log.tamper(*code, |stored| {
                    if stored.owner.claim == *claim {
                        stored.snapshot.clone_from(snapshot);
                        stored.journal = Vec::new();
                        (stored.through, stored.last) = (*through, *through);
                        written = Some(Written::Saved);
                    }
                })
            }
            (
                Self::AckBeforeAppend
                | Self::NoNumberCheck
                | Self::OlderSnapshotWins
                | Self::ReplayWithoutSkipping,
                _,
            ) => {}
        }
        written.map(Said::Written)
    }

    /// What the store hands out for a restore.
    pub(crate) fn shown(self, stored: Stored) -> Stored {
        match self {
            Self::AckBeforeAppend | Self::NoNumberCheck | Self::OlderSnapshotWins => stored,
            Self::ReplayWithoutSkipping => renumbered(stored),
        }
    }
}

/// The same records up to the same number, those that are there twice or are covered by the snapshot included: with numbers that
/// leave none of them out.
fn renumbered(mut stored: Stored) -> Stored {
    // Each by itself, so that none is skipped for what came before it.
    let records: Vec<Record> = frames(&stored.journal)
        .filter_map(|frame| read_journal(frame.bytes, RecordNumber(frame.number.saturating_sub(1))).ok())
        .flat_map(|journal| journal.records)
        .collect();
    let count = u64::try_from(records.len()).unwrap_or(u64::MAX);
    let Some(through) = stored.last.0.checked_sub(count) else {
        return stored;
    };
    let batch = Batch::of(RecordNumber(through), &records);
    stored.through = RecordNumber(through);
    stored.journal = batch.bytes().to_vec();
    stored
}

struct Piece<'a> {
    number: u64,
    bytes: &'a [u8],
}

/// The whole frames of a journal: length (2), number (4), record, checksum (4).
fn frames(mut bytes: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    std::iter::from_fn(move || {
        let length = u16::from_le_bytes(*bytes.first_chunk::<2>()?);
        let number = u32::from_le_bytes(*bytes.get(2..)?.first_chunk::<4>()?);
        let (frame, rest) = bytes.split_at_checked(2 + 4 + usize::from(length) + 4)?;
        bytes = rest;
        Some(Piece {
            number: u64::from(number),
            bytes: frame,
        })
    })
}
