//! From kept bytes to a game: facts, snapshot, then the records after it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use game_core::{Game, Millis, Settings};

use super::{Snapshot, StoredError, StoredFacts, decode_facts, decode_snapshot};
use crate::convert;
use crate::facts::Facts;
use crate::journal::{Entry, Record, RecordNumber, Stored, read_journal};
use crate::timeline::Timeline;

/// A game as it was when its last readable record was saved.
#[derive(Debug)]
pub(crate) struct Restored {
    pub(crate) game: Game,
    pub(crate) facts: Facts,
    /// The game's own time of the last record.
    pub(crate) at: Millis,
    pub(crate) over_ms: Option<u64>,
    pub(crate) result_settled: bool,
    pub(crate) timeline: Timeline,
    /// Number of the last record that was appended.
    pub(crate) last: RecordNumber,
    /// Whether the journal ended before that number, so that a snapshot must come before the next append.
    pub(crate) torn: bool,
    /// Records that were appended, and acked, and are not there any longer.
    pub(crate) lost: u64,
}

/// Puts a game together. A panic is caught, so that it costs this game alone.
///
/// # Errors
/// Why the bytes are no game for this build.
pub(crate) fn restore(stored: &Stored) -> Result<Restored, StoredError> {
    // Nothing of ours outlives the closure when it panics.
    catch_unwind(AssertUnwindSafe(|| put_together(stored))).unwrap_or(Err(StoredError::Panicked))
}

fn put_together(stored: &Stored) -> Result<Restored, StoredError> {
    let facts: StoredFacts = decode_facts(&stored.facts)?;
    let mut facts = facts.facts(stored.owner.epoch);
    let snapshot = decode_snapshot(&stored.snapshot)?;
    facts.is_rewound = snapshot.is_rewound;
    let journal = read_journal(&stored.journal, stored.through).map_err(StoredError::Journal)?;
    let quiz = convert::quiz_to_core(&facts.quiz).map_err(StoredError::Quiz)?;
    let settings = Settings {
        scoring: convert::scoring_to_core(facts.settings.scoring),
        players_max: facts.players_max,
    };
    let Snapshot {
        at,
        state,
        over_ms,
        result_settled,
        is_rewound: _,
        timeline,
    } = snapshot;
    let timeline = if timeline.is_empty() {
        Timeline::new(facts.created_ms)
    } else {
        timeline
    };
    let mut restored = Restored {
        game: Game::restore(quiz, settings, state).map_err(StoredError::State)?,
        facts,
        at,
        over_ms,
        result_settled,
        timeline,
        last: stored.last.max(journal.last),
        torn: journal.torn || journal.last < stored.last,
        lost: stored.last.0.saturating_sub(journal.last.0),
    };
    let mut number = stored.through;
    for record in journal.records {
        number = number.next();
        restored.apply(number, record)?;
    }
    Ok(restored)
}

impl Restored {
    fn apply(&mut self, number: RecordNumber, record: Record) -> Result<(), StoredError> {
        self.at = self.at.max(record.at);
        match record.entry {
            Entry::Command(command) => {
                let effects = self
                    .game
                    .apply(record.at, command)
                    .map_err(|reject| StoredError::Replay {
                        number: number.0,
                        reject,
                    })?;
                self.timeline.follow(record.at, &effects);
            }
            Entry::Tick => {}
            Entry::Over { ended_ms } => self.over_ms = Some(ended_ms),
            Entry::ResultSettled => {
                self.result_settled = true;
                self.timeline.result_saved(record.at);
            }
        }
        Ok(())
    }
}
