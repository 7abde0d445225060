//! Which server is asked: by readiness, by load, and what is asked again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::Router;
use axum::routing::get as on_get;
use futures_util::StreamExt as _;
use http::StatusCode;
use ingress_proxy::{Group, Kind, Member, Proxy};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::support::{Running, SOON, ask, get, group, listen, proxy, say, settings, socket, telling};

/// A server that reads a request, and closes without an answer.
async fn breaking() -> (std::net::SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            let _read = stream.read(&mut [0; 1024]).await;
        }
    });
    (address, asked)
}

#[tokio::test]
async fn what_changes_nothing_is_asked_again_and_nothing_else() {
    let (broken, asked) = breaking().await;
    let good = listen(telling("good")).await;
    let apis = [("api-0", broken), ("api-1", good.address)];
    let proxy = proxy(&[("game-0", broken)], &apis).await;
    let mut refused = 0;
    while asked.load(Ordering::Relaxed) == 0 {
        let answer = get(proxy.address, "/store/x").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let before = asked.load(Ordering::Relaxed);
    while asked.load(Ordering::Relaxed) == before {
        let answer = ask(proxy.address, "POST /store/x", "content-length: 1\r\n", "x").await;
        if !answer.starts_with("HTTP/1.1 200") {
            assert!(
                answer.starts_with("HTTP/1.1 502") && answer.contains("server-broke-off"),
                "{answer}"
            );
            refused += 1;
        }
    }
    assert_eq!(refused, 1, "a post is sent once");
    let answer = get(proxy.address, "/game/status?g=K7Q2MX").await;
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
}

#[tokio::test]
async fn retries_end_when_the_budget_is_spent() {
    let ((zero, asked_0), (one, asked_1)) = (breaking().await, breaking().await);
    let proxy = proxy(&[("game-0", zero)], &[("api-0", zero), ("api-1", one)]).await;
    for _ in 0..100 {
        assert!(get(proxy.address, "/store/x").await.starts_with("HTTP/1.1 502"));
    }
    let asked = asked_0.load(Ordering::Relaxed) + asked_1.load(Ordering::Relaxed);
    // Ten to begin with, and one for every ten requests.
    assert_eq!(asked, 100 + 10 + 10);
}

/// A server whose readiness a test decides.
async fn probed(name: &'static str) -> (Running, Member, Arc<AtomicBool>) {
    let (server, member, ready, admin) = probed_at(name).await;
    // The admin listener lives as long as the test.
    std::mem::forget(admin);
    (server, member, ready)
}

/// The same with its admin listener, which a test may drop.
async fn probed_at(name: &'static str) -> (Running, Member, Arc<AtomicBool>, Running) {
    let server = listen(telling(name)).await;
    let ready = Arc::new(AtomicBool::new(true));
    let says = Arc::clone(&ready);
    let say = move || async move {
        match says.load(Ordering::Relaxed) {
            true => StatusCode::OK,
            false => StatusCode::SERVICE_UNAVAILABLE,
        }
    };
    let admin = listen(Router::new().route("/ready", on_get(say))).await;
    let member = Member {
        name: name.to_owned(),
        address: server.address,
        probe_port: Some(admin.address.port()),
    };
    (server, member, ready, admin)
}

#[tokio::test]
async fn who_cannot_be_reached_any_more_has_its_tunnels_closed_and_nobody_else() {
    let (zero, one) = (probed_at("game-0").await, probed_at("game-1").await);
    let games = Group::new(Kind::Games, vec![zero.1.clone(), one.1.clone()]).unwrap();
    let apis = Group::new(Kind::Apis, vec![zero.1.clone()]).unwrap();
    let proxy = listen(Proxy::new(games.clone(), apis, settings())).await;
    let at = |server: usize| {
        let mut codes = ["K7Q2MX", "222222", "ABCDEF", "ZZZZZZ"].into_iter();
        let code = codes.find(|code| protocol::placement::order(&["game-0", "game-1"], code)[0] == server);
        format!("/game/watch?g={}", code.unwrap())
    };
    let mut lost = socket(proxy.address, &at(0)).await.unwrap();
    let mut kept = socket(proxy.address, &at(1)).await.unwrap();
    assert_eq!(say(&mut lost, "a").await, "game-0: a");
    // It must have been reached before, and a first look may not have been made yet.
    zero.2.store(false, Ordering::Relaxed);
    while games.now().named("game-0").unwrap().is_ready() {
        tokio::task::yield_now().await;
    }
    drop(zero.3);
    let ended = timeout(SOON, lost.next()).await.expect("an end");
    assert!(!matches!(ended, Some(Ok(_))), "{ended:?}");
    assert_eq!(say(&mut kept, "b").await, "game-1: b");
}

#[tokio::test]
async fn who_says_no_gets_no_new_requests_until_it_says_yes() {
    let (zero, one) = (probed("game-0").await, probed("game-1").await);
    let games = Group::new(Kind::Games, vec![zero.1.clone(), one.1.clone()]).unwrap();
    let apis = Group::new(Kind::Apis, vec![zero.1.clone(), one.1.clone()]).unwrap();
    let proxy = listen(Proxy::new(games, apis, settings())).await;
    let code = ["K7Q2MX", "222222", "ABCDEF", "ZZZZZZ"]
        .into_iter()
        .find(|code| protocol::placement::order(&["game-0", "game-1"], code)[0] == 0)
        .unwrap();
    let path = format!("/game/status?g={code}");
    assert!(get(proxy.address, &path).await.contains("game-0 GET"));
    zero.2.store(false, Ordering::Relaxed);
    while !get(proxy.address, &path).await.contains("game-1 GET") {
        tokio::task::yield_now().await;
    }
    for _ in 0..8 {
        let answer = get(proxy.address, "/store/x").await;
        assert!(answer.contains("game-1 GET"), "{answer}");
    }
    // Nobody is ready: then everybody is asked as if all were.
    one.2.store(false, Ordering::Relaxed);
    while !get(proxy.address, &path).await.contains("game-0 GET") {
        tokio::task::yield_now().await;
    }
    one.2.store(true, Ordering::Relaxed);
    while !get(proxy.address, &path).await.contains("game-1 GET") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_less_loaded_of_two_apis_is_asked() {
    let release = Arc::new(Notify::new());
    let hold = Arc::clone(&release);
    let held = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&held);
    let slow = Router::new().fallback(move || {
        let hold = Arc::clone(&hold);
        count.fetch_add(1, Ordering::Relaxed);
        async move { hold.notified().await }
    });
    let (slow, fast) = (listen(slow).await, listen(telling("fast")).await);
    let (games, apis) = (
        group(Kind::Games, &[("game-0", fast.address)]),
        group(Kind::Apis, &[("api-0", slow.address), ("api-1", fast.address)]),
    );
    let proxy = listen(Proxy::new(games, apis, settings())).await;
    let address = proxy.address;
    let waiting = loop {
        let asking = tokio::spawn(async move { get(address, "/store/x").await });
        while !asking.is_finished() && held.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        if held.load(Ordering::Relaxed) > 0 {
            break asking;
        }
    };
    // One request waits at the slow one, so all others go to the fast one.
    for _ in 0..30 {
        assert!(get(address, "/store/x").await.contains("fast GET"));
    }
    release.notify_waiters();
    assert!(waiting.await.unwrap().starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn connections_to_servers_are_kept_and_a_stale_one_costs_nothing() {
    // Answers two requests on each connection, then closes it.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::Relaxed);
            for _ in 0..2 {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    match stream.read_u8().await {
                        Ok(byte) => head.push(byte),
                        Err(_) => break,
                    }
                }
                let answered = stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
                    .await;
                assert!(answered.is_ok());
            }
        }
    });
    let proxy = proxy(&[("game-0", address)], &[("api-0", address)]).await;
    for _ in 0..10 {
        let answer = ask(proxy.address, "GET /store/x", "", "").await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"),
            "{answer}"
        );
    }
    assert_eq!(connections.load(Ordering::Relaxed), 5);
}
