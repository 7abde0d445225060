//! The HTTP surface: create a game, glance at one, open a socket. Refusals are problems, except on a socket, where a browser
//! could not read them.

mod create;
mod game_key;
mod status;
mod watch;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::server::Shared;

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/games", post(create::create).layer(create::body_limit()))
        .route("/status", get(status::status))
        .route("/watch", get(watch::watch))
        .with_state(shared)
}
