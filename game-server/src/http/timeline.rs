//! `GET /timeline?g=`: what happened to a live game, told to its teacher. Of a game whose result is saved the API tells it.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use protocol::timeline::GameTimeline;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::create;
use super::game_key::GameKey;
use crate::actor::mailbox::{GameHandle, Message};
use crate::guesses::Network;
use crate::problem::Refusal;
use crate::registry::Found;
use crate::server::Shared;

/// Longest wait for a game to answer, which it does between two messages.
const ANSWER_MAX: Duration = Duration::from_secs(2);

pub(super) async fn timeline(
    State(shared): State<Arc<Shared>>,
    network: Network,
    GameKey(code): GameKey,
    headers: HeaderMap,
) -> Result<Json<GameTimeline>, Refusal> {
    let teacher = create::authenticate(&shared, &headers)?;
    if shared.guesses.is_refused(network) {
        return Err(Refusal::too_many_wrong_codes());
    }
    let game = match shared.registry.find(code) {
        Found::Game(game) if game.teacher() == teacher.sub => game,
        // As for a code without a game: whose game it is concerns nobody else.
        Found::Game(_) | Found::Nothing => {
            shared.guesses.wrong(network);
            return Err(Refusal::no_such_game());
        }
        Found::Lost => return Err(Refusal::game_lost()),
    };
    timeline_of(&game).await.map(Json)
}

/// Asks a game. Whether the caller may know is the caller's business.
pub(crate) async fn timeline_of(game: &GameHandle) -> Result<GameTimeline, Refusal> {
    let (reply, answer) = oneshot::channel();
    game.try_send(Message::Timeline(reply))
        .map_err(|_busy_or_gone| Refusal::elsewhere())?;
    match timeout(ANSWER_MAX, answer).await {
        Ok(Ok(timeline)) => Ok(timeline),
        // It ended or moved at this moment.
        Ok(Err(_)) | Err(_) => Err(Refusal::elsewhere()),
    }
}
