//! Slow, silent and too many clients.

use std::time::Duration;

use game_server::Config;
use http::StatusCode;
use serde_json::json;

use crate::kit::{CODE, Stage};

#[tokio::test]
async fn a_client_that_does_not_read_is_closed_alone() {
    let config = Config {
        absent_grace: Duration::from_millis(20),
        ..Config::default()
    };
    let stage = Stage::with(config).await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, _) = stage.join("Ada").await;
    let (bob, welcome) = stage.join("Bob").await;
    bob.vanish();
    stage.until_sockets(2).await;
    let mut slow = stage.connect_narrow().await;
    slow.say(json!({ "t": "resume", "token": welcome["token"] }))
        .await;
    slow.frame("welcome").await;
    // The host renames Bob, within its rate, until his outbox is full and his socket closed; nobody waits for him.
    let name = "👩‍👩‍👧‍👦".repeat(19);
    let mut renames = 0;
    let is_away = |frame: &serde_json::Value| frame["away"] == json!([2]);
    let mut closed = false;
    while !closed {
        assert!(renames < 300, "the slow client stays");
        host.say(json!({ "t": "rename", "id": 2, "name": format!("{name}{}", renames % 10) }))
            .await;
        renames += 1;
        let pause = Duration::from_millis(51);
        closed = tokio::time::timeout(pause, host.until_frame(is_away))
            .await
            .is_ok();
    }
    assert!(renames >= 64, "closed after {renames} frames");
    ada.is_well().await;
    // What it finds when it reads at last: the frames that were on their way, and the reason.
    let (_frames, code) = slow.closed().await;
    assert_eq!(code, Some(4408));
    host.say(json!({ "t": "start" })).await;
    ada.frame("question").await;
    host.until("question").await;
    let (mut again, _) = stage.resume(&welcome["token"]).await;
    again.is_well().await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_socket_is_closed_and_a_quiet_one_is_not() {
    let stage = Stage::open().await.paused();
    stage.create().await;
    let (mut quiet, _) = stage.join("Quiet").await;
    let (_silent, _) = stage.join("Silent").await;
    // Reading answers the server's pings; not reading is silence.
    let started = tokio::time::Instant::now();
    let ten_minutes = started + Duration::from_secs(600);
    let heard = tokio::time::timeout_at(ten_minutes, quiet.hear()).await;
    assert!(heard.is_err(), "a quiet client heard {heard:?}");
    quiet.is_well().await;
    assert_eq!(stage.server.counts().sockets, 1);
}

#[tokio::test(start_paused = true)]
async fn a_socket_that_does_not_say_who_it_is_is_closed() {
    let stage = Stage::open().await.paused();
    stage.create().await;
    let started = tokio::time::Instant::now();
    let mut shy = stage.connect().await;
    let (frames, code) = shy.closed().await;
    assert_eq!(
        (frames[0]["code"].as_str(), code),
        (Some("bad_first_frame"), Some(4400))
    );
    assert!((5_000..5_100).contains(&started.elapsed().as_millis()));
}

#[tokio::test]
async fn the_reserve_is_for_those_who_come_back() {
    let config = Config {
        sockets_max: 4,
        sockets_reserve: 2,
        ..Config::default()
    };
    let stage = Stage::with(config).await;
    stage.create().await;
    let (mut ada, welcome) = stage.join("Ada").await;
    let (_bob, _) = stage.join("Bob").await;
    // The soft limit is reached: no new players, and the join page says so.
    let (status, problem) = stage.status(&format!("?g={CODE}")).await;
    assert_eq!(
        (status, problem["code"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("server-full"))
    );
    let mut cyd = stage.connect().await;
    cyd.say(json!({ "t": "join", "name": "Cyd" })).await;
    let (frames, code) = cyd.closed().await;
    assert_eq!(
        (frames[0]["code"].as_str(), code),
        (Some("server_full"), Some(4429))
    );
    assert!((1_000..=3_000).contains(&frames[0]["retry_ms"].as_u64().unwrap()));
    drop(cyd);
    // A host and a returning player are let in.
    let (_host, _) = stage.host().await;
    let (mut newer, _) = stage.resume(&welcome["token"]).await;
    assert_eq!(ada.closed().await.1, Some(4409));
    newer.is_well().await;
    // Past the hard limit an upgrade is refused in HTTP.
    let (_fourth, fifth) = {
        drop(ada);
        stage.until_sockets(3).await;
        (
            stage.connect().await,
            stage.refused(&format!("?g={CODE}"), None).await,
        )
    };
    assert_eq!(fifth, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn foreign_origins_and_bad_keys_are_refused_before_the_upgrade() {
    let config = Config {
        allowed_origins: vec!["https://quiz.example".into()],
        ..Config::default()
    };
    let stage = Stage::with(config).await;
    stage.create().await;
    let good = format!("?g={CODE}");
    assert_eq!(stage.refused(&good, None).await, StatusCode::SWITCHING_PROTOCOLS);
    assert_eq!(
        stage.refused(&good, Some("https://quiz.example")).await,
        StatusCode::SWITCHING_PROTOCOLS
    );
    for origin in [
        "https://evil.example",
        "http://quiz.example",
        "https://quiz.example:8443",
        "null",
    ] {
        assert_eq!(
            stage.refused(&good, Some(origin)).await,
            StatusCode::FORBIDDEN,
            "{origin}"
        );
    }
    for query in ["", "?g=", "?g=k7q2mx", "?g=K7Q2MX&g=K7Q2MX", "?g=K7Q2MX7"] {
        assert_eq!(
            stage.refused(query, None).await,
            StatusCode::BAD_REQUEST,
            "{query}"
        );
    }
}
