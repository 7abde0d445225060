//! Thousands of clients that are slow, silent or deaf: what they cost the proxy's memory, and what everybody else feels.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use axum::Router;
use axum::routing::{any, get as on_get};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use crate::support::SOON;

/// What one such client may cost: 16 KiB of a head or of an answer that nobody takes, on both sides, and the tasks between.
const CLIENT_BYTES_MAX: usize = 56 * 1024;
/// Well-behaved clients, each asking again as soon as it has its answer and has rested.
const OTHERS: usize = 10;
const REST: Duration = Duration::from_millis(4);
/// Requests of all of them together in one phase.
const REQUESTS: usize = 1_500;
/// A page that no socket's buffers hold.
const PAGE_BYTES: usize = 8 * 1024 * 1024;

struct Proxy {
    child: Child,
    address: SocketAddr,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Both fail only when it has ended by itself.
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

impl Proxy {
    async fn start(server: SocketAddr) -> Self {
        let address = crate::support::nobody().await;
        let child = Command::new(env!("CARGO_BIN_EXE_ingress-proxy"))
            .env_clear()
            .args(["--listen", &address.to_string()])
            .args([
                "--game",
                &format!("game-0={server}"),
                "--api",
                &format!("api-0={server}"),
            ])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let proxy = Self { child, address };
        let end = Instant::now() + SOON;
        while TcpStream::connect(address).await.is_err() {
            assert!(Instant::now() < end, "the proxy does not listen");
            sleep(Duration::from_millis(10)).await;
        }
        proxy
    }

    fn memory_bytes(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
    }
}

/// What a slow client says before it stops. Few are deaf, since each of those fills megabytes of the system's own buffers.
fn words(number: usize) -> &'static [u8] {
    match number % 60 {
        3 => b"GET /store/page HTTP/1.1\r\nhost: x\r\n\r\n",
        other => silent(other % 5),
    }
}

fn silent(kind: usize) -> &'static [u8] {
    match kind {
        0 => b"",
        1 => b"GET /store/x HTTP/1.1\r\nhost: x\r\nx-slow: ",
        2 => b"POST /store/x HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nhalf",
        3 => b"GET /store/x HTTP/1.1\r\nhost: x\r\n\r\n",
        _ => b"GET /game/watch?g=K7Q2MX HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    }
}

async fn slow_clients(proxy: SocketAddr, count: usize) -> Vec<TcpStream> {
    let mut clients = Vec::with_capacity(count);
    for number in 0..count {
        let mut client = TcpStream::connect(proxy).await.unwrap();
        client.write_all(words(number)).await.unwrap();
        clients.push(client);
    }
    clients
}

/// One request on a kept connection, and how long its answer took.
async fn ask(stream: &mut TcpStream) -> Duration {
    let begun = Instant::now();
    stream
        .write_all(b"GET /store/x HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"hello") {
        let mut buffer = [0; 1024];
        let read = timeout(SOON, stream.read(&mut buffer))
            .await
            .expect("an answer in time")
            .unwrap();
        assert!(read > 0, "the connection stays open");
        answer.extend_from_slice(&buffer[..read]);
    }
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    begun.elapsed()
}

/// The 95th percentile of what the others wait.
async fn p95(proxy: SocketAddr) -> Duration {
    let asking = (0..OTHERS).map(|_| async move {
        let mut stream = TcpStream::connect(proxy).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut waited = Vec::new();
        for _ in 0..REQUESTS / OTHERS {
            waited.push(ask(&mut stream).await);
            sleep(REST).await;
        }
        waited
    });
    let mut waited = futures_util::future::join_all(asking).await.concat();
    waited.sort_unstable();
    waited[waited.len() * 95 / 100]
}

/// Compares phases without and with slow clients; the middle one of the ratios of their p95, and bytes a slow client.
async fn compare(count: usize, pairs: usize) -> (f64, usize) {
    let page = bytes::Bytes::from(vec![b'x'; PAGE_BYTES]);
    let router = Router::new()
        .route("/store/x", any(|| async { "hello" }))
        .route("/store/page", on_get(move || async move { page }))
        .merge(crate::support::telling("game-0"));
    let server = listen_for_all(router).await;
    let proxy = Proxy::start(server.address).await;
    // Buffers and pools that everybody shares are there from now on.
    p95(proxy.address).await;
    let (mut ratios, mut most) = (Vec::new(), 0);
    for _ in 0..pairs {
        let alone = p95(proxy.address).await;
        let before = proxy.memory_bytes();
        let clients = slow_clients(proxy.address, count).await;
        // What they have asked for so far is answered, as far as they take it.
        p95(proxy.address).await;
        let beside = p95(proxy.address).await;
        let bytes = proxy.memory_bytes().saturating_sub(before) / count;
        most = most.max(bytes);
        ratios.push(beside.as_secs_f64() / alone.as_secs_f64());
        println!("p95 {alone:?} alone, {beside:?} beside {count} slow clients of {bytes} bytes each");
        drop(clients);
    }
    ratios.sort_by(f64::total_cmp);
    (ratios[ratios.len() / 2], most)
}

async fn listen_for_all(router: Router) -> crate::support::Running {
    // Half of the slow clients have a connection to the server.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    crate::support::listen_with(listener, router, 10_000)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_cost_little_memory_and_nobody_an_answer() {
    let (_, bytes) = compare(300, 1).await;
    assert!(bytes < CLIENT_BYTES_MAX, "{bytes} bytes each");
}

/// On a quiet machine: the ratio is one of latencies.
#[cfg(feature = "long")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_five_thousand_slow_clients_are_not_felt() {
    let (ratio, bytes) = compare(5_000, 5).await;
    println!("p95 of the others {ratio:.3} times, {bytes} bytes a slow client");
    assert!(bytes < CLIENT_BYTES_MAX, "{bytes} bytes each");
    assert!(ratio <= 1.10, "{ratio}");
}
