//! Append-first: what a change shows to clients waits until the change is in the journal, for a while.
//!
//! Records queue up here and go to the log in natural groups: one append is in flight, and everything that came meanwhile
//! goes with the next one. Deliveries leave in the order they were made, each when the last record before it is saved. A log
//! that keeps them waiting for too long is "behind": then all leave at once, acks say `saved:false`, and say `saved:true` again
//! when the log has caught up.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use game_core::{PlayerId, QuestionIndex};
use protocol::ids::GameId;
use runtime::metrics::{self, Counter, Histogram};
use tokio::time::Instant;

use super::mailbox::{Shown, ShownCell};
use crate::frames::player;
use crate::journal::{GameLog, LogError, LogFuture, Record, RecordNumber};
use crate::session::outbox::Outbox;

/// Records that may wait for a log: a room of 500 that answers 100 questions. Past it the journal of this game is given up,
/// the class goes on.
const UNSAVED_MAX: usize = 65_536;
/// Deliveries that may be held: 32 frames for everybody in the largest room. Past it nothing is held any longer.
const HELD_MAX: usize = 16_384;
/// First and longest pause before a failed append is repeated.
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_MAX: Duration = Duration::from_secs(5);

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

/// What the actor has to tell after an append was answered or patience ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// Storage fell behind (`true`) or caught up (`false`).
    pub(super) behind: Option<bool>,
    /// Answers that were acked as unsaved and are saved now.
    pub(super) saved_answers: Vec<(PlayerId, QuestionIndex)>,
}

pub(super) struct Pipeline {
    log: Arc<dyn GameLog>,
    game: GameId,
    shown: Arc<ShownCell>,
    patience: Duration,
    /// Records made and not known to be saved; the first one has the number after `saved`.
    unsaved: VecDeque<Record>,
    last: RecordNumber,
    saved: RecordNumber,
    in_flight: Option<InFlight>,
    retry_at: Option<Instant>,
    retry_pause: Duration,
    held: VecDeque<Held>,
    behind: bool,
    given_up: bool,
    unsaved_acks: BTreeMap<(PlayerId, QuestionIndex), RecordNumber>,
}

struct InFlight {
    through: RecordNumber,
    since: Instant,
    answer: LogFuture<()>,
}

struct Held {
    after: RecordNumber,
    since: Instant,
    delivery: Delivery,
}

impl Pipeline {
    pub(super) fn new(
        log: Arc<dyn GameLog>,
        game: GameId,
        shown: Arc<ShownCell>,
        patience: Duration,
    ) -> Self {
        Self {
            log,
            game,
            shown,
            patience,
            unsaved: VecDeque::new(),
            last: RecordNumber::NONE,
            saved: RecordNumber::NONE,
            in_flight: None,
            retry_at: None,
            retry_pause: RETRY_FIRST,
            held: VecDeque::new(),
            behind: false,
            given_up: false,
            unsaved_acks: BTreeMap::new(),
        }
    }

    /// Takes an accepted command.
    pub(super) fn record(&mut self, record: Record) {
        self.last = self.last.next();
        if self.given_up {
            return;
        }
        if self.unsaved.len() >= UNSAVED_MAX {
            tracing::error!(game = %self.game, "the journal's store is away for too long: journal given up");
            metrics::inc(Counter::GameJournalsGivenUpTotal);
            self.given_up = true;
            self.unsaved = VecDeque::new();
            return;
        }
        self.unsaved.push_back(record);
    }

    /// Number of the last record made.
    pub(super) fn last(&self) -> RecordNumber {
        self.last
    }

    /// Number of the last record that is saved.
    #[cfg(test)]
    pub(super) fn last_saved(&self) -> RecordNumber {
        self.saved
    }

    /// Whether this record and all before it are saved.
    pub(super) fn is_saved(&self, number: RecordNumber) -> bool {
        number <= self.saved
    }

    /// Whether an append is in flight.
    pub(super) fn is_appending(&self) -> bool {
        self.in_flight.is_some()
    }

