//! The journal between a change and its frames, and the result on its way to the API.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use game_server::{Config, GameLog, MemoryLog, Trouble};
use serde_json::json;

use crate::kit::{Client, Stage};

async fn stage() -> (Stage, MemoryLog) {
    let log = MemoryLog::new();
    let stage = Stage::with_log(Config::default(), Arc::new(log.clone()) as Arc<dyn GameLog>).await;
    (stage, log)
}

async fn question(stage: &Stage) -> (Client, Client, Client) {
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, _) = stage.join("Ada").await;
    let (mut bob, _) = stage.join("Bob").await;
    host.say(json!({ "t": "start" })).await;
    ada.frame("question").await;
    bob.frame("question").await;
    host.until("question").await;
    (host, ada, bob)
}

#[tokio::test]
async fn a_slow_journal_does_not_hold_up_a_class_and_says_so() {
    for trouble in [
        Trouble::Stuck,
        Trouble::Away,
        Trouble::Refusing,
        Trouble::Unanswered,
    ] {
        let (stage, log) = stage().await;
        let (mut host, mut ada, mut bob) = question(&stage).await;
        log.set_trouble(trouble);
        ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
        assert_eq!(
            ada.frame("ack").await,
            json!({ "t": "ack", "q": 1, "saved": false })
        );
        host.until_frame(|frame| *frame == json!({ "t": "saving", "behind": true }))
            .await;
        // The same answer again is not saved any more than before, and the class goes on.
        ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
        assert_eq!(ada.frame("ack").await["saved"], false);
        bob.say(json!({ "t": "answer", "q": 1, "choice": 1 })).await;
        assert_eq!(bob.frame("ack").await["saved"], false);
        ada.frame("result").await;
        bob.frame("result").await;
        host.until("reveal").await;
        let (mut second, state) = stage.host().await;
        assert_eq!(state["behind"], true);
        // Back again: one ack each, and the host may rest.
        log.set_trouble(Trouble::None);
        for player in [&mut ada, &mut bob] {
            assert_eq!(
                player.frame("ack").await,
                json!({ "t": "ack", "q": 1, "saved": true })
            );
            player.is_well().await;
        }
        for host in [&mut host, &mut second] {
            host.until_frame(|frame| *frame == json!({ "t": "saving", "behind": false }))
                .await;
        }
        host.say(json!({ "t": "next", "q": 1 })).await;
        ada.frame("question").await;
        bob.frame("question").await;
        bob.say(json!({ "t": "answer", "q": 2, "choices": [0] })).await;
        assert_eq!(bob.frame("ack").await["saved"], true);
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_is_shown_when_it_is_saved_and_at_the_latest_after_100_ms() {
    let (stage, log) = stage().await;
    let stage = stage.paused();
    let (mut host, mut ada, _bob) = question(&stage).await;
    log.set_trouble(Trouble::Stuck);
    let asked = tokio::time::Instant::now();
    ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    let heard = tokio::time::timeout(Duration::from_millis(60), ada.hear()).await;
    assert!(heard.is_err(), "an unsaved answer was acked early: {heard:?}");
    // A question asked meanwhile waits its turn behind the unsaved answer.
    host.say(json!({ "t": "close", "q": 1 })).await;
    assert_eq!(ada.frame("ack").await["saved"], false);
    let waited_ms = asked.elapsed().as_millis();
    assert!((100..=110).contains(&waited_ms), "{waited_ms} ms");
    ada.frame("result").await;
}

#[tokio::test]
async fn a_result_is_saved_once_and_as_often_as_it_takes() {
    let stage = Stage::open().await;
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, _) = stage.join("Ada").await;
    host.say(json!({ "t": "start" })).await;
    ada.frame("question").await;
    stage.api.is_down.store(true, Ordering::SeqCst);
    host.say(json!({ "t": "end" })).await;
    ada.until("over").await;
    let mut attempts = 0;
    while attempts < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        attempts = stage.api.save_attempts.load(Ordering::SeqCst);
    }
    assert_eq!(stage.server.counts().results_pending, 1);
    stage.api.is_down.store(false, Ordering::SeqCst);
    let result = stage.saved_result().await;
    assert_eq!(result.players[0].name, "Ada");
    assert_eq!(result.quiz, stage.api.quiz);
    assert_eq!(result.teacher, stage.teacher);
}

#[tokio::test]
async fn a_result_waits_for_the_record_of_its_end() {
    let (stage, log) = stage().await;
    let (mut host, mut ada, _bob) = question(&stage).await;
    log.set_trouble(Trouble::Stuck);
    host.say(json!({ "t": "end" })).await;
    // The class sees the podium after the patience; the API sees nothing.
    ada.until("over").await;
    assert_eq!(stage.api.save_attempts.load(Ordering::SeqCst), 0);
    log.set_trouble(Trouble::None);
    stage.saved_result().await;
}
