//! What happened to a teacher's games.

use axum::Json;
use axum::extract::State;
use protocol::ids::{GameCode, GameId};
use protocol::rest::Page;
use protocol::timeline::GameTimeline;
use serde::Deserialize;

use crate::extract::{Params, Teacher};
use crate::problem::Refusal;
use crate::service::Api;
use crate::store::TimelinesOf;

/// `?game=` or `?code=`.
#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    game: Option<GameId>,
    /// As people type it.
    code: Option<String>,
}

/// `GET /timelines`.
pub(super) async fn list(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Params(wanted): Params<Wanted>,
) -> Result<Json<Page<GameTimeline>>, Refusal> {
    let of = match (wanted.game, wanted.code) {
        (Some(game), None) => TimelinesOf::Game(game),
        (None, Some(code)) => {
            let code = GameCode::from_typed(&code).map_err(|error| Refusal::query(&error))?;
            TimelinesOf::Code(code)
        }
        (None, None) | (Some(_), Some(_)) => return Err(Refusal::query(&"say either game or code")),
    };
    let items = api.store.timelines(Some(teacher), of).await?;
    Ok(Json(Page { items, next: None }))
}
