//! What an operator asks by a game's code: `GET /timeline?g=`, of any teacher's live game. For a listener that no client reaches.
//!
//! Any server is asked. One that does not have the game asks who has, and passes the answer on; asking moves no game.

use std::sync::{Arc, OnceLock};

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::{HeaderValue, StatusCode, Uri};
use protocol::routing;
use protocol::timeline::GameTimeline;

use crate::cluster::Elsewhere;
use crate::http::{game_key_of, timeline_of};
use crate::problem::Refusal;
use crate::registry::Found;
use crate::server::{GameServer, Shared};

/// Where operators ask. It is there before its server is, since a process is watched from its first moment on. Cheap to clone.
#[derive(Clone, Default)]
pub struct OperatorDesk(Arc<OnceLock<GameServer>>);

impl OperatorDesk {
    /// Without a server.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on this server is asked.
    pub fn open(&self, server: &GameServer) {
        // A second one changes nothing: a process has one.
        let _first = self.0.set(server.clone());
    }

    /// `/timeline`, for an admin listener.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/timeline", get(timeline))
            .with_state(self.clone())
    }
}

async fn timeline(State(desk): State<OperatorDesk>, uri: Uri) -> Result<Response, Refusal> {
    let code = game_key_of(&uri).ok_or_else(Refusal::bad_game_key)?;
    let server = desk.0.get().ok_or_else(starting)?;
    let shared: &Arc<Shared> = &server.0;
    let is_unreadable = match shared.registry.find(code) {
        Found::Game(game) => return Ok(told(&shared.id.name, timeline_of(&game).await?)),
        Found::Lost => true,
        Found::Nothing => false,
    };
    let elsewhere = match &shared.cluster {
        Some(cluster) => cluster.timeline_elsewhere(shared, code).await,
        None => Elsewhere::Nowhere,
    };
    match elsewhere {
        Elsewhere::Told(server, timeline) => Ok(told(&server, *timeline)),
        Elsewhere::Silent(server) => Err(silent(&server)),
        Elsewhere::Unowned | Elsewhere::Nowhere if is_unreadable => Err(unreadable(&shared.id.name)),
        Elsewhere::Unowned => Err(unowned()),
        Elsewhere::Unknown => Err(unknown()),
        Elsewhere::Nowhere => Err(no_live_game()),
    }
}

/// The history, and who has the game.
fn told(server: &str, timeline: GameTimeline) -> Response {
    let mut response = Json(timeline).into_response();
    // A name has letters, digits and hyphens.
    if let Ok(name) = HeaderValue::from_str(server) {
        response.headers_mut().insert(routing::OWNER, name);
    }
    response
}

fn starting() -> Refusal {
    Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "server-starting",
        "Temporarily unavailable",
        "This server does not know its games yet. Try again in a moment, or ask another one.",
    )
}

fn silent(server: &str) -> Refusal {
    Refusal::new(
        StatusCode::BAD_GATEWAY,
        "owner-silent",
        "Owner cannot be asked",
        format!(
            "{server} had this game at last and did not answer. If it is gone, another server takes the game up within seconds: ask again. If it is not, ask its own admin listener."
        ),
    )
}

fn unknown() -> Refusal {
    Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "store-silent",
        "Store cannot be asked",
        "The store of the games does not answer, and no server that does has this game. Try again in a moment.",
    )
}

fn unowned() -> Refusal {
    Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "game-unowned",
        "Nobody has this game",
        "The game is kept, and no server has it now. One takes it up as soon as somebody comes back to it, within a minute in any case.",
    )
}

fn unreadable(server: &str) -> Refusal {
    Refusal::new(
        StatusCode::GONE,
        "game-unreadable",
        "Game cannot be read",
        format!(
            "The game is kept, and {server} cannot read it: it is another release's, or makes this one fail. The server's log says why. Nobody else has it."
        ),
    )
}

fn no_live_game() -> Refusal {
    Refusal::new(
        StatusCode::NOT_FOUND,
        "no-such-game",
        "Not found",
        "There is no live game with this code. What became of one that has ended, `api timeline` says.",
    )
}
