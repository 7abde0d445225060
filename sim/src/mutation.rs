//! Faults that are put in on purpose, one at a time, so that a test can show that a run notices each of them.
//!
//! All are made around the server: in the log that a process sees, in what the store does, in what it hands out, in what servers hear
//! of each other, in the proxy. So the server needs no seam for them, and no build of it can contain one.

use std::collections::BTreeMap;

use game_core::Command;
use game_server::{
    Batch, ClaimId, Claimed, Entry, GameLog as _, MemoryLog, Owner, Record, RecordNumber, ServerId, Stored,
    Written, read_journal,
};
use protocol::ids::GameCode;
use uuid::Uuid;

use crate::store::{Ask, Said, at_once};

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
    /// The store takes writes under whatever claim, as if there were no epochs.
    NoClaimCheck,
    /// The store takes writes under any claim of an epoch, as if claims had no ids, and lets two claims have one.
    NoClaimId,
    /// Servers say of every game that they do not have it, so that the owner's answer stops nobody's claim.
    ClaimWhileOwnerAnswers,
    /// Who takes a game up goes on from what it read before its claim, when it first saw who owned it.
    LoadBeforeClaim,
    /// The store adds what a server that lost the game still sends, under new numbers.
    FencedRecordsMerged,
    /// The list of games is always empty, so that nobody looks for games that nobody serves.
    NoSweep,
    /// A snapshot that the store takes holds less than it says: its state is that of the one before.
    SnapshotOfThePast,
    /// The log says "saved" when an append with the game's end leaves, so that a result leaves whose end is not kept.
    ResultBeforeAppend,
    /// The same of an append with anything that everybody is told, so that frames go without the mark.
    TellsBeforeAppend,
    /// The same of an append with a joining or a return, so that a state is not held for it.
    WelcomesBeforeAppend,
    /// A store that restarted or was taken over is called by the same name as before.
    NoRunId,
    /// The proxy goes on to ask for a game whom it remembers, though that one is gone.
    RemembersTheDead,
    /// The proxy follows every hint.
    NoHopLimit,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::AckBeforeAppend,
        Self::NoNumberCheck,
        Self::OlderSnapshotWins,
        Self::ReplayWithoutSkipping,
        Self::NoClaimCheck,
        Self::NoClaimId,
        Self::ClaimWhileOwnerAnswers,
        Self::LoadBeforeClaim,
        Self::FencedRecordsMerged,
        Self::NoSweep,
        Self::SnapshotOfThePast,
        Self::ResultBeforeAppend,
        Self::TellsBeforeAppend,
        Self::WelcomesBeforeAppend,
        Self::NoRunId,
        Self::RemembersTheDead,
        Self::NoHopLimit,
    ];

    /// Its name on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AckBeforeAppend => "ack-before-append",
            Self::NoNumberCheck => "no-number-check",
            Self::OlderSnapshotWins => "older-snapshot-wins",
            Self::ReplayWithoutSkipping => "replay-without-skipping",
            Self::NoClaimCheck => "no-claim-check",
            Self::NoClaimId => "no-claim-id",
            Self::ClaimWhileOwnerAnswers => "claim-while-owner-answers",
            Self::LoadBeforeClaim => "load-before-claim",
            Self::FencedRecordsMerged => "fenced-records-merged",
            Self::NoSweep => "no-sweep",
            Self::SnapshotOfThePast => "snapshot-of-the-past",
            Self::ResultBeforeAppend => "result-before-append",
            Self::TellsBeforeAppend => "tells-before-append",
            Self::WelcomesBeforeAppend => "welcomes-before-append",
            Self::NoRunId => "no-run-id",
            Self::RemembersTheDead => "remembers-the-dead",
            Self::NoHopLimit => "no-hop-limit",
        }
    }

    /// Whether an append is called saved before it is.
    pub(crate) fn acks_early(self, batch: &Batch) -> bool {
        let is_early: fn(&Entry) -> bool = match self {
            Self::AckBeforeAppend => |entry| matches!(entry, Entry::Command(Command::Answer { .. })),
            Self::ResultBeforeAppend => |entry| matches!(entry, Entry::Over { .. }),
            Self::TellsBeforeAppend => |entry| {
                matches!(
                    entry,
                    Entry::Command(
                        Command::Start
                            | Command::Next { .. }
                            | Command::Close { .. }
                            | Command::Skip { .. }
                            | Command::DeadlineReached { .. }
                    )
                )
            },
            Self::WelcomesBeforeAppend => |entry| matches!(entry, Entry::Command(Command::Join { .. })),
            Self::NoNumberCheck
            | Self::OlderSnapshotWins
            | Self::ReplayWithoutSkipping
            | Self::NoClaimCheck
            | Self::NoClaimId
            | Self::ClaimWhileOwnerAnswers
            | Self::LoadBeforeClaim
            | Self::FencedRecordsMerged
            | Self::NoSweep
            | Self::SnapshotOfThePast
            | Self::NoRunId
            | Self::RemembersTheDead
            | Self::NoHopLimit => return false,
        };
        read_journal(batch.bytes(), batch.follows())
            .is_ok_and(|journal| journal.records.iter().any(|record| is_early(&record.entry)))
    }

    /// Does what is asked in the mutated way; none when this mutation leaves it as it is.
    pub(crate) fn perform(self, log: &MemoryLog, epochs: &Epochs, ask: &Ask) -> Option<Said> {
        match self {
            Self::NoNumberCheck => unnumbered(log, ask),
            Self::OlderSnapshotWins => any_snapshot(log, ask),
            Self::NoClaimCheck => as_owner(log, ask, |_, _| true),
            Self::NoClaimId => {
                if let Ask::Claim(code, seen, server, claim, _) = ask {
                    claim_by_epoch(log, epochs.of(*seen)?, (*code, server, *claim))
                } else {
                    as_owner(log, ask, |claim, owner| epochs.of(claim) == Some(owner.epoch))
                }
            }
            Self::FencedRecordsMerged => merged(log, ask),
            Self::SnapshotOfThePast => past_snapshot(log, ask),
            Self::AckBeforeAppend
            | Self::ResultBeforeAppend
            | Self::TellsBeforeAppend
            | Self::WelcomesBeforeAppend
            | Self::NoRunId
            | Self::ReplayWithoutSkipping
            | Self::ClaimWhileOwnerAnswers
            | Self::LoadBeforeClaim
            | Self::NoSweep
            | Self::RemembersTheDead
            | Self::NoHopLimit => None,
        }
    }

    /// What the store hands out for a restore.
    pub(crate) fn shown(self, stored: Stored) -> Stored {
        if self == Self::ReplayWithoutSkipping {
            renumbered(stored)
        } else {
            stored
        }
    }
}

