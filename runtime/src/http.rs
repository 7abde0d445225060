//! The listener for HTTP/1.1 and, over TLS where it was offered, HTTP/2: bounded accept, optional TLS, time limits on heads and handshakes, graceful stop.
//!
//! Written on hyper rather than on `axum::serve`, which has neither a time limit for request heads (a silent client
//! would hold its descriptor for ever) nor a bound on connections.

mod body;
mod door;
mod flood;
mod lane;
mod refuse;
mod stall;
mod stream;
mod two;
mod workers;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1::UpgradeableConnection;
use hyper::service::HttpService;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tower::{Service, ServiceExt};

use crate::lifecycle::Shutdown;
use crate::metrics::{self, Counter};
pub use door::bind;
pub use lane::Lane;
pub use stream::Stream;
pub use workers::Workers;

/// Time for a request's head to arrive, and for an idle kept-alive connection to send its next one.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Time for a TLS handshake; an old phone on bad wifi needs two round trips and a second of CPU.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes buffered of a request's head: room for a long cookie and a bearer token, no more. Beyond it the answer is 431.
pub const HEAD_BYTES_MAX: usize = 16 * 1024;
/// How long a connection on which nothing was asked yet may still ask when the stop comes.
const FIRST_REQUEST_GRACE: Duration = Duration::from_secs(1);
/// Pause after accept failed for want of a descriptor or memory; the listener must not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How to listen.
#[derive(Clone)]
pub struct Options {
    /// Client connections held at once, WebSockets included; one more gets 503 and is closed.
    pub connections_max: usize,
    /// Serve TLS.
    pub tls: Option<TlsAcceptor>,
    /// Whether another process may be listening at the same address, and takes over when this one stops.
    pub shared: bool,
    /// How long connections may go on after a stop was asked for.
    pub drain: Duration,
}

/// Serves `service`, such as a router, until `shutdown` is asked, then lets open connections finish for at most
/// `options.drain`. Requests carry the peer's address as `ConnectInfo<SocketAddr>`; the stream of an upgraded one is a
/// [`Stream`].
pub async fn serve<S>(listener: TcpListener, service: S, options: Options, shutdown: Shutdown)
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    accept(listener, service, options, None, shutdown).await;
}

/// [`serve`], with every connection driven by one of `workers`, as well as what `service` does for it.
pub async fn serve_on<S>(
    workers: Workers,
    listener: TcpListener,
    service: S,
    options: Options,
    shutdown: Shutdown,
) where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    accept(listener, service, options, Some(&workers), shutdown).await;
}

async fn accept<S>(
    listener: TcpListener,
    service: S,
    options: Options,
    workers: Option<&Workers>,
    mut shutdown: Shutdown,
) where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let permits_max = u32::try_from(options.connections_max).unwrap_or(u32::MAX);
    let permits = Arc::new(Semaphore::new(
        usize::try_from(permits_max).unwrap_or(Semaphore::MAX_PERMITS),
    ));
    loop {
        let accepted = tokio::select! {
            () = shutdown.asked() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((tcp, peer)) => admit((tcp, peer), &permits, &service, &options, workers, &shutdown),
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                tracing::error!(%error, "accept failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    let (permits_left, options_left) = (&permits, &options);
    let last = move |tcp, peer| {
        admit(
            (tcp, peer),
            permits_left,
            &service,
            options_left,
            workers,
            &shutdown,
        );
    };
    door::close(listener, options.shared, last).await;
    // Every connection holds one permit until its stream is dropped, so all permits back means all are gone.
    let drained = tokio::time::timeout(options.drain, permits.acquire_many(permits_max)).await;
    if drained.is_err() {
        let left = options
            .connections_max
            .saturating_sub(permits.available_permits());
        tracing::warn!(connections = left, "closing connections that did not end in time");
    }
}

fn is_about_one_connection(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    [ConnectionAborted, ConnectionRefused, ConnectionReset].contains(&error.kind())
}

fn admit<S>(
    (tcp, peer): (TcpStream, SocketAddr),
    permits: &Arc<Semaphore>,
    service: &S,
    options: &Options,
    workers: Option<&Workers>,
    shutdown: &Shutdown,
) where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let Ok(permit) = Arc::clone(permits).try_acquire_owned() else {
        metrics::inc(Counter::ConnectionsRefusedTotal);
        refuse::refuse(tcp, options.tls.is_some());
        return;
    };
    metrics::inc(Counter::ConnectionsAcceptedTotal);
    // A frame is written whole; waiting for an acknowledgement of the one before would add a round trip.
    if tcp.set_nodelay(true).is_err() {
        return;
    }
    let (service, tls, shutdown) = (service.clone(), options.tls.clone(), shutdown.clone());
    let connected = |tcp| async move {
        match secure(tcp, tls, permit).await {
            // On the heap: a socket's task must not pay for what HTTP/2 needs.
            Some(stream) if stream.speaks_http2() => {
                Box::pin(two::connection(stream, peer, service, shutdown)).await;
            }
            Some(stream) => connection(stream, peer, service, shutdown).await,
            None => {}
        }
    };
    match workers {
        None => drop(tokio::spawn(connected(tcp))),
        Some(workers) => {
            if let Err(error) = workers.drive(tcp, connected) {
                tracing::error!(%error, "a connection could not be taken");
            }
        }
    }
}

async fn secure(tcp: TcpStream, tls: Option<TlsAcceptor>, permit: OwnedSemaphorePermit) -> Option<Stream> {
    let Some(tls) = tls else {
        return Some(Stream::plain(tcp, permit));
    };
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(tcp)).await {
        Ok(Ok(stream)) => Some(Stream::tls(stream, permit)),
        Ok(Err(_)) | Err(_) => {
            metrics::inc(Counter::TlsHandshakesFailedTotal);
            None
        }
    }
}

async fn connection<S>(stream: Stream, peer: SocketAddr, service: S, mut shutdown: Shutdown)
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let has_asked = Arc::new(AtomicBool::new(false));
    let asking = Arc::clone(&has_asked);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        asking.store(true, Ordering::Relaxed);
        let asks_first = request.headers().contains_key(http::header::EXPECT);
        let mut request = request.map(|body| body::drained(body, asks_first));
        request.extensions_mut().insert(ConnectInfo(peer));
        service.clone().oneshot(request)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // On the heap: an upgraded connection's task must not keep the parser's state on its stack.
    let mut connection = Box::pin(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.asked() => stop(connection, &has_asked).await,
    };
    if let Err(error) = ended {
        // Clients vanish all day long; only a person who looks for one connection wants to read it.
        tracing::debug!(%peer, %error, "connection ended");
    }
}

/// Lets a connection end with what is on its way. hyper would close one without a request at once, in the face of a client whose
/// request is just coming.
async fn stop<S>(
    mut connection: Pin<Box<UpgradeableConnection<TokioIo<Stream>, S>>>,
    has_asked: &AtomicBool,
) -> hyper::Result<()>
where
    S: HttpService<Incoming, ResBody = Body>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if !has_asked.load(Ordering::Relaxed)
        && let Ok(ended) = tokio::time::timeout(FIRST_REQUEST_GRACE, connection.as_mut()).await
    {
        return ended;
    }
    connection.as_mut().graceful_shutdown();
    connection.await
}
