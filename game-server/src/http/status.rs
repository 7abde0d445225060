//! `GET /status?g=`: what a join page needs before it opens a socket.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use protocol::player::Phase;
use protocol::rest::StatusResponse;

use super::game_key::GameKey;
use crate::guesses::Network;
use crate::problem::Refusal;
use crate::registry::Found;
use crate::server::Shared;

pub(super) async fn status(
    State(shared): State<Arc<Shared>>,
    network: Network,
    GameKey(code): GameKey,
) -> Result<Json<StatusResponse>, Refusal> {
    // Before the look-up, so that a code that leads to a game gets the same answer.
    if shared.guesses.is_refused(network) {
        return Err(Refusal::too_many_wrong_codes());
    }
    let game = match shared.registry.find(code) {
        Found::Game(game) => game,
        Found::Lost => return Err(Refusal::game_lost()),
        Found::Nothing => {
            shared.guesses.wrong(network);
            return Err(Refusal::no_such_game());
        }
    };
    let shown = game.shown();
    // A game that is over has nothing to join, so a full server is no news to its players.
    if shown.phase != Phase::Ended && !shared.admission.has_room_for_socket() {
        return Err(Refusal::server_full());
    }
    Ok(Json(StatusResponse {
        phase: shown.phase,
        players: u32::from(shown.players),
        locked: shown.locked,
    }))
}
