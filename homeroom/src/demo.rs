//! The demo: a sample game with bot students for a visitor who has not signed up.
//!
//! It owns an account that nobody knows the password of, and drives the product through its own public HTTP and
//! WebSocket calls, so that what a visitor sees is the product and nothing else. `GET /demo` opens a fresh game and
//! sends the visitor to its host page; it answers on this machine only.

mod bots;
mod client;
mod quiz;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use http::StatusCode;
use http::header::SET_COOKIE;

use crate::addresses;
use client::{Client, Visit};

/// Bot students of a demo game: a class.
const BOTS: u32 = 30;

/// A demo that is ready for visitors.
#[derive(Clone)]
pub(crate) struct Demo {
    client: Arc<Client>,
    sockets: SocketAddr,
}

impl Demo {
    /// Makes the account and its quiz through `product`, the routes of the running server; bots will connect to
    /// `listening`.
    ///
    /// # Errors
    /// When the product refuses; its own sentence is kept.
    pub(crate) async fn prepare(product: Router, listening: SocketAddr) -> anyhow::Result<Self> {
        let client = Client::sign_up(product, &quiz::sample()).await?;
        let mut sockets = listening;
        if sockets.ip().is_unspecified() {
            sockets.set_ip(match sockets {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        Ok(Self {
            client: Arc::new(client),
            sockets,
        })
    }

    /// The route `/demo`.
    pub(crate) fn router(self) -> Router {
        Router::new().route("/demo", get(visit)).with_state(self)
    }
}

async fn visit(State(demo): State<Demo>, ConnectInfo(peer): ConnectInfo<SocketAddr>) -> Response {
    // By its address in the network, too: the board's QR code then carries an address that phones can open.
    let peer = peer.ip().to_canonical();
    if !peer.is_loopback() && !addresses::interfaces().contains(&peer) {
        return (
            StatusCode::FORBIDDEN,
            "The demo opens on the machine that runs it.\n",
        )
            .into_response();
    }
    match demo.client.open_game().await {
        Ok(Visit { code, cookie }) => {
            for number in 0..BOTS {
                tokio::spawn(bots::play(demo.sockets, code, number));
            }
            ([(SET_COOKIE, cookie)], Redirect::to(&format!("/host?g={code}"))).into_response()
        }
        Err(error) => {
            tracing::error!(error = format!("{error:#}"), "no demo game");
            (
                StatusCode::SERVICE_UNAVAILABLE,
                "No demo game could be opened; the log says why.\n",
            )
                .into_response()
        }
    }
}
