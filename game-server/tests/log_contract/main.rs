//! What every log must do, run against each of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(
    dead_code,
    reason = "the tests of Redis alone do more to their server than these do"
)]
#[path = "../redis/server.rs"]
mod server;
mod suite;

use game_server::{Durability, MemoryLog, RedisConfig, RedisLog, SqliteLog, StoreId};
use server::{Keep, RedisServer};

#[tokio::test]
async fn memory() {
    let log = MemoryLog::new();
    suite::run(&log).await;
    suite::outlives_a_change_of_run(&log, async || log.come_back(StoreId::new("next"))).await;
}

#[tokio::test]
async fn sqlite() {
    for durability in [Durability::Process, Durability::Power] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("games.db");
        let log = SqliteLog::open(&path, durability).await.unwrap();
        suite::run(&log).await;
        let kept = suite::leave_one(&log).await;
        log.close().await;
        let again = SqliteLog::open(&path, durability).await.unwrap();
        suite::finds(&again, kept).await;
        again.close().await;
    }
}

#[tokio::test]
async fn redis() {
    let mut redis = RedisServer::start(Keep::AppendOnly).await;
    let config = RedisConfig::parse(&redis.url()).unwrap();
    let log = RedisLog::new(config);
    let mut store = log.store();
    store.wait_for(Option::is_some).await.unwrap();
    suite::run(&log).await;
    let kept = suite::leave_one(&log).await;
    redis.kill().await;
    store.wait_for(Option::is_none).await.unwrap();
    redis.restart().await;
    store.wait_for(Option::is_some).await.unwrap();
    suite::finds(&log, kept).await;
    suite::outlives_a_change_of_run(&log, async || {
        redis.kill().await;
        store.wait_for(Option::is_none).await.unwrap();
        redis.restart().await;
        store.wait_for(Option::is_some).await.unwrap();
    })
    .await;
}
