//! What players' sockets want: a seat, an answer counted, another name, to leave.

use std::sync::Arc;

use game_core::{Command, Effect, Reject};
use protocol::close;
use protocol::error::ErrorCode;
use protocol::ids::PlayerId;
use protocol::player::{ByeReason, PlayerCommand};
use runtime::metrics::{self, Counter};
use tokio::time::Instant;

use super::Actor;
use super::mailbox::{Seat, Want};
use crate::convert;
use crate::frames::player;
use crate::session::outbox::Outbox;
use crate::timeline::Who;
use crate::tokens::Pass;

impl Actor {
    pub(super) fn open(&mut self, socket: &Arc<Outbox>, want: Want) -> Option<Seat> {
        match want {
            Want::Join { name } => self.join(socket, name),
            Want::Resume { pass } => self.resume(socket, pass),
            Want::Host => self.open_host(socket, false),
            Want::Screen => self.open_host(socket, true),
        }
    }

    fn join(&mut self, socket: &Arc<Outbox>, name: String) -> Option<Seat> {
        let effects = match self.apply(Command::Join { name }) {
            Ok(effects) => effects,
            Err(Reject::Ended) => {
                self.refuse(socket, Reject::Ended, None);
                self.close(socket, Some(player::bye(ByeReason::Ended, None)), close::OVER);
                return None;
            }
            Err(reject) => {
                metrics::inc(Counter::GameJoinsRefusedTotal);
                self.refuse(socket, reject, None);
                return None;
            }
        };
        let joined = effects.iter().find_map(|effect| {
            if let Effect::Joined { player } = effect {
                Some(*player)
            } else {
                None
            }
        })?;
        self.seats.seat_player(joined, socket);
        self.welcome(socket, joined);
        self.show(&effects);
        Some(Seat::Player(convert::player_to_wire(joined)))
    }

    fn resume(&mut self, socket: &Arc<Outbox>, pass: Pass) -> Option<Seat> {
        let id = convert::player_to_core(pass.player);
        if !self.is_still(id, pass) {
            self.refuse_with(socket, ErrorCode::BadToken);
            self.close(socket, None, close::TOKEN);
            return None;
        }
        let effects = match self.apply(Command::Present { player: id }) {
            Ok(effects) => effects,
            Err(Reject::Ended) => return self.resume_after_end(socket, id),
            Err(Reject::PlayerKicked) => {
                self.refuse(socket, Reject::PlayerKicked, None);
                self.close(socket, Some(player::bye(ByeReason::Kicked, None)), close::KICKED);
                return None;
            }
            Err(_unknown_or_left_in_the_lobby) => {
                self.refuse_with(socket, ErrorCode::BadToken);
                self.close(socket, None, close::TOKEN);
                return None;
            }
        };
        if let Some(before) = self.seats.seat_player(id, socket) {
            self.close(
                &before,
                Some(player::bye(ByeReason::Replaced, None)),
                close::REPLACED,
            );
        }
        self.timeline.player_back(self.millis(Instant::now()));
        self.welcome(socket, id);
        self.show(&effects);
        Some(Seat::Player(pass.player))
    }

    /// Whether the player of a token is the one who has its id. A server that dies before it could save a joining takes the player
    /// with it; its id is given again, and its token must not open the seat of somebody else. Who joined under an earlier owner
    /// was in the log when the game was taken up; the time of joining tells who of several had the id then.
    fn is_still(&self, id: game_core::PlayerId, pass: Pass) -> bool {
        let is_known = pass.epoch >= self.taken_up.epoch || id.0 <= self.taken_up.players;
        let player = self.game.player(id);
        is_known && player.is_some_and(|player| player.joined_at == pass.joined_at)
    }

    /// A last look at the podium.
    fn resume_after_end(&mut self, socket: &Arc<Outbox>, id: game_core::PlayerId) -> Option<Seat> {
        match self.game.player(id) {
            Some(known) if known.kicked => {
                self.refuse(socket, Reject::PlayerKicked, None);
                self.close(socket, Some(player::bye(ByeReason::Kicked, None)), close::KICKED);
            }
            Some(_) | None => {
                self.welcome(socket, id);
                self.close(socket, Some(player::bye(ByeReason::Ended, None)), close::OVER);
            }
        }
        None
    }

