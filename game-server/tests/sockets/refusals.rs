//! Frames that must not work, and what they cost: nothing.

use protocol::claims::{AUDIENCE_PLAYER, AUDIENCE_SCREEN, ISSUER, PlayerClaims, ScreenClaims};
use protocol::ids::{GameId, PlayerId};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use uuid::Uuid;

use crate::kit::{self, Client, SECRET, Stage};

/// A class in its first question: host, Ada, Bob.
async fn in_question() -> (Stage, Client, Client, Client) {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, _) = stage.join("Ada").await;
    let (mut bob, _) = stage.join("Bob").await;
    host.say(json!({ "t": "start" })).await;
    ada.frame("question").await;
    bob.frame("question").await;
    host.until("question").await;
    (stage, host, ada, bob)
}

async fn first_frame(stage: &Stage, frame: &Value) -> (String, Option<u16>) {
    let mut client = stage.connect().await;
    client.say(frame.clone()).await;
    let (frames, code) = client.closed().await;
    (frames[0]["code"].as_str().unwrap().to_owned(), code)
}

#[tokio::test]
async fn a_forged_token_opens_nothing() {
    let stage = Stage::open().await;
    let game: GameId = serde_json::from_value(stage.create().await["game"].clone()).unwrap();
    let (mut ada, welcome) = stage.join("Ada").await;
    let issued = kit::player_claims(welcome["token"].as_str().unwrap());
    let claims = |g: GameId, aud: &str, exp: u64| PlayerClaims {
        iss: ISSUER.into(),
        aud: aud.into(),
        g,
        p: PlayerId(1),
        j: issued.j,
        e: issued.e,
        s: String::new(),
        exp,
    };
    let other_game = GameId(Uuid::from_u128(99));
    let forged = [
        String::new(),
        "x.y.z".to_owned(),
        kit::sign_hs256(
            &claims(game, AUDIENCE_PLAYER, kit::exp(60)),
            b"another secret of 32 bytes or more!!",
        ),
        kit::sign_hs256(&claims(other_game, AUDIENCE_PLAYER, kit::exp(60)), SECRET),
        kit::sign_hs256(&claims(game, AUDIENCE_SCREEN, kit::exp(60)), SECRET),
        kit::sign_hs256(&json!({ "g": game, "p": 1, "exp": kit::exp(60) }), SECRET),
        kit::sign_hs256(
            &PlayerClaims {
                j: issued.j + 1,
                ..claims(game, AUDIENCE_PLAYER, kit::exp(60))
            },
            SECRET,
        ),
        kit::sign(&claims(game, AUDIENCE_PLAYER, kit::exp(60)), 1),
        kit::teacher_token(stage.teacher),
    ];
    for token in forged {
        let refused = first_frame(&stage, &json!({ "t": "resume", "token": token })).await;
        assert_eq!(refused, ("bad_token".to_owned(), Some(4401)), "{token}");
    }
    // The kit can sign; only then do the refusals above mean something.
    // It lasts as long as its game, also when the wall clock was set forward meanwhile.
    let genuine = kit::sign_hs256(&claims(game, AUDIENCE_PLAYER, kit::exp(-60)), SECRET);
    let (_again, welcome) = stage.resume(&json!(genuine)).await;
    assert_eq!(welcome["state"]["name"], "Ada");
    assert_eq!(ada.closed().await.1, Some(4409));
}

#[tokio::test]
async fn only_its_own_teacher_hosts_a_game() {
    let stage = Stage::open().await;
    let game = stage.create().await["game"].clone();
    let mut expired = kit::teacher_claims(stage.teacher);
    expired.exp = kit::exp(-60);
    let mut elsewhere = kit::teacher_claims(stage.teacher);
    elsewhere.iss = "somebody".into();
    for token in [
        kit::sign(&kit::teacher_claims(stage.teacher), 2),
        kit::sign(&expired, 1),
        kit::sign(&elsewhere, 1),
        kit::sign_hs256(&kit::teacher_claims(stage.teacher), SECRET),
        kit::signed_quiz(stage.teacher),
    ] {
        let refused = first_frame(&stage, &json!({ "t": "host", "token": token })).await;
        assert_eq!(refused, ("bad_token".to_owned(), Some(4401)));
    }
    let other = kit::teacher_token(kit::teacher_id(2));
    let refused = first_frame(&stage, &json!({ "t": "host", "token": other })).await;
    assert_eq!(refused, ("not_allowed".to_owned(), Some(4403)));
    let ticket = ScreenClaims {
        iss: ISSUER.into(),
        aud: AUDIENCE_PLAYER.into(),
        g: serde_json::from_value(game).unwrap(),
        s: String::new(),
        exp: kit::exp(60),
    };
    let refused = first_frame(
        &stage,
        &json!({ "t": "screen", "ticket": kit::sign_hs256(&ticket, SECRET) }),
    )
    .await;
    assert_eq!(refused, ("bad_token".to_owned(), Some(4401)));
}

#[tokio::test]
async fn the_first_frame_says_who_it_is() {
    let stage = Stage::open().await;
    stage.create().await;
    for frame in [
        json!({ "t": "ping" }),
        json!({ "t": "answer", "q": 1, "choice": 0 }),
        json!({ "t": "start" }),
        json!({ "t": "dance" }),
        json!({ "t": "join" }),
        json!([]),
    ] {
        let refused = first_frame(&stage, &frame).await;
        assert_eq!(refused, ("bad_first_frame".to_owned(), Some(4400)), "{frame}");
    }
}

