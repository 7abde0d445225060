//! One task per socket: reads frames, hands them to the game, writes what the game has for it, and notices when nobody is
//! there any longer.
//!
//! It owns the limits that concern one client: sizes, rate, silence. What a frame means is the game's business. A class has
//! hundreds of idle sockets, so a session is one task with one timer and no channel of its own.

mod absent;
mod opening;
pub(crate) mod outbox;
mod pace;
mod parse;
mod serving;
mod transport;

use std::collections::VecDeque;
use std::sync::Arc;

use axum::extract::ws::{Utf8Bytes, WebSocket};
use protocol::close;
use protocol::error::ErrorCode;
use protocol::ids::GameCode;
use tokio::time::Instant;

use crate::actor::mailbox::{GameHandle, Seat};
use crate::admission::SocketPermit;
use crate::frames::player;
use crate::guesses::Network;
use crate::registry::Found;
use crate::server::Shared;
use outbox::Outbox;
use pace::Pace;

#[cfg(test)]
pub(crate) use transport::WRITE_BUFFER_BYTES_MAX;
pub(crate) use transport::configure;

/// Delay after which a client may come back when the server had no room or it talked too fast, in milliseconds.
const RETRY_MS: (u32, u32) = (1_000, 3_000);
/// Delay after which a frame may be sent again when the game was busy, in milliseconds.
const BUSY_MS: (u32, u32) = (200, 1_000);
/// Frames above their role's size that a socket survives.
const TOO_LARGE_MAX: u8 = 2;

/// The state of one socket, whatever its role.
struct Session {
    socket: WebSocket,
    server: Arc<Shared>,
    outbox: Arc<Outbox>,
    pace: Pace,
    heard: Instant,
    ping_at: Instant,
    too_large: u8,
    /// Too many wrong codes came from this client's network: only a token opens a seat.
    wary: bool,
}

/// How a session ends.
enum Closing {
    /// The client is gone.
    Gone,
    /// Send these frames, then close with this code.
    With { frames: VecDeque<Utf8Bytes>, code: u16 },
}

impl Closing {
    fn code_sent(&self) -> Option<u16> {
        match self {
            Self::Gone => None,
            Self::With { code, .. } => Some(*code),
        }
    }

    fn code(code: u16) -> Self {
        Self::With {
            frames: VecDeque::new(),
            code,
        }
    }

    fn frame(frame: Utf8Bytes, code: u16) -> Self {
        Self::With {
            frames: VecDeque::from([frame]),
            code,
        }
    }

    fn error(error: ErrorCode, code: u16) -> Self {
        Self::frame(player::error(error, None, None), code)
    }
}

/// Runs a socket to its end. `_permit` is its place.
pub(crate) async fn run(
    socket: WebSocket,
    server: Arc<Shared>,
    code: GameCode,
    network: Network,
    _permit: SocketPermit,
) {
    let now = Instant::now();
    let mut session = Session {
        socket,
        outbox: Arc::new(Outbox::new()),
        pace: Pace::new(pace::PLAYER, now),
        heard: now,
        ping_at: now + server.config.ping,
        too_large: 0,
        wary: server.guesses.is_refused(network),
        server,
    };
    // Each stage on the heap by itself, so that a socket that waits for ten minutes holds the memory of waiting only.
    let closing = match session.server.registry.find(code) {
        Found::Nothing => Box::pin(session.absent(network, code)).await,
        Found::Lost if session.wary => Box::pin(session.turn_away()).await,
        Found::Lost => Closing::error(ErrorCode::GameLost, close::NO_SUCH_GAME),
        Found::Game(game) => Box::pin(session.play(&game)).await,
    };
    Box::pin(session.finish(closing)).await;
}

impl Session {
    async fn play(&mut self, game: &GameHandle) -> Closing {
        let seat = match Box::pin(self.open(Some(game))).await {
            Ok(seat) => seat,
            Err(closing) => {
                self.outbox.abandon();
                return closing;
            }
        };
        let closing = Box::pin(self.serve(game, seat)).await;
        tracing::debug!(game = %game.game(), ?seat, code = closing.code_sent(), "socket ended");
        self.outbox.abandon();
        // Before the close handshake, which a vanished client never answers.
        game.gone(Arc::clone(&self.outbox), seat).await;
        closing
    }

    /// As for a game that exists, so that its answers and their times tell nothing.
    async fn turn_away(&mut self) -> Closing {
        match self.open(None).await {
            Err(closing) => closing,
            Ok(_no_game_has_seats) => Closing::Gone,
        }
    }

    fn busy(&self, q: Option<u16>) {
        let retry_ms = self.server.ambient.jitter_ms(BUSY_MS.0, BUSY_MS.1);
        self.outbox
            .push(player::error(ErrorCode::Busy, q, Some(retry_ms)));
    }

    /// Asks the client to spare the server for a while.
    fn spare(&self, error: ErrorCode) -> Closing {
        let retry_ms = self.server.ambient.jitter_ms(RETRY_MS.0, RETRY_MS.1);
        Closing::frame(player::error(error, None, Some(retry_ms)), close::TOO_MANY)
    }

    fn refuse(&self, code: ErrorCode) {
        self.outbox.push(player::error(code, None, None));
    }
}

/// Bytes that a frame of this role may have.
fn frame_bytes_max(seat: Option<Seat>) -> usize {
    match seat {
        Some(Seat::Player(_)) => protocol::PLAYER_FRAME_BYTES_MAX,
        // Unknown yet, or a host.
        None | Some(Seat::Host | Seat::Screen) => protocol::HOST_FRAME_BYTES_MAX,
    }
}
