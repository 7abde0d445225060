//! What every log must do, run against each of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod suite;

use game_server::{Durability, MemoryLog, SqliteLog};

#[tokio::test]
async fn memory() {
    suite::run(&MemoryLog::new()).await;
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
