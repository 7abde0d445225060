//! HTTP/2 on real sockets: who speaks it, what one client may ask at once, and what floods come to.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::{get, post};
use runtime::http::{Options, serve};
use runtime::lifecycle::{Shutdown, ShutdownTrigger};
use runtime::tls::Reloading;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

const SOON: Duration = Duration::from_secs(10);

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
/// `END_STREAM` and `END_HEADERS`.
const WHOLE: u8 = 0x5;
const END_HEADERS: u8 = 0x4;

struct Server {
    address: SocketAddr,
    stop: ShutdownTrigger,
    certificate: rustls_pki_types::CertificateDer<'static>,
    _folder: tempfile::TempDir,
}

async fn start(connections_max: usize) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["school.example".to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, shutdown) = Shutdown::channel();
    let options = Options {
        connections_max,
        shared: false,
        tls: Some(
            Reloading::read(&certificate, &key)
                .unwrap()
                .with_http2()
                .acceptor(),
        ),
        drain: SOON,
    };
    let router = Router::new()
        .route(
            "/",
            get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { format!("hello {}", peer.ip()) }),
        )
        .route("/never", get(std::future::pending::<()>))
        .route(
            "/count",
            post(|body: String| async move { body.len().to_string() }),
        );
    tokio::spawn(serve(listener, router, options, shutdown));
    Server {
        address,
        stop,
        certificate: made.cert.der().clone(),
        _folder: folder,
    }
}

async fn tls(server: &Server, protocols: &[&str]) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(server.certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let name = rustls_pki_types::ServerName::try_from("school.example").unwrap();
    let tcp = TcpStream::connect(server.address).await.unwrap();
    tokio_rustls::TlsConnector::from(Arc::new(config))
        .connect(name, tcp)
        .await
}

#[derive(Debug)]
struct Frame {
    kind: u8,
    stream: u32,
    payload: Vec<u8>,
}

/// A client that sends what it likes.
struct Client(TlsStream<TcpStream>);

impl Client {
    async fn connect(server: &Server) -> Self {
        let mut tls = tls(server, &["h2"]).await.unwrap();
        tls.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        let mut client = Self(tls);
        client.send(&frame(SETTINGS, 0, 0, b"")).await;
        client
    }

    /// What cannot be sent any more, because the connection has ended, is left.
    async fn send(&mut self, bytes: &[u8]) {
        let _ended = self.0.write_all(bytes).await;
        let _ended = self.0.flush().await;
    }

    /// None when the connection has ended.
    async fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        timeout(SOON, self.0.read_exact(&mut head)).await.unwrap().ok()?;
        let mut payload =
            vec![0; usize::try_from(u32::from_be_bytes([0, head[0], head[1], head[2]])).unwrap()];
        timeout(SOON, self.0.read_exact(&mut payload))
            .await
            .unwrap()
            .ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some(Frame {
            kind: head[3],
            stream,
            payload,
        })
    }

    /// The next one that `fits`.
    async fn until(&mut self, fits: impl Fn(&Frame) -> bool) -> Option<Frame> {
        loop {
            let frame = self.next().await?;
            if fits(&frame) {
                return Some(frame);
            }
        }
    }

    /// Whether a stream gets a good answer.
    async fn is_served(&mut self, stream: u32) -> bool {
        let served = self.until(|frame| frame.stream == stream && is_ok(frame));
        served.await.is_some()
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A header without the dynamic table and without Huffman's code.
fn header(name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![0];
    for text in [name, value] {
        let length = u8::try_from(text.len()).unwrap();
        assert!(length < 127);
        bytes.push(length);
        bytes.extend(text.as_bytes());
    }
    bytes
}

fn ask(stream: u32, method: &str, path: &str, flags: u8) -> Vec<u8> {
    let headers = [
        (":method", method),
        (":scheme", "https"),
        (":authority", "school.example"),
        (":path", path),
    ];
    let block: Vec<u8> = headers
        .iter()
        .flat_map(|(name, value)| header(name, value))
        .collect();
    frame(HEADERS, flags, stream, &block)
}

/// `:status: 200` from the static table.
fn is_ok(frame: &Frame) -> bool {
    frame.kind == HEADERS && frame.payload.first() == Some(&0x88)
}

#[tokio::test]
async fn the_handshake_chooses_the_protocol() {
    let server = start(8).await;
    for (offered, chosen) in [
        (&["h2", "http/1.1"][..], Some("h2")),
        (&["h2"], Some("h2")),
        (&["http/1.1"], Some("http/1.1")),
        (&[], None),
    ] {
        let mut tls = tls(&server, offered).await.unwrap();
        let alpn = tls
            .get_ref()
            .1
            .alpn_protocol()
            .map(|name| String::from_utf8(name.to_vec()).unwrap());
        assert_eq!(alpn.as_deref(), chosen);
        if chosen == Some("h2") {
            continue;
        }
        tls.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            .await
            .unwrap();
        let mut answer = String::new();
        timeout(SOON, tls.read_to_string(&mut answer))
            .await
            .unwrap()
            .unwrap();
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("hello 127.0.0.1"),
            "{answer}"
        );
    }
    assert!(tls(&server, &["spdy/3"]).await.is_err());
    let mut client = Client::connect(&server).await;
    client.send(&ask(1, "GET", "/", WHOLE)).await;
    assert!(client.until(is_ok).await.is_some());
    let body = client.until(|frame| frame.kind == DATA).await.unwrap();
    assert_eq!(body.payload, b"hello 127.0.0.1");
}

