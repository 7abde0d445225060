//! Games that outlive their server, and servers that lost theirs. The log is in memory and outlives both.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use game_server::{
    ClaimId, Claimed, Config, Entry, GameLog, MemoryLog, OperatorDesk, Restoration, ServerId, Trouble,
    read_journal,
};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use protocol::ids::GameCode;
use serde_json::{Value, json};
use tower::ServiceExt;
use uuid::Uuid;

use crate::kit::{CODE, Client, Stage};

fn code() -> GameCode {
    CODE.parse().unwrap()
}

async fn stage(log: &MemoryLog) -> Stage {
    Stage::with_log(Config::default(), Arc::new(log.clone()) as Arc<dyn GameLog>).await
}

/// Another server on the same log, as after a crash of the first one, which goes on without knowing.
async fn successor(log: &MemoryLog, restored: usize) -> Stage {
    let stage = stage(log).await;
    let restoration = stage.server.restore().await.unwrap();
    let expected = Restoration {
        restored,
        ..Restoration::default()
    };
    assert_eq!(restoration, expected);
    stage
}

/// A question with Ada's answer saved and Bob's not given.
async fn half_answered(stage: &Stage) -> (Client, Client, Client, Value, Value) {
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, ada_welcome) = stage.join("Ada").await;
    let (mut bob, bob_welcome) = stage.join("Bob").await;
    host.say(json!({ "t": "start" })).await;
    ada.frame("question").await;
    bob.frame("question").await;
    host.until("question").await;
    ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    assert_eq!(ada.frame("ack").await["saved"], true);
    (
        host,
        ada,
        bob,
        ada_welcome["token"].clone(),
        bob_welcome["token"].clone(),
    )
}

#[tokio::test(start_paused = true)]
async fn an_open_question_goes_on_where_it_was() {
    let log = MemoryLog::new();
    let first = stage(&log).await.paused();
    let (host, ada, bob, ada_token, bob_token) = half_answered(&first).await;
    // Nothing happens for 7.5 s but that time goes by, which the journal hears once a second.
    tokio::time::sleep(Duration::from_millis(7_500)).await;
    drop((host, ada, bob));
    log.set_trouble(Trouble::Away);
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    log.set_trouble(Trouble::None);
    let second = successor(&log, 1).await.paused();
    let (mut ada, welcome) = second.resume(&ada_token).await;
    let state = &welcome["state"];
    assert_eq!(
        (&state["epoch"], &state["phase"]),
        (&json!(2), &json!("question"))
    );
    assert_eq!((&state["answered"], &state["name"]), (&json!([0]), &json!("Ada")));
    let whole = state["question"]["ms"].as_u64().unwrap();
    let left = state["question"]["left"].as_u64().unwrap();
    assert!(
        (whole - 7_500..=whole - 6_500).contains(&left),
        "{left} of {whole} ms left"
    );
    // The same answer again is known; Bob is waited for and answers.
    ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    assert_eq!(
        ada.frame("ack").await,
        json!({ "t": "ack", "q": 1, "saved": true })
    );
    let (mut host, state) = second.host().await;
    assert_eq!(
        (&state["answered"], &state["expected"], &state["epoch"]),
        (&json!(1), &json!(2), &json!(2))
    );
    let (mut bob, _) = second.resume(&bob_token).await;
    bob.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    assert_eq!(bob.frame("ack").await["saved"], true);
    ada.frame("result").await;
    host.until("reveal").await;
    // The game keeps its rules and its key.
    let (status, body) = second
        .post(CODE, Some(&second.token()), &second.body("key"))
        .await;
    assert_eq!((status, &body["game"]), (StatusCode::OK, &state["game"]));
}

#[tokio::test(start_paused = true)]
async fn a_question_does_not_close_without_those_who_are_on_their_way() {
    let log = MemoryLog::new();
    let first = stage(&log).await.paused();
    let (_host, _ada, _bob, ada_token, _) = half_answered(&first).await;
    let second = successor(&log, 1).await.paused();
    let restored = tokio::time::Instant::now();
    // Only Ada comes back, who has answered: Bob has a quarter of a minute.
    let (mut ada, _) = second.resume(&ada_token).await;
    ada.frame("result").await;
    let waited_s = restored.elapsed().as_secs();
    assert!((14..=16).contains(&waited_s), "{waited_s} s");
}

