//! `GET /watch?g=`: the WebSocket of a host, a player or a screen. Who it is, and whether the game exists, is told on the
//! socket.

use std::sync::Arc;

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::response::Response;
use http::header::{ORIGIN, SEC_WEBSOCKET_KEY};
use http::{HeaderMap, StatusCode};
use protocol::handshake;

use super::game_key::GameKey;
use crate::guesses::Network;
use crate::problem::Refusal;
use crate::server::Shared;
use crate::session;

pub(super) async fn watch(
    State(shared): State<Arc<Shared>>,
    network: Network,
    headers: HeaderMap,
    key: Result<GameKey, Refusal>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Refusal> {
    if !is_origin_allowed(&headers, &shared.config.allowed_origins) {
        return Err(Refusal::origin());
    }
    let GameKey(code) = key?;
    let upgrade = upgrade
        .ok()
        .filter(|_| has_key(&headers))
        .ok_or_else(no_handshake)?;
    if shared.is_stopping() {
        return Err(Refusal::stopping());
    }
    let permit = shared.admission.admit().ok_or_else(Refusal::server_full)?;
    let upgrade = session::configure(upgrade);
    Ok(upgrade.on_upgrade(move |socket| session::run(socket, shared, code, network, permit)))
}

fn no_handshake() -> Refusal {
    Refusal::new(
        StatusCode::UPGRADE_REQUIRED,
        "upgrade-required",
        "Upgrade required",
        "This address opens a WebSocket. Open the game's page in a browser instead.",
    )
}

/// The library answers any key, and of several the first.
fn has_key(headers: &HeaderMap) -> bool {
    let mut keys = headers.get_all(SEC_WEBSOCKET_KEY).iter();
    keys.next().is_some_and(|key| handshake::is_key(key.as_bytes())) && keys.next().is_none()
}

/// Browsers always send an origin with a WebSocket, and only its page can be trusted not to act for somebody else. Other
/// programs send none.
fn is_origin_allowed(headers: &HeaderMap, allowed: &[String]) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => true,
        (Some(origin), None) => allowed
            .iter()
            .any(|allowed| allowed.as_bytes() == origin.as_bytes()),
        (Some(_), Some(_)) => false,
    }
}
