//! Joining, coming back, being replaced, removed, refused.

use serde_json::{Value, json};

use crate::kit::{CODE, Client, Stage};

/// Takes the game from the lobby to `phase`; Ada answers the first question when it opens.
async fn advance(host: &mut Client, ada: &mut Client, phase: &str) {
    if phase == "lobby" {
        return;
    }
    host.say(json!({ "t": "start" })).await;
    ada.until("question").await;
    ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    ada.until("ack").await;
    if phase == "question" {
        return;
    }
    host.say(json!({ "t": "close", "q": 1 })).await;
    ada.until("result").await;
    if phase == "results" {
        return;
    }
    host.say(json!({ "t": "end" })).await;
    ada.until("over").await;
    if phase == "ended" {
        host.say(json!({ "t": "finish" })).await;
        let (frames, code) = ada.closed().await;
        assert_eq!((frames[0]["reason"].as_str(), code), (Some("ended"), Some(1000)));
    }
}

#[tokio::test]
async fn a_reload_keeps_name_answer_and_score_in_every_phase() {
    for phase in ["lobby", "question", "results", "podium", "ended"] {
        let stage = Stage::open().await;
        stage.create().await;
        let (mut host, _) = stage.host().await;
        let (mut ada, welcome) = stage.join("Ada").await;
        let (mut bob, _) = stage.join("Bob").await;
        let token = welcome["token"].clone();
        advance(&mut host, &mut ada, phase).await;
        ada.vanish();
        let (mut ada, again) = stage.resume(&token).await;
        let state = &again["state"];
        assert_eq!(again["id"], welcome["id"], "{phase}");
        assert_eq!(state["name"], "Ada", "{phase}");
        assert_eq!(state["phase"], phase);
        let total = state["total"].as_u64().unwrap();
        match phase {
            "lobby" => assert!(state.get("question").is_none()),
            "question" => {
                assert_eq!(state["answered"], json!([0]));
                assert_eq!(state["question"]["q"], 1);
                assert!(state["question"]["left"].as_u64().unwrap() <= 20_000);
                assert_eq!(total, 0);
            }
            "results" => {
                assert_eq!(state["answered"], json!([0]));
                assert_eq!(state["outcome"]["ok"], true);
                assert_eq!(state["outcome"]["total"].as_u64(), Some(total));
                assert!(total > 900);
            }
            _podium_or_ended => {
                assert_eq!(state["over"]["rank"], 1);
                assert_eq!(state["over"]["total"].as_u64(), Some(total));
                assert!(total > 900);
            }
        }
        if phase == "ended" {
            let (frames, code) = ada.closed().await;
            assert_eq!(frames, [json!({ "t": "bye", "reason": "ended" })]);
            assert_eq!(code, Some(1000));
        } else {
            ada.is_well().await;
            bob.settle().await;
        }
    }
}

#[tokio::test]
async fn a_newer_socket_replaces_the_older_one_alone() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut ada, welcome) = stage.join("Ada").await;
    let (mut bob, _) = stage.join("Bob").await;
    let (mut newer, _) = stage.resume(&welcome["token"]).await;
    let (frames, code) = ada.closed().await;
    assert_eq!(frames, [json!({ "t": "bye", "reason": "replaced" })]);
    assert_eq!(code, Some(4409));
    newer.is_well().await;
    bob.is_well().await;
    newer.say(json!({ "t": "rename", "name": "Ada L." })).await;
    assert_eq!(newer.frame("renamed").await["name"], "Ada L.");
}

#[tokio::test]
async fn a_seated_player_can_ask_for_everything_again() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut ada, welcome) = stage.join("Ada").await;
    ada.say(json!({ "t": "resume", "token": welcome["token"], "seq": 0 }))
        .await;
    assert_eq!(ada.frame("sync").await["state"]["name"], "Ada");
    ada.say(json!({ "t": "join", "name": "Eve" })).await;
    assert_eq!(ada.error().await, "not_allowed");
}

#[tokio::test]
async fn a_removed_player_stays_out() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, welcome) = stage.join("Ada").await;
    let (mut bob, _) = stage.join("Bob").await;
    host.say(json!({ "t": "kick", "id": 1 })).await;
    let (frames, code) = ada.closed().await;
    assert_eq!(frames, [json!({ "t": "bye", "reason": "kicked" })]);
    assert_eq!(code, Some(4403));
    let mut again = stage.connect().await;
    again
        .say(json!({ "t": "resume", "token": welcome["token"] }))
        .await;
    let (frames, code) = again.closed().await;
    assert_eq!(frames[0]["code"], "kicked");
    assert_eq!(code, Some(4403));
    bob.is_well().await;
    host.say(json!({ "t": "kick", "id": 1 })).await;
    host.until_frame(|frame| frame["t"] == "error" && frame["code"] == "no_such_player")
        .await;
}

#[tokio::test]
async fn a_locked_game_lets_its_players_back_in() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (ada, welcome) = stage.join("Ada").await;
    host.until("roster").await;
    host.say(json!({ "t": "lock", "on": true })).await;
    host.until("lock").await;
    let mut bob = stage.connect().await;
    bob.say(json!({ "t": "join", "name": "Bob" })).await;
    assert_eq!(bob.error().await, "locked");
    ada.vanish();
    let (mut ada, _) = stage.resume(&welcome["token"]).await;
    ada.is_well().await;
    let (_, status) = stage.status(&format!("?g={CODE}")).await;
    assert_eq!(status, json!({ "phase": "lobby", "players": 1, "locked": true }));
    // The refused socket may try again.
    host.say(json!({ "t": "lock", "on": false })).await;
    host.until("lock").await;
    bob.say(json!({ "t": "join", "name": "Bob" })).await;
    assert_eq!(bob.frame("welcome").await["id"], 2);
}