#[tokio::test]
async fn whoever_lost_a_game_says_no_more_and_sends_everybody_on() {
    let log = MemoryLog::new();
    let first = stage(&log).await;
    let (mut host, mut ada, mut bob, ada_token, bob_token) = half_answered(&first).await;
    let second = successor(&log, 1).await;
    // The first server lives on and takes an answer: no ack, no result, only "moved".
    bob.say(json!({ "t": "answer", "q": 1, "choice": 1 })).await;
    for client in [&mut bob, &mut ada, &mut host] {
        let (frames, code) = client.closed().await;
        let news: Vec<_> = frames
            .iter()
            .filter(|frame| frame["t"] != "progress" && frame["t"] != "roster")
            .collect();
        assert_eq!(news.len(), 1, "{news:?}");
        assert_eq!(
            (news[0]["t"].as_str(), news[0]["reason"].as_str()),
            (Some("bye"), Some("moved"))
        );
        assert_eq!(code, Some(1012));
    }
    assert_eq!(first.server.counts().games, 0);
    // What it had not saved is not in the game.
    let (_, welcome) = second.resume(&bob_token).await;
    assert_eq!(welcome["state"].get("answered"), None);
    let (_, welcome) = second.resume(&ada_token).await;
    assert_eq!(welcome["state"]["answered"], json!([0]));
}

#[tokio::test]
async fn an_answer_whose_append_was_not_answered_counts_once() {
    let log = MemoryLog::new();
    let first = stage(&log).await;
    let (_host, _ada, mut bob, ..) = half_answered(&first).await;
    log.set_trouble(Trouble::Unanswered);
    bob.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    assert_eq!(bob.frame("ack").await["saved"], false);
    let result = bob.frame("result").await;
    assert_eq!(result["saved"], false, "an unsaved result is marked: {result}");
    log.set_trouble(Trouble::None);
    assert_eq!(
        bob.frame("ack").await,
        json!({ "t": "ack", "q": 1, "saved": true })
    );
    // The journal is whole: another server reads the same game.
    let second = successor(&log, 1).await;
    let (_, state) = second.host().await;
    assert_eq!(
        (&state["phase"], &state["reveal"]["answered"]),
        (&json!("results"), &json!(2))
    );
}

#[tokio::test]
async fn a_store_that_lost_everything_gets_the_game_again() {
    let log = MemoryLog::new();
    let first = stage(&log).await;
    let (_host, mut ada, mut bob, ..) = half_answered(&first).await;
    log.lose_all();
    bob.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    assert_eq!(bob.frame("ack").await["saved"], true);
    ada.frame("result").await;
    let second = successor(&log, 1).await;
    let (_, state) = second.host().await;
    assert_eq!(
        (&state["phase"], &state["reveal"]["answered"]),
        (&json!("results"), &json!(2))
    );
    // Written again under a new epoch, then claimed.
    assert_eq!(state["epoch"], 3);
}

#[tokio::test]
async fn a_result_that_the_api_did_not_take_is_saved_by_the_next_server() {
    let log = MemoryLog::new();
    let first = stage(&log).await;
    let (mut host, mut ada, _bob, ada_token, _) = half_answered(&first).await;
    first.api.is_down.store(true, Ordering::SeqCst);
    host.say(json!({ "t": "end" })).await;
    ada.until("over").await;
    let second = successor(&log, 1).await;
    let saved = second.saved_result().await;
    assert_eq!((saved.players.len(), saved.players[0].answers.len()), (2, 1));
    let (_, welcome) = second.resume(&ada_token).await;
    assert_eq!(welcome["state"]["phase"], "podium");
    // The first one gets through as well: both say the same, so that one of them is a repetition.
    first.api.is_down.store(false, Ordering::SeqCst);
    assert_eq!(first.saved_result().await, saved);
    // A third one finds it settled.
    let settled = async {
        loop {
            let third = stage(&log).await;
            third.server.restore().await.unwrap();
            let attempts = third.server.counts().results_pending;
            if attempts == 0 {
                return third;
            }
        }
    };
    let third = tokio::time::timeout(Duration::from_secs(10), settled)
        .await
        .unwrap();
    assert_eq!(third.server.counts().games, 1);
}

