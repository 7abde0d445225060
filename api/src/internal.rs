//! What game servers ask over HTTP: a plan check, to keep a result and a timeline, and about games of which they are not sure. For a
//! listener that no ingress reaches.
//!
//! It owns who may call: a service token signed with a secret that operators share between the processes, checked before
//! the body is read. What the calls do is [`Api`]'s.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use protocol::rest::{
    HasResultRequest, HasResultResponse, PlanCheckRequest, PlanCheckResponse, ReserveEpochRequest,
    ReserveEpochResponse,
};
use protocol::result::GameResult;
use protocol::timeline::GameTimeline;
use runtime::secret::Secret;
use serde::Deserialize;

use crate::body;
use crate::config::{PLAN_CHECK_BODY_BYTES_MAX, RESULT_BODY_BYTES_MAX, TIMELINE_BODY_BYTES_MAX};
use crate::extract::Params;
use crate::problem::Refusal;
use crate::quota::Spent;
use crate::routes;
use crate::service::{Api, GameCallError, PlanCheckError, SaveError};

mod service_token;

use service_token::ServiceKeys;

impl Api {
    /// The internal calls at `/internal`, for those who sign with one of `secrets`. Several let an operator change the
    /// secret without a moment in which a server is refused.
    pub fn internal_router(&self, secrets: &[Secret]) -> Router {
        let keys = Arc::new(ServiceKeys::new(secrets));
        Router::new()
            .route("/internal/plan-check", post(plan_check))
            .route("/internal/results", post(save_result))
            .route("/internal/games/epoch", post(reserve_epoch))
            .route("/internal/games/has-result", post(has_result))
            .route("/internal/timelines", post(save_timeline))
            .fallback(routes::unknown_route)
            .layer(from_fn_with_state(keys, authenticate))
            .layer(from_fn(routes::every_answer))
            .with_state(self.clone())
    }
}

async fn authenticate(State(keys): State<Arc<ServiceKeys>>, request: Request, next: Next) -> Response {
    let caller = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .and_then(|(_, token)| keys.verify(token.trim()));
    match caller {
        Some(caller) => {
            tracing::debug!(caller, path = request.uri().path(), "internal call");
            next.run(request).await
        }
        None => {
            // Teachers cannot start games then, so somebody must look.
            tracing::warn!("an internal call without a valid service token was refused");
            Refusal::ServiceToken.into_response()
        }
    }
}

async fn plan_check(
    State(api): State<Api>,
    body::Json(asked): body::Json<PlanCheckRequest, PLAN_CHECK_BODY_BYTES_MAX>,
) -> Result<Json<PlanCheckResponse>, Refusal> {
    let grant = api
        .plan_check(asked.teacher, asked.quiz)
        .await
        .map_err(|error| match error {
            PlanCheckError::UnknownTeacher => Refusal::UnknownTeacher,
            PlanCheckError::UnknownQuiz => Refusal::NoSuchQuiz,
            PlanCheckError::TooMany { max, retry_after_s } => {
                Refusal::Quota(Spent::games(max, retry_after_s))
            }
            PlanCheckError::Busy => Refusal::Busy,
            PlanCheckError::Unavailable(error) => error.into(),
        })?;
    Ok(Json(PlanCheckResponse {
        players_max: grant.players_max,
        quiz: grant.quiz,
    }))
}

/// Who sends a result.
#[derive(Deserialize)]
struct From {
    /// Its epoch; releases that do not say it are as good as the first owner.
    #[serde(default)]
    epoch: u32,
}

async fn save_result(
    State(api): State<Api>,
    Params(from): Params<From>,
    body::Json(result): body::Json<GameResult, RESULT_BODY_BYTES_MAX>,
) -> Result<StatusCode, Refusal> {
    api.save_result(result, from.epoch)
        .await
        .map_err(|error| match error {
            SaveError::UnknownTeacher => Refusal::UnknownTeacher,
            SaveError::Different => Refusal::DifferentResult,
            SaveError::Superseded => Refusal::SupersededResult,
            SaveError::Busy => Refusal::Busy,
            SaveError::Unavailable(error) => error.into(),
        })?;
    Ok(StatusCode::NO_CONTENT)
}

async fn reserve_epoch(
    State(api): State<Api>,
    body::Json(asked): body::Json<ReserveEpochRequest, PLAN_CHECK_BODY_BYTES_MAX>,
) -> Result<Json<ReserveEpochResponse>, Refusal> {
    let epoch = api.reserve_epoch(asked.game, asked.above).await.map_err(later)?;
    Ok(Json(ReserveEpochResponse { epoch }))
}

async fn has_result(
    State(api): State<Api>,
    body::Json(asked): body::Json<HasResultRequest, PLAN_CHECK_BODY_BYTES_MAX>,
) -> Result<Json<HasResultResponse>, Refusal> {
    let has_result = api.has_result(asked.game).await.map_err(later)?;
    Ok(Json(HasResultResponse { has_result }))
}

/// A game that its teacher deleted meanwhile has none, and that is fine.
async fn save_timeline(
    State(api): State<Api>,
    body::Json(timeline): body::Json<GameTimeline, TIMELINE_BODY_BYTES_MAX>,
) -> Result<StatusCode, Refusal> {
    api.save_timeline(&timeline).await.map_err(later)?;
    Ok(StatusCode::NO_CONTENT)
}

fn later(error: GameCallError) -> Refusal {
    match error {
        GameCallError::Busy => Refusal::Busy,
        GameCallError::Unavailable(error) => error.into(),
    }
}
