//! A seated socket: frames in, frames out, pings, silence.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use protocol::close;
use protocol::error::ErrorCode;
use protocol::host::HostCommand;
use protocol::ids::PlayerId;
use protocol::player::PlayerCommand;
use tokio::time::{Instant, sleep_until};

use super::parse::{self, Parsed};
use super::transport::Incoming;
use super::{Closing, Session};
use crate::actor::mailbox::{GameHandle, Message, Seat, SendError};
use crate::frames::player;

impl Session {
    pub(super) async fn serve(&mut self, game: &GameHandle, seat: Seat) -> Closing {
        let outbox = Arc::clone(&self.outbox);
        let timer = sleep_until(self.next_look());
        tokio::pin!(timer);
        loop {
            tokio::select! {
                biased;
                () = outbox.changed() => {
                    if let Some(closing) = self.drain().await {
                        return closing;
                    }
                }
                read = self.socket.recv() => match self.judge(read, Some(seat)) {
                    Incoming::Text(text) => self.pass_on(&text, game, seat),
                    Incoming::Nothing => {}
                    Incoming::End(closing) => return closing,
                },
                () = timer.as_mut() => {
                    if let Err(closing) = self.look().await {
                        return closing;
                    }
                    timer.as_mut().reset(self.next_look());
                }
            }
        }
    }

    /// The one timer of a session serves pings and silence; it is set again when it has fired, not at every frame.
    fn next_look(&self) -> Instant {
        self.ping_at.min(self.heard + self.server.config.silence)
    }

    async fn look(&mut self) -> Result<(), Closing> {
        let now = Instant::now();
        if self.heard + self.server.config.silence <= now {
            return Err(Closing::code(close::SLOW));
        }
        if self.ping_at <= now {
            self.ping_at = now + self.server.config.ping;
            self.ping().await?;
        }
        Ok(())
    }

    fn pass_on(&self, text: &Utf8Bytes, game: &GameHandle, seat: Seat) {
        match seat {
            Seat::Player(player) => {
                if let Some(command) = self.allowed(parse::player(text)) {
                    self.player_command(player, command, game);
                }
            }
            Seat::Host => {
                if let Some(command) = self.allowed(parse::host(text)) {
                    self.host_command(command, game);
                }
            }
            Seat::Screen => match self.allowed(parse::host(text)) {
                None => {}
                Some(HostCommand::Ping) => self.pong(game),
                Some(_) => self.refuse(ErrorCode::NotAllowed),
            },
        }
    }

    fn allowed<T>(&self, parsed: Parsed<T>) -> Option<T> {
        match parsed {
            Parsed::Frame(frame) => return Some(frame),
            Parsed::Unknown => {}
            Parsed::NotAllowed => self.refuse(ErrorCode::NotAllowed),
            Parsed::Malformed => self.refuse(ErrorCode::Malformed),
        }
        None
    }

    fn player_command(&self, player: PlayerId, command: PlayerCommand, game: &GameHandle) {
        let q = match &command {
            PlayerCommand::Ping => return self.pong(game),
            PlayerCommand::Answer { q, .. } => Some(*q),
            PlayerCommand::Join { .. }
            | PlayerCommand::Resume { .. }
            | PlayerCommand::Rename { .. }
            | PlayerCommand::Leave => None,
        };
        self.send(
            game,
            Message::Player {
                socket: Arc::clone(&self.outbox),
                player,
                command,
            },
            q,
        );
    }

    fn host_command(&self, command: HostCommand, game: &GameHandle) {
        match command {
            HostCommand::Ping => self.pong(game),
            HostCommand::Screen { .. } => self.refuse(ErrorCode::NotAllowed),
            HostCommand::Host { .. }
            | HostCommand::Start
            | HostCommand::Next { .. }
            | HostCommand::Close { .. }
            | HostCommand::Skip { .. }
            | HostCommand::End
            | HostCommand::Finish
            | HostCommand::Lock { .. }
            | HostCommand::Kick { .. }
            | HostCommand::Rename { .. }
            | HostCommand::Ticket => {
                self.send(
                    game,
                    Message::Host {
                        socket: Arc::clone(&self.outbox),
                        command,
                    },
                    None,
                );
            }
        }
    }

    fn send(&self, game: &GameHandle, message: Message, q: Option<u16>) {
        match game.try_send(message) {
            Ok(()) => {}
            Err(SendError::Busy) => self.busy(q),
            // The game closes the outboxes of all its sockets as it goes; the next look at ours tells.
            Err(SendError::Stopped) => {}
        }
    }

    /// By way of the outbox, so that it cannot overtake a frame whose number it names.
    fn pong(&self, game: &GameHandle) {
        self.outbox.push(player::pong(game.shown().seq));
    }
}
