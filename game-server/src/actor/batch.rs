//! News for the host that may wait a little: roster changes at most ten times a second, progress at most four times.
//!
//! The first change after a quiet time leaves at once.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use game_core::{Game, PlayerId};
use protocol::host::HostFrame;
use tokio::time::Instant;

use crate::convert;
use crate::frames::{encode, host};

/// Time between two roster frames.
const ROSTER_PAUSE: Duration = Duration::from_millis(100);
/// Time between two progress frames.
const PROGRESS_PAUSE: Duration = Duration::from_millis(250);

/// Changes since the last roster frame, and whether progress changed. Bounded by the players of the game.
#[derive(Debug)]
pub(super) struct Batch {
    joined: BTreeSet<PlayerId>,
    renamed: BTreeSet<PlayerId>,
    away: BTreeSet<PlayerId>,
    back: BTreeSet<PlayerId>,
    left: BTreeSet<PlayerId>,
    roster_from: Instant,
    progress_changed: bool,
    progress_from: Instant,
}

impl Batch {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            joined: BTreeSet::new(),
            renamed: BTreeSet::new(),
            away: BTreeSet::new(),
            back: BTreeSet::new(),
            left: BTreeSet::new(),
            roster_from: now,
            progress_changed: false,
            progress_from: now,
        }
    }

    pub(super) fn joined(&mut self, id: PlayerId) {
        self.joined.insert(id);
    }

    pub(super) fn renamed(&mut self, id: PlayerId) {
        // The entry of a new player carries its name and presence as of the frame.
        if !self.joined.contains(&id) {
            self.renamed.insert(id);
        }
    }

    pub(super) fn away(&mut self, id: PlayerId) {
        self.back.remove(&id);
        if !self.joined.contains(&id) {
            self.away.insert(id);
        }
    }

    pub(super) fn back(&mut self, id: PlayerId) {
        self.away.remove(&id);
        if !self.joined.contains(&id) {
            self.back.insert(id);
        }
    }

    pub(super) fn left(&mut self, id: PlayerId) {
        self.renamed.remove(&id);
        self.away.remove(&id);
        self.back.remove(&id);
        if !self.joined.remove(&id) {
            self.left.insert(id);
        }
    }

    pub(super) fn progress_changed(&mut self) {
        self.progress_changed = true;
    }

    /// A question opened or closed; that frame says it all.
    pub(super) fn progress_settled(&mut self) {
        self.progress_changed = false;
    }

    /// When a frame is due.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        let roster = self.has_roster().then_some(self.roster_from);
        let progress = self.progress_changed.then_some(self.progress_from);
        [roster, progress].into_iter().flatten().min()
    }

    /// The frames that are due.
    pub(super) fn take_due(&mut self, game: &Game, now: Instant) -> impl Iterator<Item = Utf8Bytes> + use<> {
        let roster = (self.has_roster() && self.roster_from <= now).then(|| {
            self.roster_from = now + ROSTER_PAUSE;
            self.take_roster(game)
        });
        let progress = (self.progress_changed && self.progress_from <= now)
            .then(|| {
                self.progress_from = now + PROGRESS_PAUSE;
                self.progress_changed = false;
                host::progress(game)
            })
            .flatten();
        [roster, progress].into_iter().flatten()
    }

    fn has_roster(&self) -> bool {
        [&self.joined, &self.renamed, &self.away, &self.back, &self.left]
            .iter()
            .any(|set| !set.is_empty())
    }

    fn take_roster(&mut self, game: &Game) -> Utf8Bytes {
        let entries = |ids: &mut BTreeSet<PlayerId>| {
            std::mem::take(ids)
                .into_iter()
                .filter_map(|id| game.player(id))
                .map(host::roster_entry)
                .collect()
        };
        let ids = |ids: &mut BTreeSet<PlayerId>| {
            std::mem::take(ids)
                .into_iter()
                .map(convert::player_to_wire)
                .collect()
        };
        encode(&HostFrame::Roster {
            joined: entries(&mut self.joined),
            renamed: entries(&mut self.renamed),
            away: ids(&mut self.away),
            back: ids(&mut self.back),
            left: ids(&mut self.left),
        })
    }
}
