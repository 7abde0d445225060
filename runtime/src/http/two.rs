//! HTTP/2 on one connection: its bounds, its end when nobody asks any more, and what of it may stand still.
//!
//! hyper speaks the protocol. What it leaves open is here: a connection without streams has no time limit of its own, an
//! answer that the client's flow control stops has none either (`stall`), and frames that ask for nothing cost nothing
//! (`flood`). WebSockets stay on HTTP/1.1 (docs/adr/0025), so nothing is upgraded here.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tower::{Service, ServiceExt};

use super::flood::Guarded;
use super::lane::Lane;
use super::stall::{self, Streams};
use super::{HEAD_BYTES_MAX, HEAD_TIMEOUT};
use crate::lifecycle::Shutdown;
use crate::metrics::{Alive, Gauge};

/// Requests in flight on one connection. A browser makes six connections of HTTP/1.1 instead, and our largest page asks for
/// fewer than twenty files; the 65th is refused and may be sent again.
const STREAMS_MAX: u32 = 64;
/// Bytes that a client may send on one stream before they are read: 64 KiB in a round trip of 100 ms are 5 Mbit/s, more than
/// a school's line gives one teacher's upload.
const STREAM_WINDOW_BYTES: u32 = 64 * 1024;
/// The same of all streams of a connection, which is what a client can make us hold.
const CONNECTION_WINDOW_BYTES: u32 = 256 * 1024;
/// Bytes of one answer that wait for the client.
const SEND_BUFFER_BYTES: usize = 64 * 1024;
/// Streams that a client has cancelled before they were looked at, and streams that we have reset, whose late frames must be
/// told from wrong ones. Past it the connection ends with `ENHANCE_YOUR_CALM`.
const RESETS_MAX: usize = 20;
/// How often an idle connection is asked whether its client is still there, and how long it may take to answer.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_MAX: Duration = Duration::from_secs(20);
/// Time for a client to take its leave once it was told to.
const LEAVE_MAX: Duration = Duration::from_secs(5);

/// Serves one connection until it ends.
pub(super) async fn connection<IO, S>(io: IO, peer: SocketAddr, service: S, mut shutdown: Shutdown)
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let _alive = Alive::new(Gauge::Http2Connections);
    let lane = Lane::new();
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        // Nothing is drained: the rest of an unwanted body ends with its stream, and no other request suffers.
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        request.extensions_mut().insert(lane.clone());
        let answering = service.clone().oneshot(request);
        async move { answering.await.map(|response| response.map(stall::watched)) }
    });
    let streams = Streams::default();
    let io = TokioIo::new(Guarded::new(io, peer));
    let connection = bounded(streams.clone()).serve_connection(io, service);
    let mut connection = Box::pin(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = streams.unused_for(HEAD_TIMEOUT) => {
            connection.as_mut().graceful_shutdown();
            tokio::time::timeout(LEAVE_MAX, connection.as_mut()).await.unwrap_or(Ok(()))
        }
        () = shutdown.asked() => {
            // What is asked at this moment is still answered: the client is told the last number only after a round trip.
            connection.as_mut().graceful_shutdown();
            connection.as_mut().await
        }
    };
    if let Err(error) = ended {
        // As with HTTP/1.1: clients vanish all day long.
        tracing::debug!(%peer, %error, "connection ended");
    }
}

fn bounded(streams: Streams) -> http2::Builder<Streams> {
    let mut builder = http2::Builder::new(streams);
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(u32::try_from(HEAD_BYTES_MAX).unwrap_or(u32::MAX))
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_send_buf_size(SEND_BUFFER_BYTES)
        .max_pending_accept_reset_streams(RESETS_MAX)
        .max_local_error_reset_streams(RESETS_MAX)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_MAX);
    builder
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::Router;
    use axum::routing::get;
    use http::Uri;
    use http_body_util::BodyExt as _;
    use hyper::client::conn::http2::SendRequest;
    use hyper_util::rt::TokioExecutor;
    use tokio::task::JoinHandle;
    use tokio::time::Instant;

    use super::*;
    use crate::lifecycle::ShutdownTrigger;

    /// Both ends of a connection in memory, so that the paused clock moves only when nobody has anything to do.
    async fn both() -> (SendRequest<Body>, JoinHandle<()>, ShutdownTrigger) {
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        let (stop, shutdown) = Shutdown::channel();
        let router = Router::new()
            .route("/", get(|| async { "hello" }))
            .route("/page", get(|| async { "x".repeat(1024 * 1024) }))
            .route("/late", get(|| tokio::time::sleep(Duration::from_secs(70))));
        let peer = "192.0.2.7:1".parse().unwrap();
        let serving = tokio::spawn(connection(ours, peer, router, shutdown));
        let (sender, client) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .handshake(TokioIo::new(theirs))
            .await
            .unwrap();
        tokio::spawn(client);
        (sender, serving, stop)
    }

    fn to(path: &'static str) -> Request<Body> {
        let mut request = Request::new(Body::empty());
        let path = format!("https://quiz.example{path}");
        *request.uri_mut() = Uri::try_from(path).unwrap();
        request
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_its_client_does_not_take_is_given_up_and_the_others_go_on() {
        let (mut sender, _serving, _stop) = both().await;
        let begun = Instant::now();
        let mut page = sender.send_request(to("/page")).await.unwrap().into_body();
        // An answer that is long in coming is no standstill.
        let late = sender.send_request(to("/late")).await.unwrap();
        assert_eq!(late.status(), http::StatusCode::OK);
        assert_eq!(begun.elapsed().as_secs(), 70);
        let mut bytes = 0;
        let ended = loop {
            match page.frame().await {
                Some(Ok(frame)) => bytes += frame.data_ref().map_or(0, bytes::Bytes::len),
                other => break other,
            }
        };
        assert!(matches!(ended, Some(Err(_))), "{ended:?} after {bytes} bytes");
        assert!(bytes < 1024 * 1024);
        let whole = sender.send_request(to("/page")).await.unwrap().into_body();
        assert_eq!(whole.collect().await.unwrap().to_bytes().len(), 1024 * 1024);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_requests_is_closed_and_one_that_waits_is_not() {
        let (mut sender, serving, _stop) = both().await;
        sender.send_request(to("/late")).await.unwrap();
        assert!(!serving.is_finished());
        let begun = Instant::now();
        serving.await.unwrap();
        let waited = begun.elapsed();
        assert!(
            waited >= HEAD_TIMEOUT && waited <= 2 * HEAD_TIMEOUT + LEAVE_MAX,
            "{waited:?}"
        );
    }
}
