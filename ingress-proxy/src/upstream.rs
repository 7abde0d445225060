//! One server behind the proxy: its address, whether it takes new requests, how many it has, and connections to it.

mod body;
mod pool;
mod suspicion;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use runtime::metrics::Server;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::members::{Kind, Member};
pub(crate) use body::bounded;
use pool::Pool;
use suspicion::Suspicion;

/// Time for a connection within a cluster: a lost SYN is sent again after 1 s, so this covers none, and the next server is
/// asked instead.
const CONNECT_MAX: Duration = Duration::from_millis(900);
/// Time for the answer to a WebSocket handshake. A server that takes a game over first reads it from its store.
const HANDSHAKE_MAX: Duration = Duration::from_secs(5);
/// Bytes of an answer's head: what the servers send is under 1 kB.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// `ENFILE` and `EMFILE`, on Linux as on macOS: no descriptor is left, in the system or in the process.
const NO_DESCRIPTOR: [i32; 2] = [23, 24];

/// What all APIs together are called in the metrics.
const APIS: &str = "api";

/// Why a server gave no answer.
#[derive(Debug, Error)]
pub enum UpstreamError {
    /// There is no connection; nothing was sent.
    #[error("connect to {0}")]
    Connect(SocketAddr, #[source] std::io::Error),
    /// There is no connection because this process, or this machine, can make no more; the server has no part in it.
    #[error("open one more connection")]
    Exhausted(#[source] std::io::Error),
    /// It took the request, or a part of it, and gave no answer that can be read.
    #[error("the server broke off")]
    Broken(#[source] hyper::Error),
    /// It did not answer in time.
    #[error("the server did not answer in time")]
    Late,
}

/// A server.
#[derive(Debug)]
pub struct Upstream {
    member: Member,
    ready: AtomicBool,
    silent: AtomicBool,
    suspicion: Suspicion,
    in_flight: AtomicUsize,
    pool: Pool,
    metrics: Server,
}

impl Upstream {
    /// A server that is taken for ready until it is known not to be.
    #[must_use]
    pub fn new(kind: Kind, member: Member) -> Self {
        // Names of APIs come and go with every release; a series for each would never end.
        let label = match kind {
            Kind::Games => member.name.as_str(),
            Kind::Apis => APIS,
        };
        Self {
            ready: AtomicBool::new(true),
            silent: AtomicBool::new(false),
            suspicion: Suspicion::default(),
            in_flight: AtomicUsize::new(0),
            pool: Pool::default(),
            metrics: Server::named(label),
            member,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.member.name
    }

    /// What the configuration or the cluster says of it.
    #[must_use]
    pub fn member(&self) -> &Member {
        &self.member
    }

    /// What is counted of it.
    pub(crate) fn metrics(&self) -> &Server {
        &self.metrics
    }

    /// Whether new requests should go there: it has not said no, and connections to it do not fail.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.says_ready() && !self.suspicion.is_raised(Instant::now())
    }

    /// Whether it said so when it was asked last.
    pub(crate) fn says_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    /// Says whether new requests should go there.
    pub fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Relaxed);
    }

    /// Whether it answers nothing at all, so that waiting for it is in vain.
    pub(crate) fn is_silent(&self) -> bool {
        self.silent.load(Ordering::Relaxed)
    }

    /// Says whether it answers nothing at all.
    pub(crate) fn set_silent(&self, silent: bool) {
        self.silent.store(silent, Ordering::Relaxed);
    }

    /// Requests that it has and has not finished answering; tunnels are none.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    async fn connect(&self) -> Result<TcpStream, UpstreamError> {
        let failed = |error| {
            if is_ours(&error) {
                return UpstreamError::Exhausted(error);
            }
            self.suspicion.failed(Instant::now());
            UpstreamError::Connect(self.member.address, error)
        };
        let connecting = TcpStream::connect(self.member.address);
        let tcp = match tokio::time::timeout(CONNECT_MAX, connecting).await {
            Ok(connected) => connected.map_err(failed)?,
            Err(_) => return Err(failed(std::io::ErrorKind::TimedOut.into())),
        };
        tcp.set_nodelay(true).map_err(failed)?;
        self.suspicion.connected();
        Ok(tcp)
    }

