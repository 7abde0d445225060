//! From an open socket to a seat: the first frame says who it is.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use protocol::close;
use protocol::error::ErrorCode;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use super::parse::{self, First};
use super::transport::Incoming;
use super::{Closing, Session, pace};
use crate::actor::bye_moved;
use crate::actor::mailbox::{GameHandle, Message, Seat, SendError, Want};

impl Session {
    /// Waits for a first frame that the game accepts. A refused join may be tried again on the same socket, so that a taken
    /// name costs a round trip and not a connection. Without a game the first frame is refused as that of a stranger.
    pub(super) async fn open(&mut self, game: Option<&GameHandle>) -> Result<Seat, Closing> {
        let mut give_up_at = self.heard + self.server.config.first_frame;
        loop {
            let text = self.first_text(give_up_at).await?;
            let Some(game) = game else {
                return Err(self.stranger());
            };
            let want = match self.want(&text, game) {
                Err(_) | Ok(Want::Join { .. }) if self.wary => return Err(self.stranger()),
                want => want?,
            };
            if let Some(seat) = self.ask(game, want).await? {
                if seat == Seat::Host {
                    self.pace.set_rate(pace::HOST);
                }
                return Ok(seat);
            }
            give_up_at = Instant::now() + self.server.config.silence;
        }
    }

    /// Waits for a frame that says who it is.
    pub(super) async fn first_text(&mut self, give_up_at: Instant) -> Result<Utf8Bytes, Closing> {
        let server = Arc::clone(&self.server);
        let outbox = Arc::clone(&self.outbox);
        loop {
            let read = tokio::select! {
                biased;
                () = outbox.changed() => {
                    if let Some(closing) = self.drain().await {
                        return Err(closing);
                    }
                    continue;
                }
                read = self.socket.recv() => read,
                () = sleep_until(give_up_at) => {
                    return Err(Closing::error(ErrorCode::BadFirstFrame, close::BAD_FIRST_FRAME));
                }
                () = server.stopping.asked() => return Err(self.moved()),
            };
            match self.judge(read, None) {
                Incoming::Text(text) => return Ok(text),
                Incoming::Nothing => {}
                Incoming::End(closing) => return Err(closing),
            }
        }
    }

    /// Verifies the first frame's credentials.
    fn want(&self, text: &Utf8Bytes, game: &GameHandle) -> Result<Want, Closing> {
        let bad_token = || Closing::error(ErrorCode::BadToken, close::TOKEN);
        let keys = &self.server.keys;
        match parse::first(text) {
            None => Err(Closing::error(ErrorCode::BadFirstFrame, close::BAD_FIRST_FRAME)),
            Some(First::Join { name }) if self.server.admission.has_room_for_player() => {
                Ok(Want::Join { name })
            }
            Some(First::Join { .. }) => Err(self.spare(ErrorCode::ServerFull)),
            Some(First::Resume { token }) => {
                let pass = keys.player(&token, game.game()).map_err(|_invalid| bad_token())?;
                Ok(Want::Resume { pass })
            }
            Some(First::Host { token, .. }) => {
                let claims = keys.teacher(&token).map_err(|_invalid| bad_token())?;
                if claims.sub == game.teacher() {
                    Ok(Want::Host)
                } else {
                    Err(Closing::error(ErrorCode::NotAllowed, close::KICKED))
                }
            }
            Some(First::Screen { ticket }) => {
                keys.screen(&ticket, game.game())
                    .map_err(|_invalid| bad_token())?;
                Ok(Want::Screen)
            }
        }
    }

    async fn ask(&mut self, game: &GameHandle, want: Want) -> Result<Option<Seat>, Closing> {
        let (reply, answer) = oneshot::channel();
        match game.try_send(Message::Open {
            socket: Arc::clone(&self.outbox),
            want,
            reply,
        }) {
            // A game that died with the question in its mailbox has moved, as far as a client can tell.
            Ok(()) => answer.await.map_err(|_gone| self.moved()),
            Err(SendError::Busy) => {
                self.busy(None);
                Ok(None)
            }
            Err(SendError::Stopped) => Err(self.moved()),
        }
    }

    /// To whoever brings no token of this game from a network that tried too many wrong codes.
    pub(super) fn stranger(&self) -> Closing {
        self.spare(ErrorCode::TooMany)
    }

    pub(super) fn moved(&self) -> Closing {
        Closing::frame(bye_moved(&self.server.ambient), close::MOVED)
    }
}
