//! Games that were played, and their reports.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol::ids::GameId;
use protocol::rest::{GameSummary, Page, ReportResponse};

use crate::extract::{Id, PageParams, Params, Teacher, page_key};
use crate::problem::Refusal;
use crate::report;
use crate::service::Api;

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
    Id(id): Id<GameId>,
) -> Result<StatusCode, Refusal> {
    let store = Arc::clone(&api.store);
    let deleted = api.changing(teacher, async move { store.delete_game(teacher, id).await });
    if deleted.await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Refusal::NoSuchGame)
    }
}
