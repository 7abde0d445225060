//! A proxy before servers that say what they were asked.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocketUpgrade};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use futures_util::{SinkExt as _, StreamExt as _};
use http::{HeaderMap, Method, Uri};
use ingress_proxy::{Group, Kind, Member, Proxy, Settings};
use runtime::http::{Options, serve};
use runtime::lifecycle::{Shutdown, ShutdownTrigger};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite;

pub(crate) const SOON: Duration = Duration::from_secs(10);
pub(crate) const BODY_BYTES_MAX: u64 = 1_000;

/// Something that listens; dropped, it stops.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    _stop: ShutdownTrigger,
}

pub(crate) async fn listen<S>(service: S) -> Running
where
    S: tower::Service<http::Request<axum::body::Body>, Response = Response, Error = std::convert::Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    listen_on(TcpListener::bind("127.0.0.1:0").await.unwrap(), service)
}

/// The same at a place of its own. Needs a runtime.
pub(crate) fn listen_on<S>(listener: TcpListener, service: S) -> Running
where
    S: tower::Service<http::Request<axum::body::Body>, Response = Response, Error = std::convert::Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    listen_with(listener, service, 1_000)
}

/// The same for more clients.
pub(crate) fn listen_with<S>(listener: TcpListener, service: S, connections_max: usize) -> Running
where
    S: tower::Service<http::Request<axum::body::Body>, Response = Response, Error = std::convert::Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    let address = listener.local_addr().unwrap();
    let (stop, shutdown) = Shutdown::channel();
    let options = Options {
        connections_max,
        shared: false,
        tls: None,
        drain: Duration::ZERO,
    };
    tokio::spawn(serve(listener, service, options, shutdown));
    Running { address, _stop: stop }
}

/// A server that answers with its name and with what it was asked, and echoes on `/watch`, with the prefix and without.
pub(crate) fn telling(name: &'static str) -> Router {
    let tell = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| async move {
        let mut told = format!("{name} {method} {uri}\n");
        for (name, value) in &headers {
            told.push_str(&format!("{name}: {}\n", value.to_str().unwrap()));
        }
        told.push_str(&format!("\n{}", String::from_utf8_lossy(&body)));
        ([("x-server", name)], told).into_response()
    };
    Router::new()
        .route("/watch", any(move |upgrade| echo(name, upgrade)))
        .route("/game/watch", any(move |upgrade| echo(name, upgrade)))
        .fallback(tell)
}

async fn echo(name: &'static str, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(async move |mut socket| {
        while let Some(Ok(Message::Text(text))) = socket.next().await {
            let echoed = format!("{name}: {text}");
            if socket.send(Message::Text(echoed.into())).await.is_err() {
                return;
            }
        }
    })
}

pub(crate) fn group(kind: Kind, servers: &[(&str, SocketAddr)]) -> Group {
    let member = |(name, address): &(&str, SocketAddr)| Member {
        name: (*name).to_owned(),
        address: *address,
        probe_port: None,
    };
    Group::new(kind, servers.iter().map(member).collect()).unwrap()
}

pub(crate) async fn proxy(games: &[(&str, SocketAddr)], apis: &[(&str, SocketAddr)]) -> Running {
    let (games, apis) = (group(Kind::Games, games), group(Kind::Apis, apis));
    listen(Proxy::new(games, apis, settings())).await
}

pub(crate) fn settings() -> Settings {
    Settings {
        https: false,
        body_bytes_max: BODY_BYTES_MAX,
        http2_requests_max: 100,
        trusted: Vec::new(),
        hsts: None,
        access_log: false,
    }
}

/// An address where nobody listens.
pub(crate) async fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap()
}

/// Sends bytes and reads what comes until the connection is closed.
pub(crate) async fn raw(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    // A proxy that closes on a client which is still sending may reset the connection.
    let _ended = timeout(SOON, stream.read_to_end(&mut answer))
        .await
        .expect("the connection is closed");
    String::from_utf8(answer).unwrap()
}

/// One request on a connection of its own.
pub(crate) async fn ask(address: SocketAddr, line: &str, headers: &str, body: &str) -> String {
    let request =
        format!("{line} HTTP/1.1\r\nhost: quiz.example\r\nconnection: close\r\n{headers}\r\n{body}");
    raw(address, request.as_bytes()).await
}

pub(crate) async fn get(address: SocketAddr, path: &str) -> String {
    ask(address, &format!("GET {path}"), "", "").await
}

pub(crate) type Socket = tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<TcpStream>>;

pub(crate) async fn socket(address: SocketAddr, path: &str) -> Result<Socket, tungstenite::Error> {
    let url = format!("ws://{address}{path}");
    let connecting = tokio_tungstenite::connect_async(url);
    Ok(timeout(SOON, connecting).await.expect("an answer")?.0)
}

/// Sends a text and returns the answer.
pub(crate) async fn say(socket: &mut Socket, text: &str) -> String {
    socket.send(tungstenite::Message::text(text)).await.unwrap();
    hear(socket).await
}

pub(crate) async fn hear(socket: &mut Socket) -> String {
    let heard = timeout(SOON, socket.next()).await.expect("a message");
    heard.unwrap().unwrap().into_text().unwrap().to_string()
}
