//! What happened to a teacher's games.

use axum::Json;
use axum::extract::State;
use protocol::ids::{GameCode, GameId};
use protocol::rest::Page;
use protocol::timeline::GameTimeline;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::admission::Class;
use crate::extract::{Params, Teacher};
use crate::openapi::Verb::Get;
use crate::openapi::{About, Routes};
use crate::problem::Refusal;
use crate::service::Api;
use crate::store::TimelinesOf;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.add(
        Some(Class::Read),
        (Get, "/timelines"),
        list,
        &About::new("timelines", "What happened to games, by code or by id.", &[]),
    )
}

/// `?game=` or `?code=`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Wanted {
    /// The game; either this or the code.
    game: Option<GameId>,
    /// The code it was played under, as people type it.
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