/// The epoch that each claim was made with: what a store knows that has no claim ids.
#[derive(Debug, Default)]
pub(crate) struct Epochs(BTreeMap<Uuid, u32>);

impl Epochs {
    pub(crate) fn note(&mut self, owner: &Owner) {
        self.0.insert(owner.claim.0, owner.epoch);
    }

    fn of(&self, claim: ClaimId) -> Option<u32> {
        self.0.get(&claim.0).copied()
    }
}

fn unnumbered(log: &MemoryLog, ask: &Ask) -> Option<Said> {
    let Ask::Append(code, claim, batch) = ask else {
        return None;
    };
    let mut written = None;
    log.tamper(*code, |stored| {
        if stored.owner.claim == *claim {
            stored.journal.extend_from_slice(batch.bytes());
            stored.last = stored.last.max(batch.last());
            written = Some(Written::Saved);
        }
    });
    written.map(Said::Written)
}

fn any_snapshot(log: &MemoryLog, ask: &Ask) -> Option<Said> {
    let Ask::Snapshot(code, claim, through, snapshot) = ask else {
        return None;
    };
    let mut written = None;
    log.tamper(*code, |stored| {
        if stored.owner.claim == *claim {
            stored.snapshot.clone_from(snapshot);
            stored.journal = Vec::new();
            (stored.through, stored.last) = (*through, *through);
            written = Some(Written::Saved);
        }
    });
    written.map(Said::Written)
}

/// A snapshot whose state is not taken over, only that it covers everything.
fn past_snapshot(log: &MemoryLog, ask: &Ask) -> Option<Said> {
    let Ask::Snapshot(code, claim, through, _) = ask else {
        return None;
    };
    let mut written = None;
    log.tamper(*code, |stored| {
        if stored.owner.claim == *claim && *through >= stored.last {
            stored.journal = Vec::new();
            (stored.through, stored.last) = (*through, *through);
            written = Some(Written::Saved);
        }
    });
    written.map(Said::Written)
}

/// A write as if its owner had sent it, if its claim passes.
fn as_owner(log: &MemoryLog, ask: &Ask, passes: impl FnOnce(ClaimId, &Owner) -> bool) -> Option<Said> {
    let (code, claim) = ask.claim()?;
    let owner = at_once(log.load(code))??.owner;
    if !passes(claim, &owner) {
        return None;
    }
    let written = if let Ask::Append(_, _, batch) = ask {
        log.append(code, owner.claim, batch.clone())
    } else if let Ask::Snapshot(_, _, through, snapshot) = ask {
        log.snapshot(code, owner.claim, *through, snapshot.clone())
    } else {
        return None;
    };
    at_once(written).map(Said::Written)
}

/// A claim that counts on from the epoch that was read, whoever did so meanwhile.
fn claim_by_epoch(
    log: &MemoryLog,
    seen: u32,
    (code, server, claim): (GameCode, &ServerId, ClaimId),
) -> Option<Said> {
    let mut claimed = None;
    log.tamper(code, |stored| {
        if stored.owner.epoch <= seen + 1 {
            stored.owner.server = Some(server.clone());
            (stored.owner.epoch, stored.owner.claim) = (seen + 1, claim);
            claimed = Some(Claimed::Yes(stored.owner.clone()));
        }
    });
    claimed.map(Said::Claimed)
}

/// An append of somebody who lost the game, added to what its owner has.
fn merged(log: &MemoryLog, ask: &Ask) -> Option<Said> {
    let Ask::Append(code, claim, batch) = ask else {
        return None;
    };
    let stored = at_once(log.load(*code))??;
    if stored.owner.claim == *claim {
        return None;
    }
    let records = read_journal(batch.bytes(), batch.follows()).ok()?.records;
    let batch = Batch::of(stored.last, &records);
    at_once(log.append(*code, stored.owner.claim, batch))?;
    Some(Said::Written(Written::Fenced))
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