#[tokio::test]
async fn nonsense_costs_nothing() {
    let (stage, mut host, mut ada, mut bob) = in_question().await;
    for text in [
        "",
        "{",
        "null",
        r#"{"t":"answer","q":-1}"#,
        r#"{"t":"answer","q":1,"choice":"0"}"#,
    ] {
        ada.say_text(text.to_owned()).await;
        assert_eq!(ada.error().await, "malformed", "{text}");
    }
    ada.send(Message::binary(vec![0xff; 100])).await;
    assert_eq!(ada.error().await, "malformed");
    ada.say(json!({ "t": "from the future", "q": [1] })).await;
    ada.say(json!({ "t": "start" })).await;
    assert_eq!(ada.error().await, "not_allowed");
    host.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    assert_eq!(host.error().await, "not_allowed");
    // Unknown fields are ignored.
    ada.say(json!({ "t": "answer", "q": 1, "choice": 0, "mood": "good" }))
        .await;
    ada.frame("ack").await;
    bob.is_well().await;
    let (_, status) = stage.status(&format!("?g={}", kit::CODE)).await;
    assert_eq!(status["phase"], "question");
}

#[tokio::test]
async fn an_oversized_frame_is_refused_and_the_third_closes() {
    let (_stage, mut host, mut ada, mut bob) = in_question().await;
    let large = json!({ "t": "rename", "name": "x".repeat(5_000) });
    ada.say(large.clone()).await;
    assert_eq!(ada.error().await, "too_large");
    ada.say(large.clone()).await;
    assert_eq!(ada.error().await, "too_large");
    ada.is_well().await;
    ada.say(large).await;
    let (frames, code) = ada.closed().await;
    assert_eq!(
        (frames[0]["code"].as_str(), code),
        (Some("too_large"), Some(4429))
    );
    // A host may send four times as much.
    host.say(json!({ "t": "rename", "id": 2, "name": "x".repeat(5_000) }))
        .await;
    assert_eq!(host.until("error").await["code"], "bad_name");
    // Past the transport's own limit the frame is not even read.
    bob.say(json!({ "t": "rename", "name": "x".repeat(20_000) }))
        .await;
    let (frames, code) = bob.closed().await;
    assert_eq!(
        (frames[0]["code"].as_str(), code),
        (Some("too_large"), Some(1009))
    );
    host.settle().await;
}

#[tokio::test]
async fn out_of_phase_is_a_typed_refusal() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, _) = stage.join("Ada").await;
    host.until("roster").await;
    ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    let refused = ada.frame("error").await;
    assert_eq!(refused, json!({ "t": "error", "code": "not_open", "q": 1 }));
    for frame in [
        json!({ "t": "next", "q": 1 }),
        json!({ "t": "close", "q": 0 }),
        json!({ "t": "skip", "q": 9 }),
    ] {
        host.say(frame).await;
        assert_eq!(host.error().await, "not_open");
    }
    host.say(json!({ "t": "start" })).await;
    ada.frame("question").await;
    host.until("question").await;
    host.say(json!({ "t": "start" })).await;
    assert_eq!(host.error().await, "wrong_phase");
    ada.say(json!({ "t": "rename", "name": "Eve" })).await;
    assert_eq!(ada.error().await, "wrong_phase");
    for (answer, code) in [
        (json!({ "t": "answer", "q": 2, "choice": 0 }), "not_open"),
        (json!({ "t": "answer", "q": 0, "choice": 0 }), "not_open"),
        (json!({ "t": "answer", "q": 1, "choice": 3 }), "bad_choice"),
        (json!({ "t": "answer", "q": 1, "choice": 200 }), "bad_choice"),
        (json!({ "t": "answer", "q": 1 }), "bad_choice"),
        (json!({ "t": "answer", "q": 1, "choices": [] }), "bad_choice"),
        (json!({ "t": "answer", "q": 1, "choices": [0, 1] }), "bad_choice"),
        (
            json!({ "t": "answer", "q": 1, "choice": 0, "choices": [0] }),
            "bad_choice",
        ),
    ] {
        ada.say(answer).await;
        assert_eq!(ada.error().await, code);
    }
}

#[tokio::test]
async fn fifty_times_the_same_answer_is_one_answer() {
    let (_stage, mut host, mut ada, mut bob) = in_question().await;
    for round in 0..50 {
        // Below the rate limit: the burst, then as fast as it refills.
        if round >= 15 {
            tokio::time::sleep(std::time::Duration::from_millis(110)).await;
        }
        ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
        assert_eq!(ada.frame("ack").await["saved"], true);
    }
    ada.say(json!({ "t": "answer", "q": 1, "choice": 1 })).await;
    assert_eq!(
        ada.frame("error").await,
        json!({ "t": "error", "code": "already_answered", "q": 1 })
    );
    bob.say(json!({ "t": "answer", "q": 1, "choice": 1 })).await;
    let reveal = host.until("reveal").await;
    assert_eq!(
        (&reveal["answered"], &reveal["histogram"]),
        (&json!(2), &json!([1, 1, 0]))
    );
}

#[tokio::test]
async fn who_talks_too_fast_is_closed_alone() {
    let (_stage, mut host, mut ada, mut bob) = in_question().await;
    for _ in 0..30 {
        ada.try_say(&json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    }
    let (frames, code) = ada.closed().await;
    let last = frames.last().unwrap();
    assert_eq!((last["code"].as_str(), code), (Some("too_many"), Some(4429)));
    assert!((1_000..=3_000).contains(&last["retry_ms"].as_u64().unwrap()));
    bob.is_well().await;
    host.settle().await;
}
