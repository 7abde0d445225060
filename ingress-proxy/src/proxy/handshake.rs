//! The WebSocket of a game: the handshake goes to the server that holds it, and once that has said 101, bytes go both ways.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::header::UPGRADE;
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use protocol::ids::GameCode;
use runtime::http::Stream;
use tokio::net::TcpStream;

use super::Proxy;
use super::game::Search;
use crate::headers;
use crate::notes::ServedBy;
use crate::refusal::Refusal;
use crate::screen;
use crate::tunnel::{self, Ended};
use crate::upstream::{self, Upstream, UpstreamError};

/// Time for both connections to become a tunnel once 101 has been said: the client has to take 200 bytes.
const SWITCH_MAX: Duration = Duration::from_secs(10);

impl Proxy {
    /// A handshake, and the tunnel after it.
    pub(super) async fn tunnel(
        &self,
        code: GameCode,
        parts: Parts,
        upgrade: OnUpgrade,
    ) -> Result<Response<Body>, Refusal> {
        let (uri, mut headers) = (parts.uri, parts.headers);
        let mut search = Search::new(self, code);
        let mut why = Refusal::NoServer;
        while let Some(server) = search.ask() {
            search.mark(&mut headers);
            match server.0.upgrade(handshake(&uri, &headers)).await {
                Ok(response) => {
                    if search.settles(&server, response.status(), response.headers())? {
                        return self.settled(response, upgrade, server.0);
                    }
                    why = Refusal::Moving;
                }
                Err(error) => {
                    why = self.refusal(&error);
                    if why.is_no_servers() {
                        return Err(why);
                    }
                    search.unreachable(&server);
                    match error {
                        // A handshake changes nothing, so another server may have it.
                        UpstreamError::Connect(..) | UpstreamError::Broken(_) => {}
                        UpstreamError::Late | UpstreamError::Exhausted(_) => return Err(why),
                    }
                }
            }
        }
        Err(why)
    }

    /// The answer for the client; with 101 the tunnel begins.
    fn settled(
        &self,
        mut response: Response<Incoming>,
        client: OnUpgrade,
        server: Arc<Upstream>,
    ) -> Result<Response<Body>, Refusal> {
        let served_by = ServedBy(Arc::clone(&server));
        response.extensions_mut().insert(served_by);
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            headers::for_client(response.headers_mut());
            return Ok(upstream::bounded(response));
        }
        if !screen::has_token(response.headers(), &UPGRADE, "websocket") {
            return Err(Refusal::Broken);
        }
        headers::for_client(response.headers_mut());
        headers::for_socket(response.headers_mut());
        let server_side = hyper::upgrade::on(&mut response);
        let tunnels = self.0.tunnels.clone();
        tokio::spawn(async move {
            let both = async { Ok::<_, hyper::Error>((client.await?, server_side.await?)) };
            // A client that left in the meantime has nobody to tell it to.
            let Ok(Ok((client, upstream))) = tokio::time::timeout(SWITCH_MAX, both).await else {
                return;
            };
            // A task of its own, which holds nothing else.
            if let Some(tunnel) = bare(client, upstream) {
                tunnels.run(server, tunnel);
            }
        });
        Ok(response.map(|_| Body::empty()))
    }
}

fn handshake(uri: &Uri, headers: &HeaderMap) -> Request<Empty<Bytes>> {
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = uri.clone();
    *request.headers_mut() = headers.clone();
    request
}

/// Takes the bare connections out of what hyper made of them.
fn bare(client: Upgraded, server: Upgraded) -> Option<impl Future<Output = Ended> + Send + 'static> {
    let (Ok(client), Ok(server)) = (
        client.downcast::<TokioIo<Stream>>(),
        server.downcast::<TokioIo<TcpStream>>(),
    ) else {
        tracing::error!("a tunnel's connection is of an unknown kind");
        return None;
    };
    let (from_client, from_server) = (own(&client.read_buf), own(&server.read_buf));
    let (client, server) = (client.io.into_inner(), server.io.into_inner());
    Some(tunnel::run(client, server, from_client, from_server))
}

/// The same bytes without the buffer that they were read into.
fn own(bytes: &Bytes) -> Bytes {
    Bytes::copy_from_slice(bytes)
}
