//! A code that leads nowhere, for those who can show that there was a game: it is over, it was lost, or nobody can tell yet.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use game_server::{Config, MemoryLog, StoreId, Trouble};
use serde_json::{Value, json};

use crate::kit::{CODE, Stage};

/// A server whose store is this run, with nothing in it.
async fn stage(store: &str) -> Stage {
    let log = MemoryLog::new();
    log.come_back(StoreId::new(store));
    Stage::with_log(Config::default(), Arc::new(log)).await
}

/// What everybody has who was in a game of the run `before`: a player's first frame, a host's and a screen's.
async fn proofs() -> (Stage, [Value; 3]) {
    let stage = stage("before").await;
    stage.create().await;
    let (_ada, welcome) = stage.join("Ada").await;
    let (mut host, _) = stage.host().await;
    host.say(json!({ "t": "ticket" })).await;
    let ticket = host.until("ticket").await["ticket"].clone();
    let proofs = [
        json!({ "t": "resume", "token": welcome["token"], "seq": 0 }),
        json!({ "t": "host", "token": stage.token(), "ticket": ticket }),
        json!({ "t": "screen", "ticket": ticket }),
    ];
    (stage, proofs)
}

async fn told(stage: &Stage, first: &Value) -> (Vec<Value>, Option<u16>) {
    let mut socket = stage.connect_to(CODE).await;
    socket.say(first.clone()).await;
    socket.closed().await
}

fn error(code: &str) -> Vec<Value> {
    vec![json!({ "t": "error", "code": code })]
}

#[tokio::test]
async fn a_game_that_the_store_lost_is_told_to_everybody_who_was_in_it() {
    let (_before, proofs) = proofs().await;
    let after = stage("after").await;
    for first in &proofs {
        assert_eq!(told(&after, first).await, (error("game_lost"), Some(4404)));
    }
    // Everybody else has a wrong code: also a host that cannot show a ticket, and a ticket without a teacher.
    let (token, ticket) = (after.token(), proofs[2]["ticket"].clone());
    for first in [
        json!({ "t": "join", "name": "Eve" }),
        json!({ "t": "host", "token": token }),
        json!({ "t": "host", "token": "nobody's", "ticket": ticket }),
        json!({ "t": "resume", "token": ticket, "seq": 0 }),
        json!({ "t": "screen", "ticket": token }),
        json!({ "t": "start" }),
    ] {
        assert_eq!(
            told(&after, &first).await,
            (error("no_such_game"), Some(4404)),
            "{first}"
        );
    }
}

#[tokio::test]
async fn a_ticket_names_the_run_that_has_the_game_and_not_one_that_came_meanwhile() {
    let log = MemoryLog::new();
    log.come_back(StoreId::new("before"));
    let stage_before = Stage::with_log(Config::default(), Arc::new(log.clone())).await;
    stage_before.create().await;
    let (mut host, _) = stage_before.host().await;
    // The game cannot be written to the store that came.
    log.set_trouble(Trouble::Refusing);
    log.come_back(StoreId::new("after"));
    host.say(json!({ "t": "ticket" })).await;
    let ticket = host.until("ticket").await["ticket"].clone();
    let after = stage("after").await;
    let first = json!({ "t": "host", "token": after.token(), "ticket": ticket });
    assert_eq!(told(&after, &first).await, (error("game_lost"), Some(4404)));
}

#[tokio::test]
async fn a_game_that_is_nowhere_in_the_same_run_has_ended() {
    let (_before, proofs) = proofs().await;
    let same = stage("before").await;
    for first in &proofs {
        assert_eq!(told(&same, first).await, (error("no_such_game"), Some(4404)));
    }
}

#[tokio::test]
async fn a_game_with_a_result_is_over_and_without_the_api_nobody_can_tell() {
    let (before, proofs) = proofs().await;
    let (mut host, _) = before.host().await;
    host.say(json!({ "t": "start" })).await;
    host.until("question").await;
    host.say(json!({ "t": "end" })).await;
    let result = before.saved_result().await;
    let after = stage("after").await;
    after.api.is_down.store(true, Ordering::SeqCst);
    let (frames, code) = told(&after, &proofs[0]).await;
    assert_eq!(
        (&frames[0]["reason"], code),
        (&json!("moved"), Some(1012)),
        "{frames:?}"
    );
    after.api.is_down.store(false, Ordering::SeqCst);
    after.api.saved.send_modify(|results| results.push(result));
    for first in &proofs {
        let ended = vec![json!({ "t": "bye", "reason": "ended" })];
        assert_eq!(told(&after, first).await, (ended, Some(1000)));
    }
}
