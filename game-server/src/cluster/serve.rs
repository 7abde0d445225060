//! What a game server answers to others, and the connections that they pass on to it.

use std::sync::Arc;

use ::http::StatusCode;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use protocol::timeline::GameTimeline;

use super::locate::{Located, locate};
use super::peers::{GameAnswer, PEER_HEADER};
use super::tunnel::WARY_HEADER;
use super::verify::GamesAnswer;
use crate::http as client_calls;
use crate::http::{GameKey, timeline_of};
use crate::problem::Refusal;
use crate::registry::Found;
use crate::server::Shared;

/// How a request came to this server. A request without it came from a client, or from a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Via {
    /// Another game server passed it on, and its client's network tried too many wrong codes there.
    pub(crate) wary: bool,
}

/// For other game servers: `/peer/game`, `/peer/games`, `/peer/take`, `/peer/timeline`, and what clients may call, of clients that came to the wrong server.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/peer/game", get(game))
        .route("/peer/games", get(games))
        .route("/peer/take", post(take))
        .route("/peer/timeline", get(timeline))
        .with_state(Arc::clone(&shared))
        .merge(client_calls::router(Arc::clone(&shared)))
        .layer(from_fn_with_state(shared, authenticate))
}

/// Lets other game servers in, and nobody else.
async fn authenticate(State(shared): State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    let headers = request.headers_mut();
    let token = headers.remove(PEER_HEADER);
    let token = token.as_ref().and_then(|token| token.to_str().ok());
    let is_peer = token
        .zip(shared.cluster.as_ref())
        .is_some_and(|(token, cluster)| cluster.keys.accepts(token));
    if !is_peer {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let via = Via {
        wary: headers.remove(WARY_HEADER).is_some(),
    };
    request.extensions_mut().insert(via);
    next.run(request).await
}

/// `GET /peer/game?g=`: whether this server has the game.
async fn game(State(shared): State<Arc<Shared>>, GameKey(code): GameKey) -> Json<GameAnswer> {
    Json(GameAnswer {
        incarnation: shared.id.incarnation,
        held: shared.registry.held(code).map(Into::into),
    })
}

/// `GET /peer/games`: all games that this server has.
async fn games(State(shared): State<Arc<Shared>>) -> Json<GamesAnswer> {
    let games = shared.registry.all_held().into_iter();
    Json(GamesAnswer {
        incarnation: shared.id.incarnation,
        games: games.map(|(code, held)| (code, held.into())).collect(),
    })
}

/// `GET /peer/timeline?g=`: what happened to a game that this server has, for an operator who asked another one.
async fn timeline(
    State(shared): State<Arc<Shared>>,
    GameKey(code): GameKey,
) -> Result<Json<GameTimeline>, Refusal> {
    match shared.registry.find(code) {
        Found::Game(game) => timeline_of(&game).await.map(Json),
        Found::Lost | Found::Nothing => Err(Refusal::elsewhere()),
    }
}

/// `POST /peer/take?g=`: another server has given the game back, and would have it go on here.
async fn take(State(shared): State<Arc<Shared>>, GameKey(code): GameKey) -> StatusCode {
    let Some(cluster) = &shared.cluster else {
        return StatusCode::SERVICE_UNAVAILABLE;
    };
    match locate(&shared, cluster, code).await {
        Located::Here => StatusCode::NO_CONTENT,
        Located::At(_) | Located::Nowhere | Located::Unheard | Located::Unknown => {
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}
