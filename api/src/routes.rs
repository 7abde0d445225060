//! The router: which handler answers what, and what holds for every answer.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use jsonwebtoken::jwk::JwkSet;
use protocol::rest::{Page, Plan};
use runtime::metrics::{Counter, Histogram, inc, record};

use crate::plan;
use crate::problem::Refusal;
use crate::service::Api;

mod auth;
mod games;
mod imports;
mod quizzes;
mod usage;

pub(crate) fn router(api: Api) -> Router {
    Router::new()
        .route("/auth/register", post(auth::register))
        .route("/auth/login", post(auth::login))
        .route("/auth/refresh", post(auth::refresh))
        .route("/auth/logout", post(auth::logout))
        .route("/users/me", get(auth::me))
        .route("/quizzes", get(quizzes::list).post(quizzes::create))
        .route("/quizzes/import", post(imports::import))
        .route(
            "/quizzes/{id}",
            get(quizzes::read).put(quizzes::update).delete(quizzes::delete),
        )
        .route("/quizzes/{id}/signed", get(quizzes::signed))
        .route("/games", get(games::list))
        .route("/games/{id}", axum::routing::delete(games::delete))
        .route("/games/{id}/report", get(games::report))
        .route("/quiz-usage/dashboard", get(usage::dashboard))
        .route("/quiz-usage/history", get(usage::history))
        .route("/plans", get(plans))
        .route("/.well-known/jwks.json", get(jwks))
        .fallback(unknown_route)
        .layer(from_fn(every_answer))
        .with_state(api)
}

async fn plans() -> Json<Page<Plan>> {
    Json(Page {
        items: vec![plan::free()],
        next: None,
    })
}

/// Public and rarely changing: caches may keep them for as long as an access token lives.
async fn jwks(State(api): State<Api>) -> ([(HeaderName, &'static str); 1], Json<JwkSet>) {
    ([(CACHE_CONTROL, "public, max-age=900")], Json(api.keys.jwks()))
}

pub(crate) async fn unknown_route() -> Refusal {
    Refusal::UnknownRoute
}

/// Cuts a list read with one row too many down to its page; the last row when another page follows.
fn cut<T>(rows: &mut Vec<T>, limit: u32) -> Option<&T> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    rows.last().filter(|_| more)
}

/// Counts and traces, and gives the router's own "wrong method" a body like every other refusal.
pub(crate) async fn every_answer(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    // The pattern, not the path: ids stay out of the log, and a query may hold a file's name.
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map(|path| path.as_str().to_owned());
    let mut response = next.run(request).await;
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response = Refusal::Method(response.headers().get(ALLOW).cloned()).into_response();
    }
    let headers = response.headers_mut();
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let took = started.elapsed();
    let status = response.status();
    inc(match status.as_u16() {
        500.. => Counter::ApiServerErrorsTotal,
        400..500 => Counter::ApiRefusedTotal,
        ..400 => Counter::ApiServedTotal,
    });
    record(Histogram::ApiRequestSeconds, took);
    tracing::debug!(%method, route = route.as_deref().unwrap_or("-"), status = status.as_u16(), ?took, "api request");
    response
}
