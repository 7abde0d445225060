//! The HTTP surface: create a game, glance at one, open a socket. Refusals are problems, except on a socket, where a browser
//! could not read them.

mod create;
mod game_key;
mod status;
mod watch;

use std::sync::Arc;

use axum::Router;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::{get, post};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};

use crate::problem::Refusal;
use crate::server::Shared;

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/games", post(create::create).layer(create::body_limit()))
        .route("/status", get(status::status))
        .route("/watch", get(watch::watch))
        .fallback(async || Refusal::unknown_route())
        .method_not_allowed_fallback(async || Refusal::method())
        .layer(map_response(every_answer))
        .with_state(shared)
}

/// Games change by the second, and an answer is data, whatever it looks like.
async fn every_answer(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
