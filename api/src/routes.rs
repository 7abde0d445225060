//! The router: which handler answers what, and what holds for every answer.

use std::time::Instant;

use axum::extract::{Extension, MatchedPath, Request, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use jsonwebtoken::jwk::JwkSet;
use protocol::rest::{Page, Plan};
use runtime::metrics::{Counter, Histogram, inc, record};

use crate::admission::{Admission, Admitted, Class};
use crate::answer::Public;
use crate::openapi::Verb::Get;
use crate::openapi::{self, About, Document, Documents, Routes};
use crate::plan;
use crate::problem::Refusal;
use crate::service::Api;

mod auth;
mod exports;
mod games;
mod imports;
mod quizzes;
mod reset;
mod shares;
mod timelines;
mod usage;

pub(crate) fn router(api: Api) -> Router {
    let routes = Routes::new(api.clone());
    let routes = auth::routes(routes);
    let routes = reset::routes(routes);
    let routes = quizzes::routes(routes);
    let routes = imports::routes(routes);
    let routes = exports::routes(routes);
    let routes = shares::routes(routes);
    let routes = games::routes(routes);
    let routes = timelines::routes(routes);
    let routes = usage::routes(routes);
    constants(routes)
        .finish()
        .fallback(unknown_route)
        .layer(from_fn(every_answer))
        .with_state(api)
}

/// To refuse these would cost more than to answer.
fn constants(routes: Routes) -> Routes {
    routes
        .add(
            None,
            (Get, "/plans"),
            plans,
            &About::new("plans", "The plans, and what each allows.", &[]),
        )
        .add(
            None,
            (Get, "/.well-known/jwks.json"),
            jwks,
            &About::new(
                "jwks",
                "The public keys that check access tokens and signed quizzes, as a JWK set.",
                &[],
            ),
        )
        .add(
            None,
            (Get, "/openapi.json"),
            openapi_json,
            &About::new("openapi_json", "This document.", &[]),
        )
        .add(
            None,
            (Get, "/docs"),
            docs,
            &About::new("docs", "This document as a page to read.", &[]),
        )
}

/// In front of a route: nothing of it runs, and no body is read, without a permit.
pub(crate) async fn admit(
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

async fn jwks(State(api): State<Api>) -> Public<JwkSet> {
    Public(api.keys.jwks())
}

async fn openapi_json(Extension(documents): Extension<Documents>) -> Document {
    Document(documents.json)
}

async fn docs(Extension(documents): Extension<Documents>) -> openapi::Page {
    openapi::Page(documents.page)
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
