//! An API that is away: a class starts by what its teacher's page holds, and its result waits.

use std::sync::atomic::Ordering;
use std::time::Duration;

use http::StatusCode;
use protocol::claims::{AUDIENCE_QUIZ, AUDIENCE_TEACHER, TYPE_QUIZ};
use serde_json::{Value, json};

use crate::kit::{self, CODE, SECRET, Stage};

fn signed(document: &str, key: &str) -> Value {
    json!({ "quiz": { "signed": document }, "key": key })
}

#[tokio::test(start_paused = true)]
async fn a_class_plays_while_the_api_is_away_for_five_minutes_and_its_result_is_saved_once() {
    let stage = Stage::open().await.paused();
    stage.api.is_down.store(true, Ordering::SeqCst);
    let token = stage.token();
    let (status, problem) = stage.post(CODE, Some(&token), &stage.body("key")).await;
    assert_eq!(
        (status, problem["code"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("api-unavailable"))
    );
    let body = signed(&kit::signed_quiz(stage.teacher), "key");
    let (status, game) = stage.post(CODE, Some(&token), &body).await;
    // The plan as the teacher's token tells it.
    assert_eq!(
        (status, game["players_max"].as_u64()),
        (StatusCode::CREATED, Some(5))
    );
    let (status, again) = stage.post("ABCDEF", Some(&token), &body).await;
    assert_eq!((status, &again), (StatusCode::OK, &game));

    let (mut host, state) = stage.host().await;
    assert_eq!(state["title"], "Rivers");
    let (mut ada, _) = stage.join("Ada").await;
    host.say(json!({ "t": "start" })).await;
    for q in 1..=3 {
        ada.until("question").await;
        ada.say(json!({ "t": "answer", "q": q, "choice": 0, "choices": [0] }))
            .await;
        ada.until("result").await;
        host.until("reveal").await;
        host.say(json!({ "t": "next", "q": q })).await;
    }
    ada.until("over").await;
    tokio::time::sleep(Duration::from_secs(5 * 60)).await;
    assert_eq!(stage.server.counts().results_pending, 1);
    let attempts = stage.api.save_attempts.load(Ordering::SeqCst);
    assert!(
        (20..100).contains(&attempts),
        "{attempts} attempts in five minutes"
    );

    stage.api.is_down.store(false, Ordering::SeqCst);
    let result = stage.saved_result().await;
    assert_eq!(
        (json!(result.game), result.quiz_id),
        (game["game"].clone(), stage.api.quiz_id)
    );
    assert_eq!(result.players[0].name, "Ada");
    tokio::time::sleep(Duration::from_secs(5 * 60)).await;
    assert_eq!(stage.server.counts().results_pending, 0);
    assert_eq!(stage.api.save_attempts.load(Ordering::SeqCst), attempts + 1);
}

#[tokio::test]
async fn while_the_api_answers_the_stored_quiz_is_played_whatever_the_page_holds() {
    let stage = Stage::open().await;
    let mut old = kit::quiz_claims(stage.teacher);
    old.quiz.title = "Rivers, before it was corrected".to_owned();
    let document = kit::sign_as(TYPE_QUIZ, &old, 1);
    let (status, game) = stage
        .post(CODE, Some(&stage.token()), &signed(&document, "key"))
        .await;
    assert_eq!(
        (status, game["players_max"].as_u64()),
        (StatusCode::CREATED, Some(50))
    );
    assert_eq!(stage.host().await.1["title"], "Rivers");
    // One that was deleted since is not played at all.
    let mut gone = kit::quiz_claims(stage.teacher);
    gone.quiz_id = protocol::ids::QuizId(uuid::Uuid::from_u128(77));
    let document = kit::sign_as(TYPE_QUIZ, &gone, 1);
    let (status, problem) = stage
        .post("ABCDEF", Some(&stage.token()), &signed(&document, "other"))
        .await;
    assert_eq!(
        (status, problem["code"].as_str()),
        (StatusCode::NOT_FOUND, Some("no-such-quiz"))
    );
}

#[tokio::test]
async fn a_document_that_is_not_the_apis_for_this_teacher_starts_nothing() {
    let stage = Stage::open().await;
    let good = || kit::quiz_claims(stage.teacher);
    let mut expired = good();
    expired.exp = kit::exp(-60);
    let mut elsewhere = good();
    elsewhere.iss = "somebody".into();
    let mut for_access = good();
    for_access.aud = AUDIENCE_TEACHER.into();
    let mut endless = serde_json::to_value(good()).unwrap();
    endless.as_object_mut().unwrap().remove("exp");
    let [head, body, signature] = {
        let genuine = kit::signed_quiz(stage.teacher);
        let parts: Vec<String> = genuine.split('.').map(str::to_owned).collect();
        <[String; 3]>::try_from(parts).unwrap()
    };
    let others = kit::signed_quiz(kit::teacher_id(2));
    let others_body = others.split('.').nth(1).unwrap();
    let refused = [
        ("another teacher's", others.clone()),
        ("expired", kit::sign_as(TYPE_QUIZ, &expired, 1)),
        ("without an end", kit::sign_as(TYPE_QUIZ, &endless, 1)),
        ("a stranger's key", kit::sign_as(TYPE_QUIZ, &good(), 2)),
        ("another issuer", kit::sign_as(TYPE_QUIZ, &elsewhere, 1)),
        ("another audience", kit::sign_as(TYPE_QUIZ, &for_access, 1)),
        ("another type", kit::sign(&good(), 1)),
        ("the game servers' own secret", kit::sign_hs256(&good(), SECRET)),
        ("the access token itself", stage.token()),
        (
            "another document under a good signature",
            format!("{head}.{others_body}.{signature}"),
        ),
        ("no signature", format!("{head}.{body}.")),
        ("no algorithm", unsigned(&body)),
        ("nothing", String::new()),
    ];
    for is_down in [true, false] {
        stage.api.is_down.store(is_down, Ordering::SeqCst);
        for (what, document) in &refused {
            let (status, problem) = stage
                .post(CODE, Some(&stage.token()), &signed(document, "key"))
                .await;
            assert_eq!(
                (status, problem["code"].as_str()),
                (StatusCode::BAD_REQUEST, Some("bad-signed-quiz")),
                "{what}"
            );
        }
    }
    assert_eq!(stage.server.counts().games, 0);
    assert_eq!(
        stage.api.plan_checks.load(Ordering::SeqCst),
        0,
        "refused before anybody is asked"
    );
    // A document opens nothing but a start.
    let (status, _) = stage
        .post(CODE, Some(&kit::signed_quiz(stage.teacher)), &stage.body("key"))
        .await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    // The genuine one passes, so that the refusals above mean something.
    let (status, _) = stage
        .post(
            CODE,
            Some(&stage.token()),
            &signed(&kit::signed_quiz(stage.teacher), "key"),
        )
        .await;
    assert_eq!(status, StatusCode::CREATED);
}

/// A token that claims to need no signature.
fn unsigned(body: &str) -> String {
    // {"typ":"homeroom-quiz+jwt","alg":"none","kid":"test-key"}
    format!("eyJ0eXAiOiJob21lcm9vbS1xdWl6K2p3dCIsImFsZyI6Im5vbmUiLCJraWQiOiJ0ZXN0LWtleSJ9.{body}.")
}

#[tokio::test]
async fn a_token_that_is_too_long_is_refused_before_it_is_read() {
    let stage = Stage::open().await;
    let mut long = serde_json::to_value(kit::teacher_claims(stage.teacher)).unwrap();
    long["more"] = json!("x".repeat(4_000));
    let token = kit::sign(&long, 1);
    let (status, _) = stage.post(CODE, Some(&token), &stage.body("key")).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    long["more"] = json!("x");
    let (status, _) = stage
        .post(CODE, Some(&kit::sign(&long, 1)), &stage.body("key"))
        .await;
    assert_eq!(status, StatusCode::CREATED, "its length was all that was wrong");
    let mut long = serde_json::to_value(kit::quiz_claims(stage.teacher)).unwrap();
    long["aud"] = json!(AUDIENCE_QUIZ);
    long["more"] = json!("x".repeat(3_000_000));
    let document = kit::sign_as(TYPE_QUIZ, &long, 1);
    let (status, problem) = stage
        .post("ABCDEF", Some(&stage.token()), &signed(&document, "other"))
        .await;
    assert_eq!(
        (status, problem["code"].as_str()),
        (StatusCode::PAYLOAD_TOO_LARGE, Some("body-too-large"))
    );
}

#[tokio::test]
async fn who_cannot_be_checked_has_only_so_many_games_that_are_not_over() {
    const GAMES_MAX: u8 = 20;
    let stage = Stage::open().await;
    stage.api.is_down.store(true, Ordering::SeqCst);
    let token = stage.token();
    let document = kit::signed_quiz(stage.teacher);
    let code = |n: u8| format!("ABCD{}{}", char::from(b'A' + n / 5), char::from(b'2' + n % 5));
    let create = async |n: u8| {
        stage
            .post(&code(n), Some(&token), &signed(&document, &n.to_string()))
            .await
    };
    for n in 0..GAMES_MAX {
        let (status, body) = create(n).await;
        assert_eq!(status, StatusCode::CREATED, "{body}");
    }
    let (status, problem) = create(GAMES_MAX).await;
    assert_eq!(
        (status, problem["code"].as_str()),
        (StatusCode::TOO_MANY_REQUESTS, Some("quota-exceeded"))
    );
    // Another teacher is not held up, and neither is this one once a game is over.
    let other = kit::teacher_id(2);
    let (status, _) = stage
        .post(
            CODE,
            Some(&kit::teacher_token(other)),
            &signed(&kit::signed_quiz(other), "key"),
        )
        .await;
    assert_eq!(status, StatusCode::CREATED);
    let mut host = stage.connect_to(&code(0)).await;
    host.say(json!({ "t": "host", "token": token })).await;
    host.until("sync").await;
    host.say(json!({ "t": "start" })).await;
    host.say(json!({ "t": "end" })).await;
    host.until("over").await;
    assert_eq!(stage.server.counts().results_pending, 1);
    let (status, body) = create(GAMES_MAX).await;
    assert_eq!(status, StatusCode::CREATED, "{body}");
}
