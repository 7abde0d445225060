//! PostgreSQL: the contract of all stores, and what only this one promises.

use std::time::{Duration, Instant};

use protocol::ids::TeacherId;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::*;
use crate::store::contract;
use crate::store::{
    Account, AccountStore as _, DAY_MS, GameStore as _, Inserted, QuizStore as _, ResultSaved,
    TimelineStore as _, TimelinesOf, UsageStore as _,
};

mod cut;
mod plans;
mod tls;

#[path = "../../../tests/support/postgres.rs"]
mod server;

use server::PostgresServer;

async fn fresh(server: &PostgresServer) -> PostgresStore {
    let config = PostgresConfig::parse(&server.database()).unwrap();
    PostgresStore::migrate(&config).await.unwrap();
    PostgresStore::open(&config).await.unwrap()
}

fn account(n: u128) -> Account {
    Account {
        id: TeacherId(Uuid::from_u128(n)),
        email: format!("t{n}@school.org"),
        name: format!("Teacher {n}"),
    }
}

#[tokio::test]
async fn keeps_the_contract() {
    let server = PostgresServer::start();
    contract::suite(|| fresh(&server)).await;
}

#[tokio::test]
async fn a_schema_of_another_release_is_refused() {
    let server = PostgresServer::start();
    let config = PostgresConfig::parse(&server.database()).unwrap();
    let refused = PostgresStore::open(&config).await;
    assert!(
        matches!(refused, Err(StoreError::SchemaOlder)),
        "empty: {refused:?}"
    );
    // Several processes may migrate at once.
    let (one, other) = tokio::join!(PostgresStore::migrate(&config), PostgresStore::migrate(&config));
    one.and(other).unwrap();
    let store = PostgresStore::open(&config).await.unwrap();
    store.close().await;

    server.sql(
        "d0",
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'of tomorrow', true, '', 0)",
    );
    for refused in [
        PostgresStore::open(&config).await.map(drop),
        PostgresStore::migrate(&config).await,
    ] {
        assert!(
            matches!(refused, Err(StoreError::SchemaNewer)),
            "newer: {refused:?}"
        );
    }
    server.sql(
        "d0",
        "DELETE FROM _sqlx_migrations WHERE version = 9999 OR version = 1",
    );
    let refused = PostgresStore::open(&config).await;
    assert!(
        matches!(refused, Err(StoreError::SchemaOlder)),
        "older: {refused:?}"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_in_time() {
    let server = PostgresServer::start();
    let absent = server.url("nothing");
    let refused = PostgresStore::open(&PostgresConfig::parse(&absent).unwrap()).await;
    assert!(matches!(refused, Err(StoreError::Database(_))), "{refused:?}");
    drop(server);
    let started = Instant::now();
    let refused = PostgresStore::open(&PostgresConfig::parse(&absent).unwrap()).await;
    assert!(
        matches!(refused, Err(StoreError::Away(_) | StoreError::Busy(_))),
        "{refused:?}"
    );
    assert!(started.elapsed() < START_MAX * 2);
}

#[tokio::test]
async fn a_call_waits_for_a_connection_only_so_long() {
    let server = PostgresServer::start();
    let config = PostgresConfig::parse(&server.database())
        .unwrap()
        .with_connections(2);
    PostgresStore::migrate(&config).await.unwrap();
    let store = PostgresStore::open(&config).await.unwrap();
    let held = (
        store.primary.lend().await.unwrap(),
        store.primary.lend().await.unwrap(),
    );
    let refused = store.account(account(1).id).await;
    assert!(matches!(refused, Err(StoreError::Busy(_))), "{refused:?}");
    drop(held);
    assert_eq!(store.account(account(1).id).await.unwrap(), None);
}

#[tokio::test]
async fn a_killed_server_costs_only_the_time_it_is_away() {
    let mut server = PostgresServer::start();
    let store = fresh(&server).await;
    store.insert_account(&account(1), "hash", 1).await.unwrap();
    server.kill();
    for _ in 0..5 {
        let refused = store.account(account(1).id).await;
        assert!(
            matches!(refused, Err(StoreError::Away(_) | StoreError::Busy(_))),
            "{refused:?}"
        );
    }
    server.restart();
    // A connection of before may break once each; there was one.
    let back = match store.account(account(1).id).await {
        Err(StoreError::Away(_) | StoreError::Busy(_)) => store.account(account(1).id).await,
        other => other,
    };
    assert_eq!(back.unwrap(), Some(account(1)));
}

#[tokio::test]
async fn a_frozen_server_hangs_nobody() {
    let server = PostgresServer::start();
    let store = fresh(&server).await;
    store.insert_account(&account(1), "hash", 1).await.unwrap();
    server.freeze();
    // A call of a client that waited a second for its turn must not have hung for two.
    let within = SILENT_MAX + SIGN_MAX + Duration::from_millis(200);
    let refused = tokio::time::timeout(within, store.account(account(1).id)).await;
    assert!(matches!(refused, Ok(Err(StoreError::Silent))), "{refused:?}");
    let result = contract::game(1, account(1).id, 90_000, 30, 5);
    let refused = tokio::time::timeout(within, store.save_result(&result, 1)).await;
    assert!(matches!(refused, Ok(Err(_))), "{refused:?}");
    server.thaw();
    let deadline = Instant::now() + Duration::from_secs(20);
    while store.account(account(1).id).await.is_err() {
        assert!(Instant::now() < deadline, "it does not come back");
    }
    assert_eq!(store.account(account(1).id).await.unwrap(), Some(account(1)));
}

#[tokio::test]
async fn a_replica_answers_only_what_it_has() {
    let server = PostgresServer::start();
    fresh(&server).await.close().await;
    let mut copy = server.replica();
    let config = PostgresConfig::parse(&server.url("d0")).unwrap();
    let config = config.with_replica(PostgresConfig::parse(&copy.url("d0")).unwrap());
    let store = PostgresStore::open(&config).await.unwrap();
    let teacher = account(1).id;
    store.insert_account(&account(1), "hash", 1).await.unwrap();
    let games = async || store.usage(teacher, 0).await.unwrap().played.games;
    let by_day = async || store.usage_by_day(teacher, 0).await.unwrap().len();

    // However far behind it is: what was saved is counted.
    copy.sql("d0", "SELECT pg_wal_replay_pause()");
    for n in 1..=3 {
        store
            .save_result(&contract::game(n, teacher, 90_000, 2, 2), 1)
            .await
            .unwrap();
        assert_eq!((games().await, by_day().await), (u32::try_from(n).unwrap(), 1));
    }
    assert!(!copy_serves(&store, teacher).await, "it lags");
    copy.sql("d0", "SELECT pg_wal_replay_resume()");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !copy_serves(&store, teacher).await {
        assert!(Instant::now() < deadline, "it never follows");
    }
    assert_eq!((games().await, by_day().await), (3, 1));

    copy.kill();
    assert!(!copy_serves(&store, teacher).await, "it is away");
    assert_eq!((games().await, by_day().await), (3, 1));
}

async fn copy_serves(store: &PostgresStore, teacher: TeacherId) -> bool {
    match store.copy(teacher).await.unwrap() {
        Some(mut copy) => copy.up_to_date(teacher).await.is_some(),
        None => false,
    }
}

#[tokio::test]
async fn a_replica_that_stands_still_is_waited_for_once_and_tried_again_later() {
    let server = PostgresServer::start();
    fresh(&server).await.close().await;
    let copy = server.replica();
    let config = PostgresConfig::parse(&server.url("d0")).unwrap();
    let config = config.with_replica(PostgresConfig::parse(&copy.url("d0")).unwrap());
    let store = PostgresStore::open(&config).await.unwrap();
    let teacher = account(1).id;
    store.insert_account(&account(1), "hash", 1).await.unwrap();
    let follows = async || {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !copy_serves(&store, teacher).await {
            assert!(Instant::now() < deadline, "it never follows");
        }
    };
    follows().await;
    copy.freeze();
    let reads: u32 = 40;
    let started = Instant::now();
    for _ in 0..reads {
        assert_eq!(store.usage(teacher, 0).await.unwrap().played.games, 0);
    }
    let took = started.elapsed();
    assert!(
        took < replica::COPY_MAX * reads / 2,
        "each of them waited: {took:?}"
    );
    copy.thaw();
    follows().await;
}

/// However large the games are, no step of a deletion takes more of them than a statement has time for.
#[tokio::test]
async fn an_account_with_halls_is_deleted_in_steps() {
    let server = PostgresServer::start();
    let store = fresh(&server).await;
    let teacher = account(1).id;
    store.insert_account(&account(1), "hash", 1).await.unwrap();
    // 30,000, 12,000, 6,000 and 6,000 answers, the newest first.
    for (n, (players, questions)) in (1..).zip([(300, 20), (300, 20), (400, 30), (500, 60)]) {
        let ended_ms = 90_000 + u64::try_from(n).unwrap();
        let hall = contract::game(n, teacher, ended_ms, players, questions);
        store.save_result(&hall, 1).await.unwrap();
    }
    let mut left = Vec::new();
    while store.remove_games(teacher).await.unwrap() {
        left.push(store.games(teacher, None, 10).await.unwrap().len());
    }
    assert_eq!(
        left,
        [3, 1, 0],
        "one above the bound by itself, then as many as are below it"
    );
}

/// A password that is being set while a session begins: each of the two waits for the other, in whichever order they come.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_waits_for_a_password_that_is_being_set() {
    let server = PostgresServer::start();
    let store = fresh(&server).await;
    let teacher = account(1).id;
    store.insert_account(&account(1), "old", 1).await.unwrap();
    let mut lent = store.primary.lend().await.unwrap();
    let mut setting = lent.transaction().await.unwrap();
    let set = sqlx::query("UPDATE teachers SET password_hash = 'new' WHERE id = $1").bind(teacher.0);
    set.execute(&mut *setting).await.unwrap();
    let (late, session) = (store.clone(), contract::session(1, teacher, 10));
    let begins = tokio::spawn(async move { late.insert_session(&session, "old", 10, 5).await });
    let deadline = Instant::now() + Duration::from_secs(20);
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    while !begins.is_finished() && server.sql("d0", waiting) == "0" {
        assert!(Instant::now() < deadline, "it neither waits nor ends");
    }
    setting.commit().await.unwrap();
    assert!(!begins.await.unwrap().unwrap(), "by the old password");
}