#[tokio::test]
async fn a_full_game_says_so() {
    let stage = Stage::open().await;
    stage
        .api
        .players_max
        .store(2, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(stage.create().await["players_max"], 2);
    let (mut ada, _) = stage.join("Ada").await;
    let (_bob, _) = stage.join("Bob").await;
    let mut cyd = stage.connect().await;
    cyd.say(json!({ "t": "join", "name": "Cyd" })).await;
    assert_eq!(cyd.error().await, "game_full");
    ada.say(json!({ "t": "leave" })).await;
    let (frames, code) = ada.closed().await;
    assert_eq!(frames, [json!({ "t": "bye", "reason": "left" })]);
    assert_eq!(code, Some(1000));
    cyd.say(json!({ "t": "join", "name": "Cyd" })).await;
    cyd.frame("welcome").await;
}

#[tokio::test]
async fn who_left_in_the_lobby_joins_anew() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, welcome) = stage.join("Ada").await;
    ada.say(json!({ "t": "leave" })).await;
    ada.closed().await;
    host.until_frame(|frame| frame["left"] == json!([1])).await;
    let mut again = stage.connect().await;
    again
        .say(json!({ "t": "resume", "token": welcome["token"] }))
        .await;
    let (frames, code) = again.closed().await;
    assert_eq!(
        (frames[0]["code"].as_str(), code),
        (Some("bad_token"), Some(4401))
    );
    let (_, welcome) = stage.join("Ada").await;
    assert_eq!(welcome["id"], 2);
}

#[tokio::test]
async fn names_are_judged_and_can_be_tried_again() {
    let stage = Stage::open().await;
    stage.create().await;
    let (_ada, _) = stage.join("Ada").await;
    let mut second = stage.connect().await;
    for (name, expected) in [
        (" ADA ".to_owned(), "name_taken"),
        ("   ".to_owned(), "bad_name"),
        ("x".repeat(21), "bad_name"),
        ("a\u{7}b".to_owned(), "bad_name"),
    ] {
        second.say(json!({ "t": "join", "name": name })).await;
        assert_eq!(second.error().await, expected, "{name}");
    }
    for name in ["👩‍👩‍👧‍👦".repeat(20), "مريم".to_owned(), "<b>&amp;\"'</b>".to_owned()]
    {
        let (_client, welcome) = stage.join(&name).await;
        assert_eq!(welcome["state"]["name"], name);
    }
}

#[tokio::test]
async fn the_end_is_told_to_whoever_comes_later() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    host.say(json!({ "t": "end" })).await;
    host.closed().await;
    let mut late = stage.connect().await;
    late.say(json!({ "t": "join", "name": "Late" })).await;
    let (frames, code) = late.closed().await;
    assert_eq!(frames[0]["code"], "ended");
    assert_eq!(frames[1], json!({ "t": "bye", "reason": "ended" }));
    assert_eq!(code, Some(1000));
    let (mut host, state) = stage.host().await;
    assert_eq!(state["phase"], "ended");
    assert_eq!(host.closed().await.1, Some(1000));
    // Nothing was played, so there is nothing to save.
    assert_eq!(stage.server.counts().results_pending, 0);
    assert!(stage.api.saved.borrow().is_empty());
}

#[tokio::test]
async fn a_wrong_code_is_told_on_the_socket() {
    let stage = Stage::open().await;
    let mut lost = stage.connect_to("ZZZZZZ").await;
    lost.say(json!({ "t": "join", "name": "Ada" })).await;
    let (frames, code) = lost.closed().await;
    assert_eq!(frames, [json!({ "t": "error", "code": "no_such_game" })]);
    assert_eq!(code, Some(4404));
}

#[tokio::test(start_paused = true)]
async fn a_wrong_code_is_told_from_a_right_one_by_nobody_who_says_nothing() {
    let stage = Stage::open().await.paused();
    stage.create().await;
    let mut told = Vec::new();
    for code in ["ZZZZZZ", CODE] {
        let started = tokio::time::Instant::now();
        let mut silent = stage.connect_to(code).await;
        told.push((silent.closed().await, started.elapsed().as_secs()));
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0].0.1, Some(4400));
}

#[tokio::test(start_paused = true)]
async fn a_lost_socket_counts_as_away_after_the_grace_and_not_before() {
    let stage = Stage::open().await.paused();
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (ada, welcome) = stage.join("Ada").await;
    let (_bob, _) = stage.join("Bob").await;
    host.until("roster").await;
    // A reload within the grace is nobody's news.
    ada.vanish();
    let (ada, _) = stage.resume(&welcome["token"]).await;
    let started = tokio::time::Instant::now();
    ada.vanish();
    let roster = host.until_frame(|frame| frame.get("away").is_some()).await;
    assert_eq!(roster["away"], json!([1]));
    assert!(started.elapsed().as_millis() >= 3_000);
    let (_ada, _) = stage.resume(&welcome["token"]).await;
    let roster: Value = host.until("roster").await;
    assert_eq!(roster, json!({ "t": "roster", "back": [1] }));
}