#[tokio::test]
async fn a_game_that_cannot_be_read_is_left_alone_and_the_others_go_on() {
    let log = MemoryLog::new();
    let first = stage(&log).await;
    let (_host, _ada, _bob, ada_token, _) = half_answered(&first).await;
    let other = "K7Q2MY";
    let (status, _) = first
        .post(other, Some(&first.token()), &first.body("other"))
        .await;
    assert_eq!(status, StatusCode::CREATED);
    // Written by a newer release.
    log.tamper(code(), |stored| stored.snapshot[0] = 99);
    let before = log.load(code()).await.unwrap();
    let second = stage(&log).await;
    let expected = Restoration {
        restored: 1,
        unreadable: 1,
        left: 0,
    };
    assert_eq!(second.server.restore().await.unwrap(), expected);
    assert_eq!(log.load(code()).await.unwrap(), before, "it was touched");
    // Everybody is told in words, and nobody gets its code.
    let (status, body) = second.status(&format!("?g={CODE}")).await;
    assert_eq!(
        (status, body["code"].as_str()),
        (StatusCode::GONE, Some("game-lost"))
    );
    let mut ada = second.connect().await;
    ada.say(json!({ "t": "resume", "token": ada_token })).await;
    let (frames, closed) = ada.closed().await;
    assert_eq!(frames, [json!({ "t": "error", "code": "game_lost" })]);
    assert_eq!(closed, Some(4404));
    let (status, _) = second
        .post(CODE, Some(&second.token()), &second.body("new"))
        .await;
    assert_eq!(status, StatusCode::CONFLICT);
    let (status, _) = second.status(&format!("?g={other}")).await;
    assert_eq!(status, StatusCode::OK);
    // Nor is an operator told that there is none.
    let desk = OperatorDesk::new();
    desk.open(&second.server);
    let asked = Request::get(format!("/timeline?g={CODE}"));
    let answer = desk.router().oneshot(asked.body(Body::empty()).unwrap()).await;
    let body = answer.unwrap().into_body().collect().await.unwrap().to_bytes();
    let refusal: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(refusal["code"], "game-unreadable", "{refusal}");
}

#[tokio::test]
async fn a_torn_end_costs_what_was_never_acked() {
    let log = MemoryLog::new();
    let first = stage(&log).await;
    let (_host, _ada, _bob, ada_token, _) = half_answered(&first).await;
    log.tamper(code(), |stored| {
        let torn = stored.journal.len() - 3;
        stored.journal.truncate(torn);
    });
    let second = successor(&log, 1).await;
    let (mut ada, welcome) = second.resume(&ada_token).await;
    assert_eq!(
        welcome["state"].get("answered"),
        None,
        "the torn record was its answer"
    );
    // It was acked, so the class is told.
    assert_eq!(welcome["state"]["rewound"], true);
    ada.say(json!({ "t": "answer", "q": 1, "choice": 1 })).await;
    assert_eq!(ada.frame("ack").await["saved"], true);
    // Its number was taken, and what came after it is readable.
    let third = successor(&log, 1).await;
    let (_, welcome) = third.resume(&ada_token).await;
    assert_eq!(welcome["state"]["answered"], json!([1]));
}

#[tokio::test]
async fn a_journal_torn_at_the_podium_costs_no_result() {
    let log = MemoryLog::new();
    let first = stage(&log).await;
    let (mut host, mut ada, _bob, ada_token, _) = half_answered(&first).await;
    first.api.is_down.store(true, Ordering::SeqCst);
    host.say(json!({ "t": "end" })).await;
    ada.until("over").await;
    // The last record, which says when the podium was reached, is cut off; the one before it reached the podium.
    log.tamper(code(), |stored| {
        let before = read_journal(&stored.journal, stored.through).unwrap();
        assert!(matches!(before.records.last().unwrap().entry, Entry::Over { .. }));
        stored.journal.pop();
        let after = read_journal(&stored.journal, stored.through).unwrap();
        assert_eq!(after.records.len() + 1, before.records.len());
    });
    let second = successor(&log, 1).await;
    let saved = second.saved_result().await;
    assert_eq!((saved.players.len(), saved.players[0].answers.len()), (2, 1));
    let (_, welcome) = second.resume(&ada_token).await;
    assert_eq!(welcome["state"]["phase"], "podium");
}