    /// Sends a WebSocket handshake on a connection of its own. The answer to an accepted one can be upgraded to a
    /// `TokioIo<TcpStream>`.
    ///
    /// # Errors
    /// No connection, no answer, or none in time.
    pub(crate) async fn upgrade(
        &self,
        request: Request<Empty<Bytes>>,
    ) -> Result<Response<Incoming>, UpstreamError> {
        let io = TokioIo::new(self.connect().await?);
        let asking = async {
            let (mut sender, connection) = http1::Builder::new()
                .max_buf_size(HEAD_BYTES_MAX)
                .handshake(io)
                .await?;
            tokio::spawn(async move {
                // What breaks here is told to whoever waits for the answer or its body.
                let _ended = connection.with_upgrades().await;
            });
            sender.send_request(request).await
        };
        match tokio::time::timeout(HANDSHAKE_MAX, asking).await {
            Ok(answer) => answer.map_err(UpstreamError::Broken),
            Err(_) => Err(UpstreamError::Late),
        }
    }

    /// Sends a request on a kept connection or a new one, and returns the answer, at the latest after `patience`. A request
    /// of which nothing was sent comes back with the error.
    ///
    /// # Errors
    /// No connection, no answer, or none in time.
    pub(crate) async fn send(
        self: &Arc<Self>,
        request: Request<Body>,
        patience: Duration,
    ) -> Result<Response<Body>, (UpstreamError, Option<Request<Body>>)> {
        let load = Load::new(self);
        let mut request = request;
        // A kept connection may have been closed by the server since; then the request comes back unsent.
        while let Some(sender) = self.pool.take() {
            match self.send_on(sender, request, patience).await {
                Ok((response, sender)) => return Ok(body::leased(response, sender, load)),
                Err((_, Some(unsent))) => request = unsent,
                Err((error, None)) => return Err((error, None)),
            }
        }
        let tcp = match self.connect().await {
            Ok(tcp) => tcp,
            Err(error) => return Err((error, Some(request))),
        };
        let made = http1::Builder::new()
            .max_buf_size(HEAD_BYTES_MAX)
            .handshake(TokioIo::new(tcp))
            .await;
        let sender = match made {
            Ok((sender, connection)) => {
                tokio::spawn(async move {
                    // What breaks here is told to whoever waits for the answer or its body.
                    let _ended = connection.await;
                });
                sender
            }
            Err(error) => return Err((UpstreamError::Broken(error), Some(request))),
        };
        let (response, sender) = self.send_on(sender, request, patience).await?;
        Ok(body::leased(response, sender, load))
    }

    async fn send_on(
        &self,
        mut sender: SendRequest<Body>,
        request: Request<Body>,
        patience: Duration,
    ) -> Result<(Response<Incoming>, SendRequest<Body>), (UpstreamError, Option<Request<Body>>)> {
        match tokio::time::timeout(patience, sender.try_send_request(request)).await {
            Ok(Ok(response)) => Ok((response, sender)),
            Ok(Err(mut error)) => {
                let unsent = error.take_message();
                Err((UpstreamError::Broken(error.into_error()), unsent))
            }
            Err(_) => Err((UpstreamError::Late, None)),
        }
    }
}

/// Whether it is this process or this machine that can make no more connections.
pub(crate) fn is_ours(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::AddrNotAvailable
        || error
            .raw_os_error()
            .is_some_and(|number| NO_DESCRIPTOR.contains(&number))
}

/// Counts a request for as long as it is being answered.
struct Load(Arc<Upstream>);

impl Load {
    fn new(upstream: &Arc<Upstream>) -> Self {
        upstream.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(upstream))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_machine_cannot_do_is_not_held_against_a_server() {
        for (number, ours) in [(23, true), (24, true), (111, false), (104, false)] {
            let error = std::io::Error::from_raw_os_error(number);
            assert_eq!(is_ours(&error), ours, "{error}");
        }
        assert!(is_ours(&std::io::ErrorKind::AddrNotAvailable.into()));
        assert!(!is_ours(&std::io::ErrorKind::TimedOut.into()));
    }
}
