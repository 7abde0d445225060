//! A server that has its log to itself, and a log whose store went back in time while the server was gone, or that lost the end of a
//! journal: the class is told. And an epoch that somebody reserved.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use game_server::{Config, GameLog, MemoryLog, Restoration, StoreId};
use protocol::ids::GameCode;
use serde_json::{Value, json};

use crate::kit::{CODE, Client, Stage};

fn code() -> GameCode {
    CODE.parse().unwrap()
}

async fn stage(log: &MemoryLog) -> Stage {
    Stage::with_log(Config::default(), Arc::new(log.clone()) as Arc<dyn GameLog>).await
}

/// A class with a player whose answer is saved; its server is gone when the stage is dropped.
async fn answered(stage: &Stage) -> (Client, Client, Value) {
    stage.create().await;
    let (mut host, _) = stage.host().await;
    let (mut ada, welcome) = stage.join("Ada").await;
    let (_bob, _) = stage.join("Bob").await;
    host.say(json!({ "t": "start" })).await;
    ada.until("question").await;
    ada.say(json!({ "t": "answer", "q": 1, "choice": 0 })).await;
    assert_eq!(ada.until("ack").await["saved"], true);
    (host, ada, welcome["token"].clone())
}

async fn end(host: &mut Client, player: &mut Client) {
    host.say(json!({ "t": "end" })).await;
    player.until("over").await;
}

#[tokio::test]
async fn a_class_whose_store_went_back_while_its_server_was_gone_is_told() {
    for is_api_there in [true, false] {
        let log = MemoryLog::new();
        let (host, ada, token) = answered(&stage(&log).await).await;
        drop((host, ada));
        log.come_back(StoreId::new("another run"));
        let second = stage(&log).await;
        second.api.is_down.store(!is_api_there, Ordering::SeqCst);
        let restored = second.server.restore().await.unwrap();
        assert_eq!(restored.restored, 1);
        let (mut ada, welcome) = second.resume(&token).await;
        let state = &welcome["state"];
        assert_eq!(state["rewound"], true, "{state}");
        assert_eq!(state["epoch"], 1_001, "{state}");
        // Not every answer of the time before was lost, and the class goes on.
        assert_eq!(state["answered"], json!([0]), "{state}");
        let (mut host, _) = second.host().await;
        second.api.is_down.store(false, Ordering::SeqCst);
        end(&mut host, &mut ada).await;
        assert_eq!(second.saved_result().await.players.len(), 2);
    }
}

#[tokio::test]
async fn a_game_that_was_over_is_not_played_again_when_its_store_went_back() {
    let log = MemoryLog::new();
    let first = stage(&log).await;
    let (mut host, mut ada, _) = answered(&first).await;
    let before = log.load(code()).await.unwrap().unwrap();
    end(&mut host, &mut ada).await;
    let result = first.saved_result().await;
    drop((first, host, ada));
    log.tamper(code(), |stored| *stored = before);
    log.come_back(StoreId::new("another run"));
    let second = stage(&log).await;
    second.api.saved.send_modify(|results| results.push(result));
    let expected = Restoration {
        left: 1,
        ..Restoration::default()
    };
    assert_eq!(second.server.restore().await.unwrap(), expected);
    assert_eq!(log.load(code()).await.unwrap(), None);
}

/// Somebody reserved it and died before it had the game.
#[tokio::test]
async fn a_result_below_a_reserved_epoch_is_saved_under_one_above_it() {
    let log = MemoryLog::new();
    let stage = stage(&log).await;
    let (mut host, mut ada, _) = answered(&stage).await;
    let game = log.tail(code()).await.unwrap().unwrap().owner.game;
    stage.api.epochs.lock().unwrap().insert(game, 1_001);
    end(&mut host, &mut ada).await;
    assert_eq!(stage.saved_result().await.players.len(), 2);
    assert!(log.tail(code()).await.unwrap().unwrap().owner.epoch > 1_001);
}

#[tokio::test]
async fn a_word_that_is_not_saved_says_so_also_when_it_is_the_last_one() {
    let log = MemoryLog::new();
    let stage = stage(&log).await;
    let (mut host, mut ada, _) = answered(&stage).await;
    end(&mut host, &mut ada).await;
    log.set_trouble(game_server::Trouble::Away);
    host.say(json!({ "t": "finish" })).await;
    let (told, code) = ada.closed().await;
    let bye = told.last().unwrap();
    assert_eq!(
        (bye, code),
        (
            &json!({ "t": "bye", "reason": "ended", "saved": false }),
            Some(1000)
        )
    );
}