    /// Whether storage is behind.
    pub(super) fn is_behind(&self) -> bool {
        self.behind
    }

    /// Sends a delivery on its way: now, or when all records so far are saved.
    pub(super) fn emit(&mut self, delivery: Delivery, now: Instant) {
        if self.behind || self.saved == self.last {
            self.deliver(delivery, self.last);
        } else {
            self.held.push_back(Held {
                after: self.last,
                since: now,
                delivery,
            });
        }
    }

    /// Starts an append when there is something to append and none is in flight.
    pub(super) fn start_append(&mut self, now: Instant) {
        let waits = self.retry_at.is_some_and(|at| at > now);
        if self.in_flight.is_some() || self.unsaved.is_empty() || waits {
            return;
        }
        let records: Vec<Record> = self.unsaved.iter().cloned().collect();
        let through = self.saved.plus(records.len());
        let answer = self.log.append(self.game, self.saved.next(), records);
        self.in_flight = Some(InFlight {
            through,
            since: now,
            answer,
        });
    }

    /// Waits for the append in flight; for ever when there is none.
    pub(super) async fn appended(&mut self) -> Result<(), LogError> {
        match &mut self.in_flight {
            Some(in_flight) => in_flight.answer.as_mut().await,
            None => std::future::pending().await,
        }
    }

    /// Takes the answer of [`Pipeline::appended`].
    pub(super) fn settle(&mut self, answer: Result<(), LogError>, now: Instant) -> Change {
        let Some(in_flight) = self.in_flight.take() else {
            return Change::default();
        };
        metrics::record(Histogram::GameJournalAppendSeconds, now - in_flight.since);
        match answer {
            Ok(()) => {
                self.retry_at = None;
                self.retry_pause = RETRY_FIRST;
                self.advance(in_flight.through)
            }
            Err(error) => {
                let pause_ms = self.retry_pause.as_millis();
                tracing::warn!(game = %self.game, error = &error as &dyn std::error::Error, pause_ms, "append failed");
                metrics::inc(Counter::GameJournalAppendsFailedTotal);
                self.retry_at = Some(now + self.retry_pause);
                self.retry_pause = (self.retry_pause * 2).min(RETRY_MAX);
                Change::default()
            }
        }
    }

    /// Lets go of what has waited for too long.
    pub(super) fn check_patience(&mut self, now: Instant) -> Change {
        let is_over = self
            .held
            .front()
            .is_some_and(|held| held.since + self.patience <= now);
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
            saved_answers: Vec::new(),
        }
    }

    /// When this wants to be looked at again.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        let patience = self.held.front().map(|held| held.since + self.patience);
        let retry = self
            .retry_at
            .filter(|_| self.in_flight.is_none() && !self.unsaved.is_empty());
        [patience, retry].into_iter().flatten().min()
    }

    fn advance(&mut self, through: RecordNumber) -> Change {
        while self.saved < through {
            self.saved = self.saved.next();
            self.unsaved.pop_front();
        }
        while let Some(held) = self.held.pop_front_if(|held| held.after <= through) {
            self.deliver(held.delivery, held.after);
        }
        let mut change = Change::default();
        self.unsaved_acks.retain(|key, number| {
            let is_saved = *number <= through;
            if is_saved {
                change.saved_answers.push(*key);
            }
            !is_saved
        });
        if self.behind && self.saved == self.last {
            self.behind = false;
            change.behind = Some(false);
        }
        change
    }

    fn deliver(&mut self, delivery: Delivery, after: RecordNumber) {
        match delivery {
            Delivery::Frame { socket, frame } => socket.push(frame),
            Delivery::Ack {
                socket,
                player,
                question,
            } => {
                let saved = self.is_saved(after);
                if !saved {
                    self.unsaved_acks.entry((player, question)).or_insert(after);
                }
                socket.push(player::ack(question, saved));
            }
            Delivery::Close { socket, last, code } => socket.close(last, code),
            Delivery::Shown(shown) => self.shown.set(shown),
        }
    }
}