/// What a hostile client may send again and again.
fn flood(kind: u8) -> Vec<u8> {
    match kind {
        PING => frame(PING, 0, 0, b"12345678"),
        SETTINGS => frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]),
        PRIORITY => frame(PRIORITY, 0, 3, &[0, 0, 0, 0, 1]),
        WINDOW_UPDATE => frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]),
        other => frame(other, 0, 0, b"of a kind that nobody knows"),
    }
}

#[tokio::test]
async fn floods_end_the_connection_and_nobody_elses() {
    let metrics = runtime::metrics::install().unwrap();
    let server = start(8).await;
    let mut good = Client::connect(&server).await;
    for kind in [PING, SETTINGS, PRIORITY, WINDOW_UPDATE, 0x42] {
        let mut client = Client::connect(&server).await;
        // Less than a client may send at once: all is well.
        client.send(&flood(kind).repeat(300)).await;
        client.send(&ask(3, "GET", "/", WHOLE)).await;
        assert!(client.is_served(3).await, "{kind}");
        client.send(&flood(kind).repeat(400)).await;
        assert!(client.until(|_| false).await.is_none(), "{kind}");
    }
    good.send(&ask(1, "GET", "/", WHOLE)).await;
    assert!(good.until(is_ok).await.is_some());
    let floods = metrics.render();
    assert!(floods.contains("homeroom_http_floods_total 5\n"), "{floods}");
}

#[tokio::test]
async fn streams_that_are_reset_at_once_end_the_connection() {
    let server = start(8).await;
    let mut client = Client::connect(&server).await;
    for number in 0..1_000 {
        let stream = 2 * number + 1;
        let mut both = ask(stream, "GET", "/never", WHOLE);
        both.extend(frame(RST_STREAM, 0, stream, &[0, 0, 0, 8]));
        client.send(&both).await;
    }
    assert!(client.until(|_| false).await.is_none());
}

/// Counted by h2.
#[tokio::test]
async fn empty_data_ends_the_connection() {
    let server = start(8).await;
    let mut client = Client::connect(&server).await;
    client.send(&ask(1, "POST", "/count", END_HEADERS)).await;
    client.send(&frame(DATA, 0, 1, b"").repeat(1_000)).await;
    assert!(client.until(|_| false).await.is_none());
}

#[tokio::test]
async fn endless_headers_end_the_connection() {
    let server = start(8).await;
    let mut client = Client::connect(&server).await;
    client.send(&ask(1, "GET", "/", 0x1)).await;
    let more = frame(CONTINUATION, 0, 1, &header("x-long", &"y".repeat(100)));
    client.send(&more.repeat(1_000)).await;
    assert!(client.until(|_| false).await.is_none());
}

