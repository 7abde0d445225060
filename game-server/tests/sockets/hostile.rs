//! Clients that mean harm: wrong codes by the thousand, broken frames, floods, bodies that never come.

use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream;
use http::{Request, StatusCode};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use crate::kit::{CODE, Stage};

/// More wrong codes than a network may try.
const GUESSES: usize = 3_000;
const WRONG: &str = "ZZZZZZ";

/// Tries wrong codes until no more are looked up. Some are forgiven with every second, so that this comes before each check.
async fn try_too_many(stage: &Stage) -> usize {
    for tried in 0..GUESSES {
        if stage.status(&format!("?g={WRONG}")).await.0 == StatusCode::TOO_MANY_REQUESTS {
            return tried;
        }
    }
    panic!("{GUESSES} wrong codes were looked up");
}

#[tokio::test(start_paused = true)]
async fn whoever_tries_codes_learns_nothing_more_and_a_class_plays_on() {
    let stage = Stage::open().await.paused();
    stage.create().await;
    let (mut ada, welcome) = stage.join("Ada").await;
    assert!(try_too_many(&stage).await >= 2_100, "a school's own errors");
    let wrong = stage.status(&format!("?g={WRONG}")).await;
    assert_eq!(wrong.1["code"], "too-many-wrong-codes");
    assert_eq!(stage.status(&format!("?g={CODE}")).await, wrong);
    // The same on a socket, whatever a stranger says first.
    for first in [
        json!({ "t": "join", "name": "Bob" }),
        json!({ "t": "resume", "token": "x.y.z" }),
        json!({ "t": "ping" }),
        json!([]),
    ] {
        for code in [CODE, WRONG] {
            try_too_many(&stage).await;
            let mut stranger = stage.connect_to(code).await;
            stranger.say(first.clone()).await;
            let (frames, close) = stranger.closed().await;
            assert_eq!(
                (frames[0]["code"].as_str(), close),
                (Some("too_many"), Some(4429)),
                "{first} to {code}"
            );
        }
    }
    // Who is known comes and goes as ever.
    try_too_many(&stage).await;
    ada.is_well().await;
    let (mut again, _) = stage.resume(&welcome["token"]).await;
    again.is_well().await;
    let (mut host, _) = stage.host().await;
    host.is_well().await;
}

#[tokio::test(start_paused = true)]
async fn a_code_tried_on_a_socket_counts_like_one_on_the_join_page() {
    let stage = Stage::open().await.paused();
    let mut tried_on_page = 0;
    while tried_on_page < 2_000 {
        assert_eq!(
            stage.status(&format!("?g={WRONG}")).await.0,
            StatusCode::NOT_FOUND
        );
        tried_on_page += 1;
    }
    let mut tried_on_sockets = 0;
    while tried_on_sockets < GUESSES {
        let mut guess = stage.connect_to(WRONG).await;
        guess.try_say(&json!({ "t": "join", "name": "Bob" })).await;
        let (frames, _) = guess.closed().await;
        if frames[0]["code"] != "no_such_game" {
            assert_eq!(frames[0]["code"], "too_many");
            return;
        }
        tried_on_sockets += 1;
    }
    panic!("{tried_on_sockets} wrong codes were looked up on sockets");
}

#[tokio::test]
async fn a_code_that_is_taken_is_told_only_to_who_has_a_game_to_start() {
    let stage = Stage::open().await;
    stage.create().await;
    let unknown = json!({ "quiz": { "id": uuid::Uuid::from_u128(99) }, "key": "probe" });
    let taken = stage.post(CODE, Some(&stage.token()), &unknown).await;
    assert_eq!(taken, stage.post(WRONG, Some(&stage.token()), &unknown).await);
    assert_eq!(taken.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn broken_frames_are_told_what_they_broke() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut ada, _) = stage.join("Ada").await;
    // Masked with zeros where they are masked.
    let broken: [(&str, &[u8], u16); 21] = [
        ("no mask", b"\x81\x02{}", 1002),
        ("a ping without a mask", b"\x89\x00", 1002),
        ("the first reserved bit", b"\xc1\x82\0\0\0\0{}", 1002),
        ("the second reserved bit", b"\xa1\x82\0\0\0\0{}", 1002),
        ("the third reserved bit", b"\x91\x82\0\0\0\0{}", 1002),
        ("a reserved kind", b"\x83\x82\0\0\0\0{}", 1002),
        ("the last reserved kind", b"\x87\x82\0\0\0\0{}", 1002),
        ("a reserved control kind", b"\x8b\x80\0\0\0\0", 1002),
        ("the last reserved control kind", b"\x8f\x80\0\0\0\0", 1002),
        ("a fragment of nothing", b"\x80\x82\0\0\0\0{}", 1002),
        ("text within a text", b"\x01\x81\0\0\0\0{\x01\x81\0\0\0\0}", 1002),
        ("a fragmented ping", b"\x09\x80\0\0\0\0", 1002),
        ("a fragmented close", b"\x08\x82\0\0\0\0\x03\xe8", 1002),
        (
            "a ping of 126 bytes",
            &[&b"\x89\xfe\0\x7e\0\0\0\0"[..], &[0; 126]].concat(),
            1002,
        ),
        ("a close of one byte", b"\x88\x81\0\0\0\0\x03", 1002),
        (
            "a close whose reason is no UTF-8",
            b"\x88\x83\0\0\0\0\x03\xe8\xff",
            1007,
        ),
        ("no UTF-8", b"\x81\x82\0\0\0\0\xff\xfe", 1007),
        ("half a pair in UTF-8", b"\x81\x83\0\0\0\0\xed\xa0\x80", 1007),
        (
            "UTF-8 that breaks off",
            b"\x01\x81\0\0\0\0\xc3\x80\x80\0\0\0\0",
            1007,
        ),
        ("100 MB to come", b"\x81\xff\0\0\0\0\x06\0\0\0\0\0\0\0", 1009),
        (
            "a length with its highest bit",
            b"\x81\xff\x80\0\0\0\0\0\0\x01\0\0\0\0",
            1009,
        ),
    ];
    for (what, bytes, close) in broken {
        let mut client = stage.connect().await;
        client.say_bytes(bytes).await;
        let (frames, code) = client.closed().await;
        assert_eq!(code, Some(close), "{what}");
        let expected = if close == 1009 { "too_large" } else { "malformed" };
        assert_eq!(frames[0]["code"], expected, "{what}");
    }
    ada.is_well().await;
}

