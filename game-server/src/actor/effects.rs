//! From effects to frames: who gets what. Content comes from [`crate::frames`].

use std::sync::Arc;

use game_core::{Effect, Phase, PlayerId, QuestionIndex};
use protocol::close;
use protocol::player::ByeReason;
use runtime::metrics::{self, Counter};
use tokio::time::Instant;

use super::pipeline::Delivery;
use super::{Actor, shown_of};
use crate::frames::{host, player};
use crate::journal::Entry;
use crate::outcome;
use axum::extract::ws::Utf8Bytes;

impl Actor {
    /// Shows what a command did, in order.
    pub(super) fn show(&mut self, effects: &[Effect]) {
        if effects.is_empty() {
            return;
        }
        let now = Instant::now();
        for effect in effects {
            self.show_one(effect, now);
        }
        self.pipeline.emit(Delivery::Shown(shown_of(&self.game)), now);
    }

    fn show_one(&mut self, effect: &Effect, now: Instant) {
        match *effect {
            Effect::Joined { player } => {
                metrics::inc(Counter::GamePlayersJoinedTotal);
                self.batch.joined(player);
                self.batch.progress_changed();
            }
            Effect::Returned { player } => {
                self.batch.back(player);
                self.batch.progress_changed();
            }
            Effect::Away { player } => {
                self.batch.away(player);
                self.batch.progress_changed();
            }
            Effect::Left { player } => self.show_left(player),
            Effect::Kicked { player } => {
                self.batch.left(player);
                self.batch.progress_changed();
                self.dismiss(player, ByeReason::Kicked, close::KICKED);
            }
            Effect::Renamed { player } => {
                self.batch.renamed(player);
                if let (Some(socket), Some(frame)) = (
                    self.seats.player(player).cloned(),
                    player::renamed(&self.game, player),
                ) {
                    self.tell_one(&socket, frame);
                }
            }
            Effect::LockChanged { on } => self.tell_hosts(&host::lock(on), now),
            Effect::QuestionOpened { question } => self.show_question(question, now),
            Effect::Schedule { question, at } => self.deadline = Some((question, at)),
            Effect::AnswerAccepted {
                player,
                question,
                new,
            } => {
                self.show_ack(player, question, new, now);
            }
            Effect::QuestionClosed { .. } => self.show_closed(now),
            Effect::GameOver => self.show_over(now),
            Effect::Ended => self.show_ended(now),
        }
    }

    fn show_left(&mut self, id: PlayerId) {
        // Later than in the lobby a player who leaves keeps its place in the ranks, so the roster keeps it too.
        if self.game.phase() == Phase::Lobby {
            self.batch.left(id);
        } else {
            self.batch.away(id);
        }
        self.batch.progress_changed();
        self.dismiss(id, ByeReason::Left, close::OVER);
    }

    fn show_question(&mut self, question: QuestionIndex, now: Instant) {
        self.batch.progress_settled();
        let at = self.millis(now);
        if let Some(frame) = player::question(&self.game, question, at) {
            self.tell_players(&frame, now);
            self.tell_hosts(&frame, now);
        }
    }

    fn show_ack(&mut self, player: PlayerId, question: QuestionIndex, new: bool, now: Instant) {
        if new {
            metrics::inc(Counter::GameAnswersAcceptedTotal);
            self.batch.progress_changed();
        }
        if let Some(socket) = self.seats.player(player).cloned() {
            self.pipeline.emit(
                Delivery::Ack {
                    socket,
                    player,
                    question,
                },
                now,
            );
        }
    }

    fn show_closed(&mut self, now: Instant) {
        self.deadline = None;
        // The reveal carries the last count.
        self.batch.progress_settled();
        let results = player::results(&self.game);
        self.tell_each(results, now);
        if let Some(frame) = host::reveal(&self.game) {
            self.tell_hosts(&frame, now);
        }
    }

    fn show_over(&mut self, now: Instant) {
        self.result_comes_due(now);
        let overs = player::overs(&self.game);
        self.tell_each(overs, now);
        if let Some(frame) = host::over(&self.game) {
            self.tell_hosts(&frame, now);
        }
    }

    /// The podium is reached: notes when, so that a result that is saved again says the same.
    pub(super) fn result_comes_due(&mut self, now: Instant) {
        let ended_ms = self.around.ambient.unix_ms();
        self.over_ms = Some(ended_ms);
        let at = self.millis(now);
        self.record(at, Entry::Over { ended_ms });
        self.pipeline.want_snapshot(now);
        let result = outcome::game_result(&self.game, &self.facts, ended_ms);
        self.result = Some((self.pipeline.last(), Box::new(result)));
    }

    fn show_ended(&mut self, now: Instant) {
        self.deadline = None;
        self.lifetime.ended(now);
        let bye = player::bye(ByeReason::Ended, None);
        for socket in self.seats.take_all() {
            self.close(&socket, Some(bye.clone()), close::OVER);
        }
    }

    fn tell_each(&mut self, frames: Vec<(PlayerId, Utf8Bytes)>, now: Instant) {
        for (id, frame) in frames {
            if let Some(socket) = self.seats.player(id) {
                self.pipeline.emit(
                    Delivery::Frame {
                        socket: Arc::clone(socket),
                        frame,
                    },
                    now,
                );
            }
        }
    }

    /// Says goodbye to one player and takes its seat.
    fn dismiss(&mut self, id: PlayerId, reason: ByeReason, code: u16) {
        if let Some(socket) = self.seats.unseat_player(id) {
            self.close(&socket, Some(player::bye(reason, None)), code);
        }
    }
}
