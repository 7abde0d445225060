//! The real binary over TLS: HTTP/2 for pages and calls, WebSockets over HTTP/1.1, a certificate that is replaced while
//! everybody plays, the redirect, and HSTS.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use futures_util::{SinkExt as _, StreamExt as _};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls_pki_types::CertificateDer;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Running, SOON, get, listen, telling};

const HOST: &str = "quiz.example";
/// The files are looked at every 10 s, and once in vain when only one of them is new.
const REPLACED_MAX: Duration = Duration::from_secs(60);

/// A proxy's certificate and key, as files that may be replaced.
struct Identity {
    folder: TempDir,
    certificate: CertificateDer<'static>,
}

impl Identity {
    fn new() -> Self {
        let mut identity = Self {
            folder: tempfile::tempdir().unwrap(),
            certificate: CertificateDer::from(Vec::new()),
        };
        identity.replace();
        identity
    }

    fn replace(&mut self) {
        let made = rcgen::generate_simple_self_signed(vec![HOST.to_owned()]).unwrap();
        std::fs::write(self.folder.path().join("cert.pem"), made.cert.pem()).unwrap();
        std::fs::write(
            self.folder.path().join("key.pem"),
            made.signing_key.serialize_pem(),
        )
        .unwrap();
        self.certificate = made.cert.der().clone();
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }
}

