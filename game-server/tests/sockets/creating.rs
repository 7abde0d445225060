//! Starting a game over HTTP, and looking at one.

use std::sync::atomic::Ordering;

use axum::body::Body;
use game_server::Config;
use http::{Request, StatusCode};
use serde_json::json;

use crate::kit::{self, CODE, Stage};

#[tokio::test]
async fn the_same_key_is_the_same_game() {
    let stage = Stage::open().await;
    let game = stage.create().await;
    let token = stage.token();
    // Repeated after a lost answer, with whatever code was drawn this time.
    for code in [CODE, "ZZZZZZ"] {
        let (status, again) = stage.post(code, Some(&token), &stage.body("key")).await;
        assert_eq!((status, &again), (StatusCode::OK, &game));
    }
    assert_eq!(stage.api.plan_checks.load(Ordering::SeqCst), 1);
    let (status, problem) = stage.post(CODE, Some(&token), &stage.body("another")).await;
    assert_eq!(
        (status, problem["code"].as_str()),
        (StatusCode::CONFLICT, Some("code-taken"))
    );
    // Another teacher's key of the same name is another key.
    let other = kit::teacher_token(kit::teacher_id(2));
    let (status, others) = stage.post("ABCDEF", Some(&other), &stage.body("key")).await;
    assert_eq!(status, StatusCode::CREATED);
    assert_ne!(others["game"], game["game"]);
    assert_eq!(stage.server.counts().games, 2);
}

#[tokio::test]
async fn of_many_creates_at_once_one_makes_the_game() {
    let stage = Stage::open().await;
    let (token, body) = (stage.token(), stage.body("key"));
    let creates = (0..20).map(|_| stage.post(CODE, Some(&token), &body));
    let answers = futures_util::future::join_all(creates).await;
    let created = answers
        .iter()
        .filter(|(status, _)| *status == StatusCode::CREATED)
        .count();
    assert_eq!(created, 1);
    assert!(
        answers
            .iter()
            .all(|(_, game)| game["game"] == answers[0].1["game"])
    );
}

#[tokio::test]
async fn every_refusal_is_a_problem_with_a_code() {
    let stage = Stage::open().await;
    let token = stage.token();
    let body = stage.body("key");
    let check =
        async |code: &str, token: Option<&str>, body: &serde_json::Value, status: u16, problem: &str| {
            let (found, answer) = stage.post(code, token, body).await;
            assert_eq!(
                (found.as_u16(), answer["code"].as_str()),
                (status, Some(problem)),
                "{answer}"
            );
            assert_eq!(answer["status"], status);
        };
    check("k7q2mx", Some(&token), &body, 400, "bad-game-key").await;
    check(CODE, None, &body, 401, "unauthorized").await;
    check(CODE, Some("nonsense"), &body, 401, "unauthorized").await;
    check(
        CODE,
        Some(&kit::sign(&kit::teacher_claims(stage.teacher), 2)),
        &body,
        401,
        "unauthorized",
    )
    .await;
    check(CODE, Some(&token), &json!({}), 400, "bad-body").await;
    check(CODE, Some(&token), &stage.body(""), 400, "bad-key").await;
    check(CODE, Some(&token), &stage.body(&"k".repeat(65)), 400, "bad-key").await;
    let unknown = json!({ "quiz": { "id": kit::teacher_id(77) }, "key": "key" });
    check(CODE, Some(&token), &unknown, 404, "no-such-quiz").await;
    let huge = json!({ "quiz": { "signed": "x".repeat(4_000_000) }, "key": "key" });
    check(CODE, Some(&token), &huge, 413, "body-too-large").await;
    *stage.api.refuses.lock().unwrap() =
        Some(("plan-limit".into(), "Your plan allows no more games.".into()));
    check(CODE, Some(&token), &body, 403, "plan-limit").await;
    assert_eq!(stage.server.counts().games, 0);
}

#[tokio::test]
async fn there_are_only_so_many_games() {
    let stage = Stage::with(Config {
        games_max: 1,
        ..Config::default()
    })
    .await;
    stage.create().await;
    let token = stage.token();
    let (status, problem) = stage.post("ABCDEF", Some(&token), &stage.body("second")).await;
    assert_eq!(
        (status, problem["code"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("server-full"))
    );
    // The first one still answers its key.
    let (status, _) = stage.post(CODE, Some(&token), &stage.body("key")).await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn a_glance_tells_what_a_join_page_needs() {
    let stage = Stage::open().await;
    let (unknown, first) = stage.status(&format!("?g={CODE}")).await;
    assert_eq!(unknown, StatusCode::NOT_FOUND);
    stage.create().await;
    assert_eq!(stage.status("?g=ZZZZZZ").await, (StatusCode::NOT_FOUND, first));
    assert_eq!(stage.status("").await.0, StatusCode::BAD_REQUEST);
    let (_ada, _) = stage.join("Ada").await;
    let (status, body) = stage.status(&format!("?g={CODE}")).await;
    assert_eq!(
        (status, body),
        (
            StatusCode::OK,
            json!({ "phase": "lobby", "players": 1, "locked": false })
        )
    );
    // A plain request for the socket is told what it missed.
    let plain = Request::get(format!("/watch?g={CODE}"))
        .body(Body::empty())
        .unwrap();
    assert_eq!(stage.call(plain).await.0, StatusCode::UPGRADE_REQUIRED);
}
