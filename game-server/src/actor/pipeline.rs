//! Append-first: what a change shows to clients waits until the change is in the journal, for a while.
//!
//! Records go to the log through the [`writer`]. Deliveries leave in the order they were made, each when the last record before
//! it is saved. A log that keeps them waiting for too long is "behind": then all leave at once and marked, acks say
//! `saved:false`, and say `saved:true` again when the log has caught up.

mod writer;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use game_core::{PlayerId, QuestionIndex};
use protocol::close;
use runtime::metrics::{self, Counter};
use tokio::time::Instant;

use super::mailbox::{Shown, ShownCell};
use super::seats::bye_moved;
use crate::ambient::Ambient;
use crate::frames::{mark_unsaved, player};
use crate::journal::{LogError, LogFuture, Record, RecordNumber, StoreId, Written};
use crate::session::outbox::Outbox;
use crate::stored::Snapshot;
pub use writer::JOURNAL_BYTES_MAX;
pub(crate) use writer::Ownership;
use writer::{Reply, Settled, Writer};

/// Deliveries that may be held: 32 frames for everybody in the largest room. Past it nothing is held any longer.
const HELD_MAX: usize = 16_384;
/// How long a game that doubts tells nothing; then it tells and marks.
const DOUBT_MAX: Duration = Duration::from_secs(1);

/// Something on its way to clients.
#[derive(Debug)]
pub(super) enum Delivery {
    /// A frame to one socket.
    Frame { socket: Arc<Outbox>, frame: Utf8Bytes },
    /// An ack, which says whether its answer is saved.
    Ack {
        socket: Arc<Outbox>,
        player: PlayerId,
        question: QuestionIndex,
    },
    /// The end of a socket, after a last frame.
    Close {
        socket: Arc<Outbox>,
        last: Option<Utf8Bytes>,
        code: u16,
    },
    /// What everybody may see at a glance.
    Shown(Shown),
}

/// The log's answer to a write.
pub(super) type Answer = Result<Reply, LogError>;

/// What the actor has to tell after an append was answered or patience ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// Storage fell behind (`true`) or caught up (`false`).
    pub(super) behind: Option<bool>,
    /// Answers that were acked as unsaved and are saved now.
    pub(super) saved_answers: Vec<(PlayerId, QuestionIndex)>,
    /// The game is another server's now: no further word to anybody but "moved".
    pub(super) is_fenced: bool,
}

pub(super) struct Pipeline {
    writer: Writer,
    shown: Arc<ShownCell>,
    patience: Duration,
    ambient: Ambient,
    held: VecDeque<Held>,
    behind: bool,
    /// Until when a game whose owner may be another one tells nothing; gone when its owner record was looked at.
    doubt_until: Option<Instant>,
    unsaved_acks: BTreeMap<(PlayerId, QuestionIndex), RecordNumber>,
}

struct Held {
    after: RecordNumber,
    since: Instant,
    delivery: Delivery,
}

impl Pipeline {
    /// `last` and `torn` are as in [`Writer::new`].
    pub(super) fn new(
        ownership: Ownership,
        last: RecordNumber,
        torn: bool,
        shown: Arc<ShownCell>,
        patience: Duration,
        ambient: Ambient,
    ) -> Self {
        let now = Instant::now();
        let writer = Writer::new(ownership, last, torn, now);
        Self {
            doubt_until: writer.is_unverified().then_some(now + patience),
            writer,
            shown,
            patience,
            ambient,
            held: VecDeque::new(),
            behind: false,
            unsaved_acks: BTreeMap::new(),
        }
    }

    /// Takes a record.
    pub(super) fn record(&mut self, record: &Record) {
        self.writer.record(record);
    }

    /// Number of the last record made.
    pub(super) fn last(&self) -> RecordNumber {
        self.writer.last()
    }

