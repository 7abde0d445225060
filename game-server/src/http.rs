//! The HTTP surface: create a game, glance at one, open a socket. Refusals are problems, except on a socket, where a browser
//! could not read them.

mod create;
mod game_key;
mod routing;
mod status;
mod timeline;
mod watch;

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::{get, post};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};

use crate::problem::Refusal;
use crate::server::Shared;

pub(crate) use game_key::{GameKey, of as game_key_of};
pub(crate) use timeline::timeline_of;

/// What clients call. Whether its game is here is asked first.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/games", post(create::create).layer(create::body_limit()))
        .route("/status", get(status::status))
        .route("/timeline", get(timeline::timeline))
        .route("/watch", get(watch::watch))
        .route_layer(from_fn_with_state(Arc::clone(&shared), routing::route))
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
