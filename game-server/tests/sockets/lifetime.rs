//! Games that nobody ends, and a server that stops.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use tokio::time::Instant;

use crate::kit::{CODE, Heard, Stage};

#[tokio::test(start_paused = true)]
async fn a_lobby_without_a_host_ends_after_half_an_hour() {
    let stage = Stage::open().await.paused();
    stage.create().await;
    let created = Instant::now();
    let (mut ada, _) = stage.join("Ada").await;
    let (frames, code) = ada.closed().await;
    assert_eq!(frames, [json!({ "t": "bye", "reason": "ended" })]);
    assert_eq!(code, Some(1000));
    assert!((1_800..1_802).contains(&created.elapsed().as_secs()));
    assert!(stage.api.saved.borrow().is_empty(), "nothing was played");
    // Shown as ended for a while, then forgotten, and its code is free.
    let (status, body) = stage.status(&format!("?g={CODE}")).await;
    assert_eq!((status, body["phase"].as_str()), (StatusCode::OK, Some("ended")));
    tokio::time::sleep(Duration::from_secs(301)).await;
    assert_eq!(stage.status(&format!("?g={CODE}")).await.0, StatusCode::NOT_FOUND);
    assert_eq!(stage.server.counts().games, 0);
    stage.create().await;
}

#[tokio::test(start_paused = true)]
async fn a_game_whose_host_is_gone_ends_with_its_result() {
    let stage = Stage::open().await.paused();
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, _) = stage.join("Ada").await;
    host.say(json!({ "t": "start" })).await;
    ada.frame("question").await;
    ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    ada.frame("ack").await;
    ada.frame("result").await;
    // Fourteen minutes away are forgiven.
    host.vanish();
    let away = Instant::now();
    let fourteen_minutes = away + Duration::from_secs(14 * 60);
    assert!(
        tokio::time::timeout_at(fourteen_minutes, ada.hear())
            .await
            .is_err()
    );
    let (host, state) = stage.host().await;
    assert_eq!(state["phase"], "results");
    host.vanish();
    let away = Instant::now();
    ada.frame("over").await;
    assert!((899..902).contains(&away.elapsed().as_secs()));
    let (frames, code) = ada.closed().await;
    assert_eq!((frames[0]["reason"].as_str(), code), (Some("ended"), Some(1000)));
    let result = stage.saved_result().await;
    assert_eq!(result.players[0].answers.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_game_lives_longer_than_six_hours() {
    let stage = Stage::open().await.paused();
    stage.create().await;
    let created = Instant::now();
    let (mut host, _) = stage.host().await;
    // The host stays and reads, which answers pings.
    loop {
        if let Heard::Closed(code) = host.hear().await {
            assert_eq!(code, Some(1000));
            break;
        }
    }
    assert!((21_599..21_602).contains(&created.elapsed().as_secs()));
}

#[tokio::test]
async fn a_stop_sends_everybody_elsewhere() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, _) = stage.join("Ada").await;
    let mut nobody = stage.connect().await;
    stage.server.shutdown().await;
    for client in [&mut host, &mut ada, &mut nobody] {
        let (frames, code) = client.closed().await;
        let bye = frames.last().unwrap();
        assert_eq!(
            (bye["t"].as_str(), bye["reason"].as_str()),
            (Some("bye"), Some("moved"))
        );
        assert!(bye["retry_ms"].as_u64().unwrap() <= 300);
        assert_eq!(code, Some(1012));
    }
    assert_eq!(stage.server.counts().games, 0);
    assert_eq!(
        stage.refused(&format!("?g={CODE}"), None).await,
        StatusCode::SERVICE_UNAVAILABLE
    );
    let (status, _) = stage.post(CODE, Some(&stage.token()), &stage.body("key")).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
}
