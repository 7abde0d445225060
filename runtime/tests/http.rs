//! The listener on real sockets: its bound, its answer past the bound, TLS, clients that do not read or do not stop sending,
//! and a stop that lets requests finish.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::routing::{get, post};
use runtime::http::{Options, serve};
use runtime::lifecycle::{Shutdown, ShutdownTrigger};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(5);

struct Server {
    address: SocketAddr,
    stop: ShutdownTrigger,
    task: JoinHandle<()>,
}

async fn start(router: Router, connections_max: usize, tls: Option<tokio_rustls::TlsAcceptor>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, shutdown) = Shutdown::channel();
    let options = Options {
        connections_max,
        shared: false,
        tls,
        drain: SOON,
    };
    let task = tokio::spawn(serve(listener, router, options, shutdown));
    Server { address, stop, task }
}

fn hello() -> Router {
    Router::new().route(
        "/",
        get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { format!("hello {}", peer.ip()) }),
    )
}

async fn ask(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(SOON, stream.read_to_string(&mut answer))
        .await
        .unwrap()
        .unwrap();
    answer
}

#[tokio::test]
async fn past_the_bound_a_connection_is_told_so_and_a_freed_place_serves_again() {
    let server = start(hello(), 1, None).await;
    let mut first = TcpStream::connect(server.address).await.unwrap();
    // Proves that the first connection holds its place: a served request, kept alive.
    first
        .write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n")
        .await
        .unwrap();
    let mut buffer = [0; 1024];
    assert!(timeout(SOON, first.read(&mut buffer)).await.unwrap().unwrap() > 0);

    let refused = ask(&mut TcpStream::connect(server.address).await.unwrap(), "/").await;
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert!(refused.contains("retry-after: 2"), "{refused}");
    assert!(refused.contains(r#""code":"server-full""#), "{refused}");

    drop(first);
    let served = timeout(SOON, async {
        loop {
            let answer = ask(&mut TcpStream::connect(server.address).await.unwrap(), "/").await;
            if answer.starts_with("HTTP/1.1 200 ") {
                return answer;
            }
        }
    });
    assert!(served.await.unwrap().ends_with("hello 127.0.0.1"));
}

#[tokio::test]
async fn a_stop_refuses_new_connections_and_lets_a_running_request_finish() {
    let (entered, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (inner_entered, inner_release) = (Arc::clone(&entered), Arc::clone(&release));
    let router = Router::new().route(
        "/",
        get(move || async move {
            inner_entered.notify_one();
            inner_release.notified().await;
            "done"
        }),
    );
    let server = start(router, 8, None).await;
    let mut client = TcpStream::connect(server.address).await.unwrap();
    let asking = tokio::spawn(async move { ask(&mut client, "/").await });
    timeout(SOON, entered.notified()).await.unwrap();
    server.stop.trigger();
    let closed = timeout(SOON, async {
        while TcpStream::connect(server.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    });
    closed.await.unwrap();
    release.notify_one();
    assert!(asking.await.unwrap().ends_with("done"));
    timeout(SOON, server.task).await.unwrap().unwrap();
}

#[tokio::test]
async fn tls_is_served_with_the_given_certificate_and_plain_text_on_it_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["school.example".to_owned()]).unwrap();
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let server = start(
        hello(),
        8,
        Some(runtime::tls::acceptor(&certificate, &key).unwrap()),
    )
    .await;

    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = rustls_pki_types::ServerName::try_from("school.example").unwrap();
    let tcp = TcpStream::connect(server.address).await.unwrap();
    let mut tls = tokio_rustls::TlsConnector::from(Arc::new(config))
        .connect(name, tcp)
        .await
        .unwrap();
    assert!(ask(&mut tls, "/").await.ends_with("hello 127.0.0.1"));

    let mut plain = TcpStream::connect(server.address).await.unwrap();
    plain
        .write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    // Closed, by an alert or a reset; what matters is that nothing of the product is served.
    drop(timeout(SOON, plain.read_to_end(&mut answer)).await.unwrap());
    assert!(!String::from_utf8_lossy(&answer).contains("hello"));
}

#[tokio::test]
async fn a_refusal_is_read_by_a_client_that_is_still_sending() {
    const BODY_BYTES: usize = 32 * 1024 * 1024;
    let router = Router::new().route(
        "/",
        post(|| async { (http::StatusCode::UNAUTHORIZED, "sign in first") }),
    );
    let server = start(router, 8, None).await;
    let mut client = TcpStream::connect(server.address).await.unwrap();
    let head = format!("POST / HTTP/1.1\r\nhost: test\r\ncontent-length: {BODY_BYTES}\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    // A client that sends everything before it looks for an answer.
    client.write_all(&vec![b'x'; BODY_BYTES]).await.unwrap();
    let answer = ask(&mut client, "/").await;
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    // The connection is good for the next request.
    assert!(answer.contains("HTTP/1.1 405 "), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_loses_its_place() {
    let page = "x".repeat(1024 * 1024);
    let router = Router::new().route("/", get(move || async move { page }));
    let server = start(router, 1, None).await;
    let mut deaf = TcpStream::connect(server.address).await.unwrap();
    let request = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";
    deaf.write_all(&request.repeat(100)).await.unwrap();
    // On the paused clock this is over as soon as nothing else happens.
    let freed = timeout(Duration::from_secs(600), async {
        loop {
            let mut client = TcpStream::connect(server.address).await.unwrap();
            if ask(&mut client, "/").await.starts_with("HTTP/1.1 200 ") {
                return;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    freed.await.unwrap();
}
