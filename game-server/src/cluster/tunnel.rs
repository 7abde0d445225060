//! Connections whose game another server holds: our proxy is told the owner's name, everybody else is passed on.
//!
//! Bytes are moved as they come; what is in them is the owner's business. A request that was passed on is never passed on again.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use protocol::routing;
use runtime::metrics::{self, Counter};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, ReadHalf, WriteHalf, copy_buf, split};
use tokio::time::timeout;

use super::peers::{self, PEER_HEADER, PeerError};
use super::{Cluster, Lease};
use crate::admission::SocketPermit;
use crate::problem::Refusal;
use crate::server::Shared;

/// Says that the client's network tried too many wrong codes, so that it is no better off at another server.
pub(super) const WARY_HEADER: &str = "homeroom-wary";
/// Buffer for each direction of a tunnel: a frame for a class has 250 bytes.
const BUFFER_BYTES: usize = 2 * 1024;
/// Longest wait for the owner's answer: one that was just asked answers at once, unless it stopped since.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// The same for a new game, which its owner reads, checks with the API and saves: what those may take, and a little more.
const CREATE_MAX: Duration = Duration::from_secs(75);

/// Sends a client to the server that holds its game.
pub(crate) async fn pass_on(shared: &Arc<Shared>, lease: &Lease, wary: bool, request: Request) -> Response {
    let Some(cluster) = &shared.cluster else {
        return Refusal::elsewhere().into_response();
    };
    // A wary network must not learn from another status that a code leads to a game.
    if follows(request.headers(), &lease.server.name) && !wary {
        metrics::inc(Counter::GamePassedOnToldTotal);
        return told(lease);
    }
    metrics::inc(Counter::GamePassedOnTunnelledTotal);
    match tunnel(shared, cluster, lease, wary, request).await {
        Ok(response) => response,
        Err(TunnelError::Full) => Refusal::server_full().into_response(),
        Err(TunnelError::Peer(error)) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                server = lease.server.name,
                error,
                "a connection could not be passed on"
            );
            Refusal::elsewhere().into_response()
        }
    }
}

/// Whether a proxy asks that would go to this server.
fn follows(headers: &HeaderMap, owner: &str) -> bool {
    let unreachable = headers.get_all(routing::UNREACHABLE).iter();
    let mut unreachable = unreachable
        .filter_map(|names| names.to_str().ok())
        .flat_map(|names| names.split(','));
    headers.contains_key(routing::FOLLOWS_OWNER) && !unreachable.any(|name| name.trim() == owner)
}

fn told(lease: &Lease) -> Response {
    let mut response = Refusal::misdirected().into_response();
    // A name is a DNS label, or at worst what an operator wrote: then the proxy is not told, and tries again.
    if let Ok(name) = HeaderValue::from_str(&lease.server.name) {
        response.headers_mut().insert(routing::OWNER, name);
    }
    response
}

enum TunnelError {
    Full,
    Peer(PeerError),
}

impl From<PeerError> for TunnelError {
    fn from(error: PeerError) -> Self {
        Self::Peer(error)
    }
}

async fn tunnel(
    shared: &Arc<Shared>,
    cluster: &Cluster,
    lease: &Lease,
    wary: bool,
    mut request: Request,
) -> Result<Response, TunnelError> {
    let is_upgrade = request.headers().contains_key(http::header::UPGRADE);
    // A tunnel is two connections of this process.
    let places = is_upgrade
        .then(|| shared.admission.admit().zip(shared.admission.admit()))
        .map(|places| places.ok_or(TunnelError::Full))
        .transpose()?;
    let upgrade = is_upgrade.then(|| hyper::upgrade::on(&mut request));
    prepare(request.headers_mut(), cluster, wary);
    let stream = cluster.connect(lease).await?;
    let answer_max = if request.method() == Method::GET {
        ANSWER_MAX
    } else {
        CREATE_MAX
    };
    let mut answer = timeout(answer_max, peers::send(stream, request))
        .await
        .map_err(|_elapsed| PeerError::Timeout)??;
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS
        && let Some(client) = upgrade
    {
        let owner = hyper::upgrade::on(&mut answer);
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            if let (Ok(client), Ok(owner)) = tokio::join!(client, owner) {
                tokio::select! {
                    biased;
                    () = join(client, owner, places) => {}
                    // Clients come back by another server.
                    () = shared.stopping.asked() => {}
                }
            }
        });
    }
    Ok(answer.map(Body::new))
}

fn prepare(headers: &mut HeaderMap, cluster: &Cluster, wary: bool) {
    headers.remove(routing::FOLLOWS_OWNER);
    headers.remove(WARY_HEADER);
    if wary {
        headers.insert(WARY_HEADER, HeaderValue::from_static("1"));
    }
    if let Ok(token) = HeaderValue::from_str(cluster.keys.token()) {
        headers.insert(PEER_HEADER, token);
    }
}

/// Moves bytes both ways until one side has no more: what the other one still had to say, nobody would read.
async fn join(client: Upgraded, owner: Upgraded, _places: Option<(SocketPermit, SocketPermit)>) {
    let (from_client, to_client) = split(TokioIo::new(client));
    let (from_owner, to_owner) = split(TokioIo::new(owner));
    tokio::select! {
        biased;
        () = one_way(from_client, to_owner) => {}
        () = one_way(from_owner, to_client) => {}
    }
}

async fn one_way<T: AsyncRead + AsyncWrite>(from: ReadHalf<T>, mut to: WriteHalf<T>) {
    let mut from = BufReader::with_capacity(BUFFER_BYTES, from);
    // A broken connection ends the tunnel as a closed one does.
    if copy_buf(&mut from, &mut to).await.is_ok() {
        let _broken = to.shutdown().await;
    }
}
