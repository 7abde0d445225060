//! Before a call about a game is answered: is its game here? A server that is alone has all games there are.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

use super::game_key;
use crate::cluster::{self, Located, Via};
use crate::guesses::Network;
use crate::problem::Refusal;
use crate::registry::Found;
use crate::server::Shared;

/// How long a client waits for a game that is just being taken up; then it is told to come back.
const OPENING_MAX: Duration = Duration::from_secs(2);

/// Answers here, or sends the client to whoever has the game.
pub(super) async fn route(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let Some(code) = game_key::of(request.uri()) else {
        return next.run(request).await;
    };
    let Some(cluster) = &shared.cluster else {
        return if timeout(OPENING_MAX, shared.registry.settled(code)).await.is_ok() {
            next.run(request).await
        } else {
            Refusal::elsewhere().into_response()
        };
    };
    match shared.registry.find(code) {
        Found::Game(_) => return next.run(request).await,
        Found::Lost | Found::Nothing => {}
    }
    let creates = request.method() == Method::POST;
    let lease = match cluster::locate(&shared, cluster, code).await {
        Located::Nowhere | Located::Unheard if cluster.is_draining() => match cluster.successor(code) {
            // Whatever is to come of it does not begin here.
            Some(lease) => lease,
            None => return Refusal::stopping().into_response(),
        },
        Located::Here | Located::Nowhere => return next.run(request).await,
        Located::Unheard if creates => return next.run(request).await,
        Located::At(lease) => lease,
        Located::Unheard | Located::Unknown => return Refusal::elsewhere().into_response(),
    };
    let was_passed_on = request.extensions().get::<Via>().is_some();
    if was_passed_on {
        // Once is enough: the game moved meanwhile, and the client will find it.
        return Refusal::elsewhere().into_response();
    }
    let (mut parts, body) = request.into_parts();
    let Ok(network) = Network::from_request_parts(&mut parts, &shared).await;
    let is_wary = shared.guesses.is_refused(network);
    let request = Request::from_parts(parts, body);
    cluster::pass_on(&shared, &lease, is_wary, request).await
}