    /// Whether this record and all before it are saved.
    pub(super) fn is_saved(&self, number: RecordNumber) -> bool {
        number <= self.writer.saved()
    }

    /// The same, and the game is certainly this server's.
    pub(super) fn is_certain(&self, number: RecordNumber) -> bool {
        self.doubt_until.is_none() && self.is_saved(number)
    }

    /// There is a reason to doubt that the game is this server's: the owner record is looked at before anything else, and nothing is
    /// told until then, or for a second; `at_once` it is told and marked.
    pub(super) fn doubt(&mut self, now: Instant, at_once: bool) {
        self.writer.doubt(now, !at_once);
        let until = if at_once { now } else { now + DOUBT_MAX };
        self.doubt_until = Some(self.doubt_until.map_or(until, |before| before.min(until)));
    }

    /// Somebody has reserved an epoch above this owner's at the API: if the game is still this server's, it gets one above that.
    pub(super) fn outbid(&mut self, now: Instant) {
        self.writer.outbid(now);
    }

    /// Whether every record is saved.
    pub(super) fn is_settled(&self) -> bool {
        self.is_saved(self.last())
    }

    /// Whether a write is in flight.
    #[cfg(test)]
    pub(super) fn is_writing(&self) -> bool {
        self.writer.is_writing()
    }

    /// Whether the log has everything, as far as this server can know, and nothing is to be written first.
    pub(super) fn is_kept(&self) -> bool {
        self.is_settled() && !self.writer.has_to_write()
    }

    /// Whether storage is behind.
    pub(super) fn is_behind(&self) -> bool {
        self.behind
    }

    /// The run of the store that has the game.
    pub(super) fn store(&self) -> &StoreId {
        self.writer.store()
    }

    /// Where the owner's epoch is shown.
    pub(super) fn shown(&self) -> Arc<ShownCell> {
        Arc::clone(&self.shown)
    }

    /// The owner's epoch.
    pub(super) fn epoch(&self) -> u32 {
        self.writer.epoch()
    }

    /// Asks for a snapshot soon.
    pub(super) fn want_snapshot(&mut self, now: Instant) {
        self.writer.want_snapshot(now);
    }

    /// Asks for a snapshot before anything else.
    pub(super) fn need_snapshot(&mut self) {
        self.writer.need_snapshot();
    }

    /// Sends a delivery on its way: now, or when all records so far are saved.
    pub(super) fn emit(&mut self, delivery: Delivery, now: Instant) {
        let after = self.last();
        if self.behind || self.is_certain(after) {
            self.deliver(delivery, after);
        } else {
            self.held.push_back(Held {
                after,
                since: now,
                delivery,
            });
        }
    }

    /// Starts a write when there is something to write and none is in flight.
    pub(super) fn start_write(&mut self, now: Instant, state: impl FnOnce() -> Snapshot) {
        self.writer.look();
        self.suspect(now);
        self.writer.start(now, state);
    }

    /// Is certain of nothing while the store changed: what was saved may be lost until it is written again. What has waited for the store
    /// before waits no longer for that.
    fn suspect(&mut self, now: Instant) {
        if self.writer.is_unverified() && self.doubt_until.is_none() {
            let since = self.held.front().map_or(now, |held| held.since);
            self.doubt_until = Some(since + self.patience);
        }
    }

    /// Waits for the write in flight; for ever when there is none.
    pub(super) async fn answered(&mut self) -> Answer {
        self.writer.answered().await
    }

