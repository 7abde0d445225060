//! SQLite: the contract of all stores, and what only this one promises.

use std::sync::Mutex;

use protocol::ids::{QuizId, TeacherId};
use protocol::quiz::QuizDocument;
use protocol::rest::QuizResponse;
use tempfile::TempDir;

use super::*;
use crate::store::contract;
use crate::store::{Account, AccountStore as _, Inserted, QuizStore as _};

#[tokio::test]
async fn keeps_the_contract() {
    let folders = Mutex::new(Vec::new());
    contract::suite(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("api.db");
        folders.lock().unwrap().push(folder);
        async move { SqliteStore::open(&path).await.unwrap() }
    })
    .await;
}

async fn pragma(pool: &SqlitePool, sql: &'static str) -> String {
    let row = sqlx::query(sql).fetch_one(pool).await.unwrap();
    row.try_get::<String, _>(0)
        .or_else(|_| row.try_get::<i64, _>(0).map(|n| n.to_string()))
        .unwrap()
}

#[tokio::test]
async fn a_commit_survives_a_power_cut_and_references_hold() {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(&folder.path().join("api.db")).await.unwrap();
    assert_eq!(pragma(&store.writer, "PRAGMA journal_mode").await, "wal");
    assert_eq!(pragma(&store.writer, "PRAGMA synchronous").await, "2", "FULL");
    assert_eq!(pragma(&store.writer, "PRAGMA foreign_keys").await, "1");
    assert_eq!(pragma(&store.readers, "PRAGMA query_only").await, "1");
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_on_the_machine_reads_it() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = TempDir::new().unwrap();
    let _store = SqliteStore::open(&folder.path().join("api.db")).await.unwrap();
    let mut files = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", entry.path().display());
        files += 1;
    }
    assert!(files >= 2, "the file and its log");
}

#[tokio::test]
async fn a_full_disk_is_said_and_forgotten_when_there_is_room_again() {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(&folder.path().join("api.db")).await.unwrap();
    let teacher = TeacherId(uuid::Uuid::from_u128(1));
    let account = Account {
        id: teacher,
        email: "a@b.org".into(),
        name: "A".into(),
    };
    store.insert_account(&account, "hash", 1).await.unwrap();
    let quiz = |n: u128| QuizResponse {
        id: QuizId(uuid::Uuid::from_u128(n)),
        version: 1,
        updated_ms: 1,
        quiz: QuizDocument {
            title: "x".repeat(100_000),
            questions: Vec::new(),
        },
    };
    let full = format!(
        "PRAGMA max_page_count = {}",
        pragma(&store.writer, "PRAGMA page_count").await
    );
    sqlx::query(sqlx::AssertSqlSafe(full))
        .execute(&store.writer)
        .await
        .unwrap();
    let refused = store.insert_quiz(teacher, &quiz(1), 10).await;
    assert!(matches!(refused, Err(StoreError::Full(_))), "{refused:?}");
    // The bound was the connection's own; a new one has room.
    assert_eq!(
        store.insert_quiz(teacher, &quiz(2), 10).await.unwrap(),
        Inserted::Yes
    );
    assert_eq!(store.quiz(teacher, quiz(1).id).await.unwrap(), None);
    assert_eq!(store.quiz(teacher, quiz(2).id).await.unwrap(), Some(quiz(2)));
}

#[tokio::test]
async fn what_was_stored_is_there_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("api.db");
    let account = Account {
        id: TeacherId(uuid::Uuid::from_u128(1)),
        email: "a@b.org".into(),
        name: "A".into(),
    };
    let store = SqliteStore::open(&path).await.unwrap();
    assert_eq!(
        store.insert_account(&account, "hash", 1).await.unwrap(),
        Inserted::Yes
    );
    // Not closed: as after a kill, the log is all there is.
    let again = SqliteStore::open(&path).await.unwrap();
    assert_eq!(again.account(account.id).await.unwrap(), Some(account));
    store.close().await;
}

#[tokio::test]
async fn a_file_of_a_newer_release_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("api.db");
    let store = SqliteStore::open(&path).await.unwrap();
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'of tomorrow', 1, x'00', 0)",
    )
    .execute(&store.writer)
    .await
    .unwrap();
    store.close().await;
    assert!(matches!(
        SqliteStore::open(&path).await,
        Err(StoreError::Migrate(_))
    ));
}

#[tokio::test]
async fn a_busy_database_says_so_in_time() {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(&folder.path().join("api.db")).await.unwrap();
    let mut held = Vec::new();
    for _ in 0..READERS {
        held.push(store.readers.acquire().await.unwrap());
    }
    let refused = store.account(TeacherId(uuid::Uuid::from_u128(1))).await;
    assert!(matches!(refused, Err(StoreError::Busy(_))), "{refused:?}");
    drop(held);
    assert_eq!(
        store.account(TeacherId(uuid::Uuid::from_u128(1))).await.unwrap(),
        None
    );
}
