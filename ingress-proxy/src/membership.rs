//! What the proxy knows of its servers, for people and for comparing proxies: `/membership` on the admin listener.

use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};

use crate::group::Group;

/// The route. Two proxies with the same `digest` place games alike.
pub fn router(games: Group, apis: Group) -> Router {
    Router::new().route(
        "/membership",
        get(move || async move {
            // Readiness changes between two looks of the metrics' own.
            games.publish();
            apis.publish();
            let digest = format!("{:08x}", games.now().digest());
            axum::Json(json!({ "digest": digest, "games": servers(&games), "apis": servers(&apis) }))
        }),
    )
}

fn servers(group: &Group) -> Vec<Value> {
    let now = group.now();
    let told = now.all().iter().map(|server| {
        json!({
            "name": server.name(),
            "address": server.member().address.to_string(),
            "ready": server.is_ready(),
            "in_flight": server.in_flight(),
        })
    });
    told.collect()
}