    fn welcome(&mut self, socket: &Arc<Outbox>, id: game_core::PlayerId) {
        // Longer than the game, so that a token never expires in a player's hand.
        let life = self.around.config.total + self.around.config.ended_linger;
        let exp = self.around.ambient.expiry_s(life);
        let pass = Pass {
            player: convert::player_to_wire(id),
            joined_at: self.game.player(id).map_or(0, |player| player.joined_at),
            epoch: self.facts.epoch,
        };
        let store = self.pipeline.store();
        let token = self.around.keys.sign_player(self.facts.game, pass, store, exp);
        let frame = match token {
            Ok(token) => player::welcome(&self.game, &self.facts, id, token, self.millis(Instant::now())),
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "a resume token could not be signed"
                );
                None
            }
        };
        match frame {
            Some(frame) => self.tell_one(socket, frame),
            None => self.refuse_with(socket, ErrorCode::NoSuchPlayer),
        }
    }

    pub(super) fn player_command(&mut self, socket: &Arc<Outbox>, wire_id: PlayerId, command: PlayerCommand) {
        let player = convert::player_to_core(wire_id);
        if !self.seats.is_seated(player, socket) {
            // Replaced or removed while this frame was on its way; its socket has been told.
            return;
        }
        match command {
            PlayerCommand::Answer { q, choice, choices } => {
                self.answer(socket, player, q, convert::choices_to_core(choice, choices));
            }
            PlayerCommand::Rename { name } => {
                self.try_for(socket, Command::Rename { player, name });
            }
            PlayerCommand::Leave => self.try_for(socket, Command::Leave { player }),
            PlayerCommand::Resume { .. } => {
                let now = self.millis(Instant::now());
                if let Some(frame) = player::sync(&self.game, &self.facts, player, now) {
                    self.tell_one(socket, frame);
                }
            }
            PlayerCommand::Join { .. } => self.refuse_with(socket, ErrorCode::NotAllowed),
            // Answered by the session.
            PlayerCommand::Ping => {}
        }
    }

    fn answer(
        &mut self,
        socket: &Arc<Outbox>,
        player: game_core::PlayerId,
        q: u16,
        choices: Option<game_core::ChoiceSet>,
    ) {
        let Some(question) = convert::question_to_core(q) else {
            return self.refuse(socket, Reject::NotOpen, Some(q));
        };
        let Some(choices) = choices else {
            return self.refuse(socket, Reject::BadChoice, Some(q));
        };
        match self.apply(Command::Answer {
            player,
            question,
            choices,
        }) {
            Ok(effects) => self.show(&effects),
            Err(reject) => {
                metrics::inc(Counter::GameAnswersRefusedTotal);
                self.refuse(socket, reject, Some(q));
            }
        }
    }

    /// Applies a client's command; a refusal is told to that client alone.
    pub(super) fn try_for(&mut self, socket: &Arc<Outbox>, command: Command) {
        match self.apply(command) {
            Ok(effects) => self.show(&effects),
            Err(reject) => self.refuse(socket, reject, None),
        }
    }

    pub(super) fn gone(&mut self, socket: &Arc<Outbox>, seat: Seat) {
        let now = Instant::now();
        match seat {
            Seat::Player(id) => {
                let away_at = now + self.around.config.absent_grace;
                if self
                    .seats
                    .player_gone(convert::player_to_core(id), socket, away_at)
                {
                    self.timeline.lost(self.millis(now), Who::Player);
                }
            }
            Seat::Host | Seat::Screen => {
                if self.seats.is_host(socket) {
                    self.timeline.lost(self.millis(now), Who::Host);
                }
                self.seats.host_gone(socket);
                self.lifetime.host_seen(self.seats.has_host(), now);
            }
        }
    }
}