#[tokio::test]
async fn a_stop_leaves_a_snapshot_and_nobody_in_charge() {
    let log = MemoryLog::new();
    let first = stage(&log).await;
    let (_host, _ada, _bob, ada_token, _) = half_answered(&first).await;
    first.server.shutdown().await;
    let stored = log.load(code()).await.unwrap().unwrap();
    assert_eq!(
        (stored.owner.server.as_ref(), stored.owner.claim),
        (None, ClaimId::NONE)
    );
    assert!(stored.journal.is_empty());
    assert_eq!(stored.through, stored.last);
    let second = successor(&log, 1).await;
    let (_, welcome) = second.resume(&ada_token).await;
    assert_eq!(
        (&welcome["state"]["answered"], &welcome["state"]["epoch"]),
        (&json!([0]), &json!(2))
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_a_log_that_refuses_for_a_while() {
    let log = MemoryLog::new();
    let first = stage(&log).await.paused();
    let (_host, _ada, mut bob, _, bob_token) = half_answered(&first).await;
    log.set_trouble(Trouble::Refusing);
    bob.say(json!({ "t": "answer", "q": 1, "choice": 1 })).await;
    assert_eq!(bob.frame("ack").await["saved"], false);
    let healing = log.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(2)).await;
        healing.set_trouble(Trouble::None);
    });
    first.server.shutdown().await;
    assert_eq!(bob.frame("result").await["saved"], false);
    assert_eq!(
        bob.frame("ack").await,
        json!({ "t": "ack", "q": 1, "saved": true })
    );
    let stored = log.load(code()).await.unwrap().unwrap();
    assert_eq!(stored.owner.server, None);
    let second = successor(&log, 1).await.paused();
    let (_, welcome) = second.resume(&bob_token).await;
    assert_eq!(welcome["state"]["phase"], "results", "{welcome}");
}

#[tokio::test(start_paused = true)]
async fn a_stop_without_a_log_gives_nothing_back() {
    let log = MemoryLog::new();
    let first = stage(&log).await.paused();
    let (_host, _ada, mut bob, ..) = half_answered(&first).await;
    log.set_trouble(Trouble::Refusing);
    bob.say(json!({ "t": "answer", "q": 1, "choice": 1 })).await;
    assert_eq!(bob.frame("ack").await["saved"], false);
    let asked = tokio::time::Instant::now();
    first.server.shutdown().await;
    assert!(asked.elapsed() < Duration::from_secs(8), "{:?}", asked.elapsed());
    log.set_trouble(Trouble::None);
    let stored = log.load(code()).await.unwrap().unwrap();
    assert!(
        stored.owner.server.is_some(),
        "whoever has not everything gives nothing back"
    );
}

#[tokio::test]
async fn a_create_whose_answer_was_lost_finds_its_game() {
    let log = MemoryLog::new();
    let stage = stage(&log).await;
    log.set_trouble(Trouble::Unanswered);
    let create = || async { stage.post(CODE, Some(&stage.token()), &stage.body("key")).await };
    let (status, body) = create().await;
    assert_eq!(
        (status, body["code"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("journal-unavailable"))
    );
    log.set_trouble(Trouble::None);
    let (status, _) = create().await;
    assert_eq!(status, StatusCode::OK);
    let (_, state) = stage.host().await;
    assert_eq!(state["phase"], "lobby");
    // Somebody else's game is not taken over by a create.
    let owner = log.tail(code()).await.unwrap().unwrap().owner;
    let other = ServerId {
        name: "other".into(),
        incarnation: Uuid::nil(),
    };
    let claimed = log
        .claim(code(), owner.claim, other, ClaimId::draw(), 0)
        .await
        .unwrap();
    assert!(matches!(claimed, Claimed::Yes(_)));
    let stranger = self::stage(&log).await;
    let (status, _) = stranger
        .post(CODE, Some(&stranger.token()), &stranger.body("key"))
        .await;
    assert_eq!(status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn who_joined_unsaved_does_not_come_back_as_somebody_else() {
    let log = MemoryLog::new();
    let first = stage(&log).await;
    let (_host, _ada, _bob, ada_token, _) = half_answered(&first).await;
    // Cy's joining is not saved when the server dies; its id is given again.
    log.set_trouble(Trouble::Away);
    let (_cy, welcome) = first.join("Cy").await;
    assert_eq!((&welcome["id"], &welcome["saved"]), (&json!(3), &json!(false)));
    log.set_trouble(Trouble::None);
    let second = successor(&log, 1).await;
    let (mut dot, dot_welcome) = second.join("Dot").await;
    assert_eq!(dot_welcome["id"], 3);
    let mut cy = second.connect().await;
    cy.say(json!({ "t": "resume", "token": welcome["token"] })).await;
    let (frames, closed) = cy.closed().await;
    assert_eq!(frames, [json!({ "t": "error", "code": "bad_token" })]);
    assert_eq!(closed, Some(4401), "it joins again");
    dot.is_well().await;
    // Everybody else comes back, after another restart too.
    let third = successor(&log, 1).await;
    for (token, name) in [(&ada_token, "Ada"), (&dot_welcome["token"], "Dot")] {
        let (_, welcome) = third.resume(token).await;
        assert_eq!(welcome["state"]["name"], name);
    }
}