    /// Takes the answer of [`Pipeline::answered`].
    pub(super) fn settle(&mut self, answer: Answer, now: Instant) -> Change {
        let settled = self.writer.settle(answer, now);
        self.shown.set_epoch(self.writer.epoch());
        self.suspect(now);
        let is_resolved =
            self.doubt_until.is_some() && !self.writer.is_unsure() && !self.writer.is_unverified();
        if is_resolved {
            self.doubt_until = None;
        }
        match settled {
            // What is told is held back for want of certainty alone.
            Settled::Failed if is_resolved => self.release(),
            Settled::Saved => self.release(),
            Settled::Failed => {
                if self.behind {
                    // Clients have seen changes that no append may bring back in time: once the log is back it gets all.
                    self.writer.need_snapshot();
                }
                Change::default()
            }
            Settled::Fenced => {
                metrics::inc(Counter::GamesFencedTotal);
                self.abandon();
                Change {
                    is_fenced: true,
                    ..Change::default()
                }
            }
        }
    }

    /// Lets go of what has waited for too long.
    pub(super) fn check_patience(&mut self, now: Instant) -> Change {
        let is_over = self.patience_ends().is_some_and(|end| end <= now);
        if !is_over && self.held.len() <= HELD_MAX {
            return Change::default();
        }
        self.behind = true;
        metrics::inc(Counter::GameJournalBehindTotal);
        while let Some(held) = self.held.pop_front() {
            self.deliver(held.delivery, held.after);
        }
        Change {
            behind: Some(true),
            ..Change::default()
        }
    }

    /// When this wants to be looked at again.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        [self.patience_ends(), self.writer.next_wake()]
            .into_iter()
            .flatten()
            .min()
    }

    /// When what waits to be told has waited for too long.
    fn patience_ends(&self) -> Option<Instant> {
        let oldest = self.held.front()?;
        Some(self.doubt_until.unwrap_or(oldest.since + self.patience))
    }

    /// Forgets what waits to be told. Who was to be sent away is sent to look for the game elsewhere.
    pub(super) fn abandon(&mut self) {
        self.unsaved_acks = BTreeMap::new();
        for held in std::mem::take(&mut self.held) {
            if let Delivery::Close { socket, .. } = held.delivery {
                socket.close(Some(bye_moved(&self.ambient)), close::MOVED);
            }
        }
    }

    /// Whether what the log has is there for other servers when this process has ended.
    pub(super) fn outlives_server(&self) -> bool {
        self.writer.outlives_server()
    }

    /// Gives the game back to the log.
    pub(super) fn give_back(&self) -> LogFuture<Written> {
        self.writer.release()
    }

    /// The log did not have it when it was given back.
    pub(super) fn is_lost(&mut self) {
        self.writer.lost();
    }

    /// Makes the log forget the game.
    pub(super) fn forget_game(&self) -> LogFuture<Written> {
        self.writer.remove()
    }

    /// Delivers what is saved by now.
    fn release(&mut self) -> Change {
        if self.doubt_until.is_some() {
            return Change::default();
        }
        let saved = self.writer.saved();
        while let Some(held) = self.held.pop_front_if(|held| held.after <= saved) {
            self.deliver(held.delivery, held.after);
        }
        let mut change = Change::default();
        self.unsaved_acks.retain(|key, number| {
            let is_saved = *number <= saved;
            if is_saved {
                change.saved_answers.push(*key);
            }
            !is_saved
        });
        if self.behind && self.is_settled() {
            self.behind = false;
            change.behind = Some(false);
        }
        change
    }

    fn deliver(&mut self, delivery: Delivery, after: RecordNumber) {
        let saved = self.is_certain(after);
        match delivery {
            Delivery::Frame { socket, frame } if saved => socket.push(frame),
            Delivery::Frame { socket, frame } => socket.push(mark_unsaved(&frame)),
            Delivery::Ack {
                socket,
                player,
                question,
            } => {
                if !saved {
                    self.unsaved_acks.entry((player, question)).or_insert(after);
                }
                socket.push(player::ack(question, saved));
            }
            Delivery::Close { socket, last, code } => {
                let marked = |last: Utf8Bytes| if saved { last } else { mark_unsaved(&last) };
                socket.close(last.map(marked), code);
            }
            Delivery::Shown(shown) => self.shown.set(shown),
        }
    }
}

#[cfg(test)]
mod tests;