/// What only a lock can keep when several processes change things of one teacher at once.
#[tokio::test]
async fn changes_of_one_teacher_take_turns() {
    let server = PostgresServer::start();
    let store = fresh(&server).await;
    let teacher = account(1).id;
    store.insert_account(&account(1), "hash", 1).await.unwrap();
    let mut inserts = JoinSet::new();
    for n in 0..12_u128 {
        let store = store.clone();
        inserts.spawn(async move {
            store
                .insert_quiz(teacher, &contract::quiz(n, "Q", 1), 5)
                .await
                .unwrap()
        });
    }
    let stored = inserts
        .join_all()
        .await
        .into_iter()
        .filter(|done| *done == Inserted::Yes);
    assert_eq!(stored.count(), 5, "of at most five");

    let result = contract::game(1, teacher, 90_000, 30, 5);
    let mut saves = JoinSet::new();
    for _ in 0..6 {
        let (store, result) = (store.clone(), result.clone());
        saves.spawn(async move { store.save_result(&result, 1).await.unwrap() });
    }
    let saved = saves.join_all().await;
    assert_eq!(
        saved.iter().filter(|saved| **saved == ResultSaved::Now).count(),
        1
    );
    assert_eq!(
        saved
            .iter()
            .filter(|saved| **saved == ResultSaved::Before)
            .count(),
        5
    );
}
