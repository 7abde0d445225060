//! Asking another game server what it holds.
//!
//! What an answer proves is the point: "connection refused" and "I am another run" prove that the run asked for is gone, an answer
//! of its own says what it holds, and everything else says nothing.

use std::io;
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use protocol::ids::GameCode;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::time::timeout;
use uuid::Uuid;

use super::{Cluster, Duplex, Lease};
use crate::journal::ClaimId;
use crate::registry::Held;

/// Carries the token of a game server in calls to another one.
pub(super) const PEER_HEADER: &str = "homeroom-peer";
/// Time to connect to a server in the same network. One that does not even refuse is cut off, or its machine is gone.
const CONNECT_MAX: Duration = Duration::from_millis(500);
/// Time for an answer, connecting included: it is made from memory.
const ANSWER_MAX: Duration = Duration::from_secs(1);
/// Bytes of an answer: all games of a server, at 100 bytes each.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What another server says about a game, or what its silence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// It has it.
    Has(Held),
    /// It lives, and does not have it.
    HasNot,
    /// That run of the server is gone.
    Gone,
    /// It cannot be asked.
    Nothing,
}

/// A claim on the wire.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct HeldWire {
    claim: Uuid,
    epoch: u32,
}

/// The answer about one game.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GameAnswer {
    pub(super) incarnation: Uuid,
    pub(super) held: Option<HeldWire>,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub(super) enum PeerError {
    #[error("connect to a game server")]
    Connect(#[source] io::Error),
    #[error("a game server did not answer in time")]
    Timeout,
    #[error("the request to a game server cannot be put together")]
    Request(#[source] http::Error),
    #[error("the connection to a game server broke")]
    Broken(#[source] hyper::Error),
    #[error("a game server answered {0}")]
    Status(StatusCode),
    #[error("the answer of a game server cannot be read")]
    Answer(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl PeerError {
    /// Whether nobody listens there: the process is gone.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self, Self::Connect(error) if error.kind() == io::ErrorKind::ConnectionRefused)
    }
}

impl From<Held> for HeldWire {
    fn from(held: Held) -> Self {
        Self {
            claim: held.claim.0,
            epoch: held.epoch,
        }
    }
}

impl From<HeldWire> for Held {
    fn from(held: HeldWire) -> Self {
        Self {
            claim: ClaimId(held.claim),
            epoch: held.epoch,
        }
    }
}

impl Cluster {
    /// Asks a run of a server whether it has a game.
    pub(super) async fn ask(&self, lease: &Lease, code: GameCode) -> Said {
        let said = self
            .get::<GameAnswer>(lease, &format!("/peer/game?g={code}"))
            .await;
        match said {
            Ok(answer) if answer.incarnation != lease.server.incarnation => Said::Gone,
            Ok(GameAnswer { held: Some(held), .. }) => Said::Has(held.into()),
            Ok(GameAnswer { held: None, .. }) => Said::HasNot,
            Err(error) if error.is_refused() => Said::Gone,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    server = lease.server.name,
                    address = lease.address,
                    error,
                    "a game server cannot be asked"
                );
                Said::Nothing
            }
        }
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, lease: &Lease, path: &str) -> Result<T, PeerError> {
        let request = Request::get(path)
            .header(http::header::HOST, &lease.address)
            .header(PEER_HEADER, self.keys.token())
            .body(Body::empty())
            .map_err(PeerError::Request)?;
        let call = async {
            let answer = send(self.connect(lease).await?, request).await?;
            if answer.status() != StatusCode::OK {
                return Err(PeerError::Status(answer.status()));
            }
            let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
            let body = body.map_err(PeerError::Answer)?.to_bytes();
            serde_json::from_slice(&body).map_err(|error| PeerError::Answer(error.into()))
        };
        timeout(ANSWER_MAX, call)
            .await
            .map_err(|_elapsed| PeerError::Timeout)?
    }

    /// Connects to another server. Each call has a connection of its own: what becomes of it is then certain.
    pub(super) async fn connect(&self, lease: &Lease) -> Result<Box<dyn Duplex>, PeerError> {
        timeout(CONNECT_MAX, self.dialer.dial(&lease.address))
            .await
            .map_err(|_elapsed| PeerError::Timeout)?
            .map_err(PeerError::Connect)
    }
}

/// Sends one request and waits for the head of its answer.
pub(super) async fn send(
    stream: Box<dyn Duplex>,
    request: Request<Body>,
) -> Result<Response<Incoming>, PeerError> {
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(PeerError::Broken)?;
    tokio::spawn(async move {
        // The request's own answer says what went wrong.
        let _broken = connection.with_upgrades().await;
    });
    sender.send_request(request).await.map_err(PeerError::Broken)
}
