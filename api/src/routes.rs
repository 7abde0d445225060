//! The router: which handler answers what, and what holds for every answer.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, delete, get, post};
use axum::{Json, Router};
use jsonwebtoken::jwk::JwkSet;
use protocol::rest::{Page, Plan};
use runtime::metrics::{Counter, Histogram, inc, record};

use crate::admission::{Admission, Admitted, Class};
use crate::plan;
use crate::problem::Refusal;
use crate::service::Api;

mod auth;
mod games;
mod imports;
mod quizzes;
mod timelines;
mod usage;

pub(crate) fn router(api: Api) -> Router {
    let at = |class, routes: MethodRouter<Api>| {
        routes.route_layer(from_fn_with_state((api.admission.clone(), class), admit))
    };
    let (entry, edit, read) = (
        |routes| at(Class::Entry, routes),
        |routes| at(Class::Edit, routes),
        |routes| at(Class::Read, routes),
    );
    Router::new()
        .route("/auth/register", entry(post(auth::register)))
        .route("/auth/login", entry(post(auth::login)))
        .route("/auth/refresh", entry(post(auth::refresh)))
        .route("/auth/logout", entry(post(auth::logout)))
        .route("/users/me", read(get(auth::me)))
        .route(
            "/quizzes",
            read(get(quizzes::list)).merge(edit(post(quizzes::create))),
        )
        .route("/quizzes/import", edit(post(imports::import)))
        .route(
            "/quizzes/{id}",
            edit(get(quizzes::read).put(quizzes::update).delete(quizzes::delete)),
        )
        .route("/quizzes/{id}/duplicate", edit(post(quizzes::duplicate)))
        .route("/quizzes/{id}/signed", read(get(quizzes::signed)))
        .route("/games", read(get(games::list)))
        .route("/games/{id}", edit(delete(games::delete)))
        .route("/games/{id}/report", read(get(games::report)))
        .route("/timelines", read(get(timelines::list)))
        .route("/quiz-usage/dashboard", read(get(usage::dashboard)))
        .route("/quiz-usage/history", read(get(usage::history)))
        // These are constants: to refuse them would cost more than to answer.
        .route("/plans", get(plans))
        .route("/.well-known/jwks.json", get(jwks))
        .fallback(unknown_route)
        .layer(from_fn(every_answer))
        .with_state(api)
}

/// In front of a route: nothing of it runs, and no body is read, without a permit.
async fn admit(
    State((admission, class)): State<(Admission, Class)>,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let permit = admission.acquire(class).await?;
    let admitted = Admitted::new(admission, class, permit);
    request.extensions_mut().insert(admitted.clone());
    let response = next.run(request).await;
    // Until here: the request, and its extensions with it, is gone long before its handler ends.
    drop(admitted);
    Ok(response)
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