#[tokio::test]
async fn headers_of_more_than_16_kib_are_refused_and_the_connection_lives() {
    let server = start(8).await;
    let mut client = Client::connect(&server).await;
    let mut block: Vec<u8> = [
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", "a"),
        (":path", "/"),
    ]
    .iter()
    .flat_map(|(name, value)| header(name, value))
    .collect();
    block.extend(header("x-long", &"y".repeat(100)).repeat(130));
    assert!(
        block.len() < 16 * 1024,
        "they fit a frame, and with 32 bytes for each not the limit"
    );
    client.send(&frame(HEADERS, WHOLE, 1, &block)).await;
    let refused = client.until(|frame| frame.stream == 1).await.unwrap();
    assert!(refused.kind == HEADERS && !is_ok(&refused), "{refused:?}");
    client.send(&ask(3, "GET", "/", WHOLE)).await;
    assert!(client.is_served(3).await);
}

#[tokio::test]
async fn one_stream_too_many_is_refused_and_the_others_live() {
    let server = start(8).await;
    let mut client = Client::connect(&server).await;
    for number in 0..64 {
        client.send(&ask(2 * number + 1, "GET", "/never", WHOLE)).await;
    }
    client.send(&ask(129, "GET", "/", WHOLE)).await;
    let refused = client.until(|frame| frame.kind == RST_STREAM).await.unwrap();
    // REFUSED_STREAM: nothing was done, so it may be sent again.
    assert_eq!((refused.stream, refused.payload), (129, vec![0, 0, 0, 7]));
    client.send(&frame(RST_STREAM, 0, 1, &[0, 0, 0, 8])).await;
    client.send(&ask(131, "GET", "/", WHOLE)).await;
    assert!(client.is_served(131).await);
}

/// No proxied sockets: whoever opens one over HTTP/2 is told so, and uses HTTP/1.1.
#[tokio::test]
async fn sockets_are_not_offered() {
    let server = start(8).await;
    let mut client = Client::connect(&server).await;
    let settings = client.until(|frame| frame.kind == SETTINGS).await.unwrap();
    let offers = settings
        .payload
        .chunks(6)
        .any(|setting| setting.starts_with(&[0, 8]));
    assert!(!offers, "SETTINGS_ENABLE_CONNECT_PROTOCOL in {settings:?}");
    let mut block: Vec<u8> = [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        (":scheme", "https"),
        (":authority", "a"),
        (":path", "/"),
    ]
    .iter()
    .flat_map(|(name, value)| header(name, value))
    .collect();
    block.extend(header("sec-websocket-version", "13"));
    client.send(&frame(HEADERS, END_HEADERS, 1, &block)).await;
    let refused = client.until(|frame| frame.stream == 1).await.unwrap();
    assert_eq!(refused.kind, RST_STREAM, "{refused:?}");
}

#[tokio::test]
async fn a_stop_lets_requests_finish_and_says_goodbye() {
    let server = start(8).await;
    let mut client = Client::connect(&server).await;
    client.send(&ask(1, "POST", "/count", END_HEADERS)).await;
    client.send(&ask(3, "GET", "/", WHOLE)).await;
    assert!(client.is_served(3).await);
    drop(server.stop);
    assert!(client.until(|frame| frame.kind == GOAWAY).await.is_some());
    client.send(&frame(DATA, 1, 1, b"12345")).await;
    let body = client
        .until(|frame| frame.kind == DATA && frame.stream == 1)
        .await
        .unwrap();
    assert_eq!(body.payload, b"5");
    // The client's answer to the ping that came with the goodbye.
    client
        .send(&frame(
            PING,
            1,
            0,
            &[0x0b, 0x7b, 0xa2, 0xf0, 0x8b, 0x9b, 0xfe, 0x54],
        ))
        .await;
    assert!(client.until(|_| false).await.is_none());
}
