//! A way to the server on which packets vanish without a word, as behind a firewall that forgot its connections.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::JoinHandle;

use super::*;

/// Carries bytes between clients and the server. Connections that were open during a cut stay open for ever and carry nothing; after it,
/// new ones are carried.
struct Way {
    port: u16,
    /// Goes up at each cut and at its end; odd during one.
    cuts: Arc<AtomicU32>,
    accepting: JoinHandle<()>,
}

impl Way {
    async fn to(socket: std::path::PathBuf) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let cuts = Arc::new(AtomicU32::new(0));
        let known = Arc::clone(&cuts);
        let accepting = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                tokio::spawn(carry(client, socket.clone(), Arc::clone(&known)));
            }
        });
        Self {
            port,
            cuts,
            accepting,
        }
    }

    /// Begins a cut, or ends it.
    fn turn(&self) {
        self.cuts.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn carry(client: TcpStream, socket: std::path::PathBuf, cuts: Arc<AtomicU32>) {
    let opened_at = cuts.load(Ordering::SeqCst);
    let server = UnixStream::connect(socket).await.unwrap();
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let open = || opened_at.is_multiple_of(2) && cuts.load(Ordering::SeqCst) == opened_at;
    tokio::join!(
        pour(from_client, to_server, open),
        pour(from_server, to_client, open)
    );
}

async fn pour(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, open: impl Fn() -> bool) {
    let mut bytes = [0; 4096];
    loop {
        match from.read(&mut bytes).await {
            // Also an end is a packet.
            Ok(0) | Err(_) if open() => return,
            Ok(0) | Err(_) => std::future::pending().await,
            Ok(read) if open() => to.write_all(&bytes[..read]).await.unwrap_or_default(),
            Ok(_swallowed) => {}
        }
    }
}

#[tokio::test]
async fn a_pool_whose_connections_were_cut_silently_serves_again() {
    let server = PostgresServer::start();
    let store = fresh(&server).await;
    store.insert_account(&account(1), "hash", 1).await.unwrap();
    store.close().await;
    let way = Way::to(server.socket()).await;
    let url = format!("postgres://homeroom@127.0.0.1:{}/d0?sslmode=disable", way.port);
    let config = PostgresConfig::parse(&url).unwrap().with_connections(3);
    let store = PostgresStore::open(&config).await.unwrap();
    let all_at_once = async || tokio::join!(store.primary.lend(), store.primary.lend(), store.primary.lend());
    // Every connection is made, and the watching one as well.
    let (one, two, three) = all_at_once().await;
    assert!(one.is_ok() && two.is_ok() && three.is_ok());
    drop((one, two, three));
    store.answers().await.unwrap();

    way.turn();
    // Two are given up in the middle of a call, and the third lies unused.
    let calls = tokio::join!(store.account(account(1).id), store.account(account(1).id));
    assert!(matches!(calls, (Err(_), Err(_))), "{calls:?}");
    assert!(store.answers().await.is_err());
    way.turn();

    let whole = async {
        loop {
            let lent = all_at_once().await;
            if matches!(lent, (Ok(_), Ok(_), Ok(_))) && store.answers().await.is_ok() {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), whole)
        .await
        .expect("the places of calls that were given up never come back");
    assert_eq!(store.account(account(1).id).await.unwrap(), Some(account(1)));
}
