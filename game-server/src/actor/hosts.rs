//! What hosts want. Several sockets of one host are equal: each may do everything, all see everything.

use std::sync::Arc;

use game_core::{Command, Phase, QuestionIndex, Reject};
use protocol::close;
use protocol::error::ErrorCode;
use protocol::host::HostCommand;
use protocol::player::ByeReason;
use tokio::time::Instant;

use super::Actor;
use super::mailbox::Seat;
use crate::convert;
use crate::frames::{host, player};
use crate::session::outbox::{HOST_FRAMES_MAX, Outbox};

impl Actor {
    pub(super) fn open_host(&mut self, socket: &Arc<Outbox>, screen: bool) -> Option<Seat> {
        socket.set_frames_max(HOST_FRAMES_MAX);
        if self.game.phase() == Phase::Ended {
            self.sync_host(socket);
            self.close(socket, Some(player::bye(ByeReason::Ended, None)), close::OVER);
            return None;
        }
        if !self.seats.seat_host(socket, screen) {
            self.refuse_with(socket, ErrorCode::TooMany);
            self.close(socket, None, close::TOO_MANY);
            return None;
        }
        let now = Instant::now();
        if !screen {
            self.timeline.host_came(self.millis(now));
        }
        self.lifetime.host_seen(self.seats.has_host(), now);
        self.sync_host(socket);
        Some(if screen { Seat::Screen } else { Seat::Host })
    }

    pub(super) fn host_command(&mut self, socket: &Arc<Outbox>, command: HostCommand) {
        if !self.seats.is_host(socket) {
            return;
        }
        match command {
            HostCommand::Start => self.try_for(socket, Command::Start),
            HostCommand::Next { q } => self.on_question(socket, q, |question| Command::Next { question }),
            HostCommand::Close { q } => self.on_question(socket, q, |question| Command::Close { question }),
            HostCommand::Skip { q } => self.on_question(socket, q, |question| Command::Skip { question }),
            HostCommand::End if self.game.phase() == Phase::Podium => {
                self.refuse(socket, Reject::WrongPhase, None);
            }
            HostCommand::End => self.end(),
            HostCommand::Finish if self.game.phase() == Phase::Podium => self.end(),
            HostCommand::Finish => self.refuse(socket, Reject::WrongPhase, None),
            HostCommand::Lock { on } => self.try_for(socket, Command::Lock { on }),
            HostCommand::Kick { id } => {
                self.try_for(
                    socket,
                    Command::Kick {
                        player: convert::player_to_core(id),
                    },
                );
            }
            HostCommand::Rename { id, name } => {
                self.try_for(
                    socket,
                    Command::HostRename {
                        player: convert::player_to_core(id),
                        name,
                    },
                );
            }
            // The socket is known; it asks for everything again.
            HostCommand::Host { .. } => self.sync_host(socket),
            HostCommand::Ticket => self.ticket(socket),
            // Refused or answered by the session.
            HostCommand::Screen { .. } | HostCommand::Ping => {}
        }
    }

    /// As long as the game, so that a projector can be reloaded. It names the run of the store that has the game, which may not be the present
    /// one yet: whoever shows it later is told the truth.
    fn ticket(&mut self, socket: &Arc<Outbox>) {
        let exp = self.around.ambient.expiry_s(self.around.config.total);
        let store = self.pipeline.store();
        match self.around.keys.sign_screen(self.facts.game, store, exp) {
            Ok(ticket) => socket.push(host::ticket(ticket)),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "a ticket could not be signed");
                self.refuse_with(socket, ErrorCode::Busy);
            }
        }
    }

    /// Ends the game by one step: to the podium, and from there (or from the lobby) for good.
    pub(super) fn end(&mut self) {
        // Closed by a command of its own, so that "question closed" and "game over" are two transitions with a frame each;
        // after `End` alone the game would only show the second one.
        if let Phase::Question { index, .. } = self.game.phase() {
            self.command(Command::Skip { question: index });
        }
        self.command(Command::End);
    }

    fn on_question(&mut self, socket: &Arc<Outbox>, q: u16, command: impl FnOnce(QuestionIndex) -> Command) {
        match convert::question_to_core(q) {
            Some(question) => self.try_for(socket, command(question)),
            None => self.refuse(socket, Reject::NotOpen, None),
        }
    }

    fn sync_host(&mut self, socket: &Arc<Outbox>) {
        let now = self.millis(Instant::now());
        let frame = host::sync(&self.game, &self.facts, self.pipeline.is_behind(), now);
        self.tell_one(socket, frame);
    }
}
