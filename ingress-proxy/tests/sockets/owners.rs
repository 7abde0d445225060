//! A 421 with the owner's name is followed, remembered and forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;

use crate::support::{Running, ask, get, listen, nobody, proxy, say, socket, telling};

/// A server that holds no game and says who does.
async fn pointing(owner: &'static str) -> (Running, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let point = move |request: Request| {
        count.fetch_add(1, Ordering::Relaxed);
        async move {
            assert_eq!(request.headers()["homeroom-follows-owner"], "1");
            let mut response: Response = StatusCode::MISDIRECTED_REQUEST.into_response();
            let owner = owner.parse().unwrap();
            response.headers_mut().insert("homeroom-owner", owner);
            response
        }
    };
    (listen(Router::new().fallback(point)).await, asked)
}

/// A code for which `first` is asked before `second`.
fn code(first: &str, second: &str) -> &'static str {
    let codes = [
        "K7Q2MX", "222222", "ABCDEF", "ZZZZZZ", "345678", "H8N4TC", "WWWWWW", "QRSTVW",
    ];
    let fits =
        |code: &&str| protocol::placement::weight(first, code) > protocol::placement::weight(second, code);
    codes.into_iter().find(fits).unwrap()
}

#[tokio::test]
async fn the_owner_is_followed_and_remembered_until_it_fails() {
    let ((other, asked), owner) = (pointing("game-1").await, listen(telling("game-1")).await);
    let games = [("game-0", other.address), ("game-1", owner.address)];
    let proxy = proxy(&games, &[("api-0", other.address)]).await;
    let code = code("game-0", "game-1");

    let line = format!("POST /game/games?g={code}");
    let answer = ask(proxy.address, &line, "content-length: 5\r\n", "12345").await;
    assert!(
        answer.contains("game-1 POST") && answer.ends_with("12345"),
        "{answer}"
    );
    for _ in 0..3 {
        let mut socket = socket(proxy.address, &format!("/game/watch?g={code}"))
            .await
            .unwrap();
        assert_eq!(say(&mut socket, "hello").await, "game-1: hello");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1, "asked once, then remembered");

    let address = owner.address;
    drop(owner);
    // The listener closes in its own time.
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let answer = get(proxy.address, &format!("/game/status?g={code}")).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    // It failed, so it was forgotten, and game-0 was asked. It named the same owner, which is not tried again.
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn servers_that_point_at_one_another_end_in_a_refusal() {
    let ((zero, asked_0), (one, asked_1)) = (pointing("game-1").await, pointing("game-0").await);
    let games = [("game-0", zero.address), ("game-1", one.address)];
    let proxy = proxy(&games, &[("api-0", zero.address)]).await;
    let path = format!("/game/status?g={}", code("game-0", "game-1"));
    let answer = get(proxy.address, &path).await;
    assert!(
        answer.starts_with("HTTP/1.1 503") && answer.contains("game-moving"),
        "{answer}"
    );
    assert!(!answer.contains("homeroom-owner"), "{answer}");
    let asked = (asked_0.load(Ordering::Relaxed), asked_1.load(Ordering::Relaxed));
    assert_eq!(asked, (2, 1));
}

/// One that has just come, or that the proxy knows by another name.
#[tokio::test]
async fn a_server_that_names_an_unknown_owner_passes_the_request_on_itself() {
    let pass_on = |request: Request| async move {
        match request.headers().get("homeroom-unreachable") {
            Some(names) => format!("passed on to {}", names.to_str().unwrap()).into_response(),
            None => (StatusCode::MISDIRECTED_REQUEST, [("homeroom-owner", "game-9")]).into_response(),
        }
    };
    let (zero, dead) = (listen(Router::new().fallback(pass_on)).await, nobody().await);
    let proxy = proxy(&[("game-0", zero.address)], &[("api-0", dead)]).await;
    for _ in 0..2 {
        let answer = get(proxy.address, "/game/status?g=K7Q2MX").await;
        assert!(answer.ends_with("passed on to game-9"), "{answer}");
    }
}

#[tokio::test]
async fn a_name_that_nobody_has_leads_nowhere() {
    let ((zero, asked), dead) = (pointing("game-9").await, nobody().await);
    let proxy = proxy(&[("game-0", zero.address)], &[("api-0", dead)]).await;
    let answer = get(proxy.address, "/game/status?g=K7Q2MX").await;
    assert!(
        answer.starts_with("HTTP/1.1 503") && answer.contains("game-moving"),
        "{answer}"
    );
    assert_eq!(
        asked.load(Ordering::Relaxed),
        3,
        "it was told, and names it again"
    );
}

/// A server that names an owner, and holds the game itself once it is told that the owner cannot be reached.
#[tokio::test]
async fn a_server_that_is_told_of_a_dead_owner_can_take_the_game() {
    let take = |request: Request| async move {
        match request.headers().get("homeroom-unreachable") {
            Some(names) => format!("taken from {}", names.to_str().unwrap()).into_response(),
            None => (StatusCode::MISDIRECTED_REQUEST, [("homeroom-owner", "game-1")]).into_response(),
        }
    };
    let (taker, dead) = (listen(Router::new().fallback(take)).await, nobody().await);
    let games = [("game-0", taker.address), ("game-1", dead)];
    let proxy = proxy(&games, &[("api-0", dead)]).await;
    for (first, second) in [("game-0", "game-1"), ("game-1", "game-0")] {
        let answer = get(proxy.address, &format!("/game/status?g={}", code(first, second))).await;
        assert!(answer.ends_with("taken from game-1"), "{first} first: {answer}");
    }
}

/// An owner that answers and has no place, or stops: whoever comes next asks where the game is now.
#[tokio::test]
async fn an_owner_that_refuses_for_now_is_not_asked_first_again() {
    let (other, asked) = pointing("game-1").await;
    let refuses = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&refuses);
    let answer = move || {
        let status = match counted.load(Ordering::Relaxed) {
            0 => StatusCode::OK,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        async move { status.into_response() }
    };
    let owner = listen(Router::new().fallback(answer)).await;
    let games = [("game-0", other.address), ("game-1", owner.address)];
    let proxy = proxy(&games, &[("api-0", other.address)]).await;
    let path = format!("/game/status?g={}", code("game-0", "game-1"));
    for _ in 0..2 {
        assert!(get(proxy.address, &path).await.starts_with("HTTP/1.1 200"));
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1, "remembered");
    refuses.store(1, Ordering::Relaxed);
    for expected in [1, 2, 3] {
        let answer = get(proxy.address, &path).await;
        assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
        assert_eq!(asked.load(Ordering::Relaxed), expected, "forgotten");
    }
}
