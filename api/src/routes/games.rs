//! Games that were played, and their reports.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use protocol::ids::{GameId, PlayerId};
use protocol::rest::{GameSummary, Page, ReportResponse};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::admission::Class;
use crate::answer::NoContent;
use crate::extract::{Admittance, Id, PageParams, Params, Teacher, page_key};
use crate::openapi::Verb::{Delete, Get};
use crate::openapi::{About, Routes};
use crate::problem::{Kind, Refusal};
use crate::report;
use crate::service::Api;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .add(
            Some(Class::Read),
            (Get, "/games"),
            list,
            &About::new(
                "games",
                "Games that were played, those that ended last first.",
                &[],
            ),
        )
        .add(
            Some(Class::Read),
            (Get, "/games/{id}/report"),
            report,
            &About::new(
                "report",
                "Every accepted answer of a game, and what each question came to.",
                &[Kind::NoSuchGame],
            ),
        )
        .add(
            Some(Class::Edit),
            (Delete, "/games/{id}"),
            delete,
            &About::new(
                "delete_game",
                "Deletes a game with its players and answers, for good.",
                &[Kind::NoSuchGame],
            ),
        )
        .add(
            Some(Class::Edit),
            (Delete, "/games/{id}/students"),
            forget,
            &About::new(
                "delete_student",
                "Deletes a student's row and answers from a game, for good.",
                &[Kind::NoSuchGame, Kind::NoSuchPlayer],
            ),
        )
}

/// `?player=`
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Whom {
    /// The number that the student has in the game's report.
    player: PlayerId,
}

/// `GET /games`.
pub(super) async fn list(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Params(page): Params<PageParams>,
) -> Result<Json<Page<GameSummary>>, Refusal> {
    let limit = page.limit()?;
    let mut items = api.store.games(teacher, page.after()?, limit + 1).await?;
    let next = super::cut(&mut items, limit).map(|last| page_key(last.ended_ms, last.id.0));
    Ok(Json(Page { items, next }))
}

/// `GET /games/{id}/report`.
pub(super) async fn report(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Id(id): Id<GameId>,
) -> Result<Json<ReportResponse>, Refusal> {
    let result = api.store.game(teacher, id).await?.ok_or(Refusal::NoSuchGame)?;
    Ok(Json(report::report(result)))
}

/// `DELETE /games/{id}`.
pub(super) async fn delete(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Admittance(admitted): Admittance,
    Id(id): Id<GameId>,
) -> Result<NoContent, Refusal> {
    let store = Arc::clone(&api.store);
    let deleted = api.changing(
        admitted,
        teacher,
        async move { store.delete_game(teacher, id).await },
    );
    if deleted.await? {
        Ok(NoContent)
    } else {
        Err(Refusal::NoSuchGame)
    }
}

/// `DELETE /games/{id}/students?player=`.
async fn forget(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Admittance(admitted): Admittance,
    Id(id): Id<GameId>,
    Params(whom): Params<Whom>,
) -> Result<NoContent, Refusal> {
    let store = Arc::clone(&api.store);
    let deleted = api.changing(admitted, teacher, async move {
        store.delete_player(teacher, id, whom.player).await
    });
    if deleted.await? {
        return Ok(NoContent);
    }
    match api.store.game(teacher, id).await? {
        Some(_) => Err(Refusal::NoSuchPlayer),
        None => Err(Refusal::NoSuchGame),
    }
}