/// The binary; killed when a test ends early.
struct Proxy {
    child: Child,
    secure: SocketAddr,
    plain: SocketAddr,
    // Read to its end by a thread, or the binary would wait for its log to be taken.
    _log: std::thread::JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Both fail when it has ended.
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn said(log: &mut BufReader<ChildStderr>, message: &str) -> SocketAddr {
    let mut line = String::new();
    while log.read_line(&mut line).unwrap() > 0 {
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        if event["fields"]["message"] == message {
            return event["fields"]["bound"].as_str().unwrap().parse().unwrap();
        }
        line.clear();
    }
    panic!("the log ended without {message:?}");
}

/// Before two game servers and an API.
async fn start(identity: &Identity, more: &[&str]) -> (Proxy, [Running; 3]) {
    let servers = [
        listen(telling("game-0")).await,
        listen(telling("game-1")).await,
        listen(telling("api-0")).await,
    ];
    let command = Command::new(env!("CARGO_BIN_EXE_ingress-proxy"));
    (start_as(command, identity, more, &servers), servers)
}

/// The same by a command of its own, and before these.
fn start_as(mut command: Command, identity: &Identity, more: &[&str], servers: &[Running; 3]) -> Proxy {
    let mut child = command
        .env_clear()
        .args(["--listen", "127.0.0.1:0", "--redirect-listen", "127.0.0.1:0"])
        .args(["--log-format", "json", "--hsts-s", "600", "--drain-s", "0"])
        .args([
            "--game",
            &format!("game-0={},game-1={}", servers[0].address, servers[1].address),
        ])
        .args(["--api", &format!("api-0={}", servers[2].address)])
        .args([
            "--tls-cert",
            &identity.file("cert.pem"),
            "--tls-key",
            &identity.file("key.pem"),
        ])
        .args(more)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let plain = said(&mut log, "redirecting to https");
    let secure = said(&mut log, "listening");
    let log = std::thread::spawn(move || log.lines().map_while(Result::ok).for_each(drop));
    Proxy {
        child,
        secure,
        plain,
        _log: log,
    }
}

/// A handshake as `protocols` are offered; the server must have `certificate`.
async fn tls(
    address: SocketAddr,
    certificate: &CertificateDer<'static>,
    protocols: &[&str],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let name = rustls_pki_types::ServerName::try_from(HOST).unwrap();
    let tcp = TcpStream::connect(address).await.unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    timeout(SOON, connector.connect(name, tcp)).await.unwrap()
}

async fn two(address: SocketAddr, identity: &Identity) -> SendRequest<Body> {
    let tls = tls(address, &identity.certificate, &["h2", "http/1.1"])
        .await
        .unwrap();
    assert_eq!(tls.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let (sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(tls))
        .await
        .unwrap();
    tokio::spawn(connection);
    sender
}

async fn whole(answer: Response<Incoming>) -> Response<String> {
    let (parts, body) = answer.into_parts();
    let bytes = timeout(SOON, body.collect()).await.unwrap().unwrap().to_bytes();
    Response::from_parts(parts, String::from_utf8(bytes.into()).unwrap())
}

async fn ask(
    sender: &mut SendRequest<Body>,
    request: http::request::Builder,
    body: Body,
) -> Response<String> {
    let request = request.body(body).unwrap();
    whole(
        timeout(SOON, sender.send_request(request))
            .await
            .unwrap()
            .unwrap(),
    )
    .await
}

fn to(path: &str) -> http::request::Builder {
    Request::builder().uri(format!("https://{HOST}{path}"))
}

type Socket = WebSocketStream<TlsStream<TcpStream>>;

async fn socket(address: SocketAddr, certificate: &CertificateDer<'static>, code: &str) -> Socket {
    let tls = tls(address, certificate, &["http/1.1"]).await.unwrap();
    let url = format!("wss://{HOST}/game/watch?g={code}");
    timeout(SOON, tokio_tungstenite::client_async(url, tls))
        .await
        .unwrap()
        .unwrap()
        .0
}

async fn say(socket: &mut Socket, text: &str) -> String {
    socket.send(Message::text(text)).await.unwrap();
    let heard = timeout(SOON, socket.next()).await.unwrap();
    heard.unwrap().unwrap().into_text().unwrap().to_string()
}

#[tokio::test]
async fn pages_and_calls_come_over_http2() {
    let identity = Identity::new();
    let (proxy, _servers) = start(&identity, &[]).await;
    let mut sender = two(proxy.secure, &identity).await;
    let crumbs = to("/store/quizzes?after=1")
        .header("cookie", "a=1")
        .header("cookie", "b=2")
        .header("te", "trailers")
        .header("x-forwarded-for", "1.2.3.4");
    let answer = ask(&mut sender, crumbs, Body::empty()).await;
    assert_eq!(answer.headers()["strict-transport-security"], "max-age=600");
    assert_eq!(answer.headers()["x-server"], "api-0");
    let told = answer.body();
    for line in [
        "api-0 GET /store/quizzes?after=1\n",
        "\nhost: quiz.example\n",
        "\ncookie: a=1; b=2\n",
        "\nx-forwarded-for: 127.0.0.1\n",
        "\nx-forwarded-proto: https\n",
        "\nvia: 2.0 homeroom-proxy\n",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(!told.contains("trailers") && !told.contains("1.2.3.4"), "{told}");

    // Many at once on one connection, with bodies of known and of unknown length.
    let asked = (0..50).map(|number| {
        let mut sender = sender.clone();
        let body = format!("{number}").repeat(10_000);
        async move {
            let stream = if number % 2 == 0 {
                Body::from(body.clone())
            } else {
                let parts: Vec<_> = body
                    .as_bytes()
                    .chunks(999)
                    .map(|part| Ok::<_, std::io::Error>(part.to_vec()))
                    .collect();
                Body::from_stream(futures_util::stream::iter(parts))
            };
            let answer = ask(&mut sender, to("/store/x").method("POST"), stream).await;
            assert!(answer.body().ends_with(&format!("\n\n{body}")), "{number}");
        }
    });
    futures_util::future::join_all(asked).await;

    for (code, name) in [("K7Q2MX", None), ("nonsense", Some("bad-game-key"))] {
        let answer = ask(&mut sender, to(&format!("/game/status?g={code}")), Body::empty()).await;
        match name {
            None => assert!(answer.body().contains(&format!("GET /status?g={code}\n"))),
            Some(problem) => {
                assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
                assert!(answer.body().contains(problem), "{}", answer.body());
            }
        }
        assert_eq!(answer.headers()["strict-transport-security"], "max-age=600");
    }
    // Of two names, which one is it?
    let answer = ask(
        &mut sender,
        to("/").header("host", "other.example"),
        Body::empty(),
    )
    .await;
    assert!(answer.body().contains("bad-host"), "{answer:?}");
    let answer = ask(&mut sender, to("/").method("CONNECT"), Body::empty()).await;
    assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn http2_can_be_switched_off() {
    let identity = Identity::new();
    let (proxy, _servers) = start(&identity, &["--no-http2"]).await;
    let offered = tls(proxy.secure, &identity.certificate, &["h2", "http/1.1"])
        .await
        .unwrap();
    assert_eq!(offered.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    assert!(tls(proxy.secure, &identity.certificate, &["h2"]).await.is_err());
}

#[tokio::test]
async fn plain_requests_are_sent_to_https() {
    let identity = Identity::new();
    let (proxy, _servers) = start(&identity, &[]).await;
    let answer = get(proxy.plain, "/game/watch?g=K7Q2MX&x=%20").await;
    assert!(answer.starts_with("HTTP/1.1 308 "), "{answer}");
    assert!(
        answer.contains("location: https://quiz.example/game/watch?g=K7Q2MX&x=%20\r\n"),
        "{answer}"
    );
    // Over plain HTTP nobody may say it (RFC 6797, 7.2).
    assert!(!answer.contains("strict-transport-security"), "{answer}");
}

/// Classes play while the certificate is replaced: no socket ends, no handshake fails, and new ones get the new one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_is_replaced_while_classes_play() {
    let mut identity = Identity::new();
    let (proxy, _servers) = start(&identity, &[]).await;
    let codes = ["K7Q2MX", "222222", "ABCDEF", "ZZZZZZ"];
    let mut sockets = Vec::new();
    for code in codes {
        let names = ["game-0", "game-1"];
        let owner = names[protocol::placement::order(&names, code)[0]];
        sockets.push((owner, socket(proxy.secure, &identity.certificate, code).await));
    }
    let old = identity.certificate.clone();
    identity.replace();
    let (mut rounds, mut handshakes) = (0_u32, 0_u32);
    let end = tokio::time::Instant::now() + REPLACED_MAX;
    loop {
        assert!(
            tokio::time::Instant::now() < end,
            "the old certificate is still in use"
        );
        for (owner, socket) in &mut sockets {
            let text = format!("round {rounds}");
            assert_eq!(say(socket, &text).await, format!("{owner}: {text}"));
        }
        rounds += 1;
        // Whoever trusts the old certificate is served until whoever trusts the new one is.
        if tls(proxy.secure, &identity.certificate, &["http/1.1"])
            .await
            .is_ok()
        {
            break;
        }
        match tls(proxy.secure, &old, &["h2"]).await {
            Ok(_) => handshakes += 1,
            // Replaced between these two.
            Err(_) => assert!(tls(proxy.secure, &identity.certificate, &["h2"]).await.is_ok()),
        }
    }
    assert!(
        rounds > 10 && handshakes > 10,
        "{rounds} rounds, {handshakes} handshakes"
    );
    assert!(tls(proxy.secure, &old, &["http/1.1"]).await.is_err());
    let mut late = socket(proxy.secure, &identity.certificate, "K7Q2MX").await;
    let owner = sockets[0].0;
    assert_eq!(say(&mut late, "hello").await, format!("{owner}: hello"));
    for (owner, socket) in &mut sockets {
        assert_eq!(say(socket, "bye").await, format!("{owner}: bye"));
    }
}

/// One client of HTTP/2 may have dozens of requests at once, each with a connection to a server. All of them together leave others
/// the descriptors that they need, and each client gets an answer at a time whatever the others do.
#[tokio::test]
async fn requests_of_http2_do_not_take_everybodys_descriptors() {
    const CLIENTS: usize = 9;
    const EACH: usize = 60;
    // Of the 500 below, 256 are kept back, and a sixteenth of the others is what they share.
    const SHARED: usize = (500 - 256) / 16;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let never = Router::new().fallback(move || {
        count.fetch_add(1, Ordering::Relaxed);
        std::future::pending::<()>()
    });
    let servers = [
        listen(telling("game-0")).await,
        listen(telling("game-1")).await,
        listen(never).await,
    ];
    let identity = Identity::new();
    let mut few = Command::new("/bin/sh");
    let binary = env!("CARGO_BIN_EXE_ingress-proxy");
    few.args(["-c", "ulimit -n 500 && exec \"$0\" \"$@\"", binary]);
    let proxy = start_as(few, &identity, &[], &servers);
    let mut waiting = Vec::new();
    for _ in 0..CLIENTS {
        let sender = two(proxy.secure, &identity).await;
        for _ in 0..EACH {
            let mut sender = sender.clone();
            let request = to("/store/x").body(Body::empty()).unwrap();
            waiting.push(tokio::spawn(async move {
                // Ends with the test.
                let _answer = sender.send_request(request).await;
            }));
        }
    }
    let settled = async {
        while asked.load(Ordering::Relaxed) < SHARED + CLIENTS {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(SOON, settled).await.expect("the share is used");
    // Everybody else finds a place: sockets, and one more client of HTTP/2.
    for _ in 0..20 {
        let mut socket = socket(proxy.secure, &identity.certificate, "K7Q2MX").await;
        assert!(say(&mut socket, "hello").await.ends_with(": hello"));
    }
    let mut sender = two(proxy.secure, &identity).await;
    for _ in 0..3 {
        let answer = ask(&mut sender, to("/game/status?g=K7Q2MX"), Body::empty()).await;
        assert_eq!(answer.status(), StatusCode::OK, "{}", answer.body());
    }
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
}