/// A close is answered with its own code, one that nobody may send with 1002 (RFC 6455, 7.4).
#[tokio::test]
async fn a_close_is_answered_with_its_code_unless_nobody_may_send_that() {
    let stage = Stage::open().await;
    stage.create().await;
    for (sent, answered) in [
        (1000, 1000),
        (1001, 1001),
        (1011, 1011),
        (3000, 3000),
        (4999, 4999),
        (0, 1002),
        (999, 1002),
        (1004, 1002),
        (1005, 1002),
        (1006, 1002),
        (1015, 1002),
        (1016, 1002),
        (2999, 1002),
        (5000, 1002),
    ] {
        let mut client = stage.connect().await;
        let [high, low] = u16::to_be_bytes(sent);
        client.say_bytes(&[0x88, 0x82, 0, 0, 0, 0, high, low]).await;
        assert_eq!(client.closed().await, (Vec::new(), Some(answered)), "{sent}");
    }
}

/// What is unusual and allowed: a text in pieces, cut within a letter, with a ping between them.
#[tokio::test]
async fn a_text_may_come_in_pieces() {
    let stage = Stage::open().await;
    stage.create().await;
    let mut client = stage.connect().await;
    let join = r#"{"t":"join","name":"Zoë"}"#.as_bytes();
    let cut = join.iter().position(|byte| *byte == 0xc3).unwrap() + 1;
    let frame = |kind: u8, payload: &[u8]| {
        let length = u8::try_from(payload.len()).unwrap();
        [&[kind, 0x80 | length, 0, 0, 0, 0], payload].concat()
    };
    let pieces = [
        frame(0x01, &join[..5]),
        frame(0x89, b"between"),
        frame(0x00, &join[5..cut]),
        frame(0x00, b""),
        frame(0x80, &join[cut..]),
    ];
    client.say_bytes(&pieces.concat()).await;
    assert_eq!(client.frame("welcome").await["state"]["name"], "Zoë");
}

#[tokio::test]
async fn a_flood_of_control_frames_ends_its_own_socket() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut ada, _) = stage.join("Ada").await;
    for (name, frame) in [
        ("Ping", Message::Ping(Bytes::new())),
        ("Pong", Message::Pong(Bytes::new())),
    ] {
        let (mut flood, _) = stage.join(name).await;
        for _ in 0..50 {
            flood.send(frame.clone()).await;
        }
        let (frames, code) = flood.closed().await;
        assert_eq!(
            (frames[0]["code"].as_str(), code),
            (Some("too_many"), Some(4429)),
            "{name}"
        );
    }
    ada.is_well().await;
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_comes_is_given_up() {
    let stage = Stage::open().await.paused();
    let silent = stream::pending::<std::io::Result<Bytes>>();
    let request = Request::post(format!("/games?g={CODE}"))
        .header("authorization", format!("Bearer {}", stage.token()))
        .body(Body::from_stream(silent))
        .unwrap();
    let answered = tokio::time::timeout(Duration::from_secs(600), stage.call(request)).await;
    let (status, problem) = answered.unwrap();
    assert_eq!(
        (status, problem["code"].as_str()),
        (StatusCode::REQUEST_TIMEOUT, Some("body-timeout"))
    );
}

#[tokio::test]
async fn an_address_or_method_that_does_not_exist_is_a_problem() {
    let stage = Stage::open().await;
    for (method, path, status, code) in [
        ("GET", "/nothing", StatusCode::NOT_FOUND, "unknown-route"),
        ("POST", "/nothing", StatusCode::NOT_FOUND, "unknown-route"),
        (
            "PUT",
            "/games?g=K7Q2MX",
            StatusCode::METHOD_NOT_ALLOWED,
            "method-not-allowed",
        ),
        (
            "DELETE",
            "/status?g=K7Q2MX",
            StatusCode::METHOD_NOT_ALLOWED,
            "method-not-allowed",
        ),
    ] {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(Body::empty())
            .unwrap();
        let (answered, problem) = stage.call(request).await;
        assert_eq!(
            (answered, problem["code"].as_str()),
            (status, Some(code)),
            "{method} {path}"
        );
    }
}
