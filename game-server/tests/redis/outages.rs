//! Redis killed, emptied, frozen, slow, out of memory.

use std::time::Duration;

use game_server::{Created, GameLog, LogError, RecordNumber, Written};
use tokio::time::{Instant, timeout};

use crate::kit::{
    PATIENCE, append_surely, assert_journal, batch, birth, code, create, log, wait_connected,
    wait_disconnected,
};
use crate::server::{Keep, RedisServer};

#[tokio::test]
async fn what_was_answered_survives_a_kill_of_a_redis_with_a_log_file() {
    let mut redis = RedisServer::start(Keep::AppendOnly).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    append_surely(&log, code(0), claim, batch(1, 5)).await;
    let before = log.store().borrow().clone();
    redis.kill().await;
    wait_disconnected(&log).await;
    // Certainly not done, and said at once.
    let refused = log.append(code(0), claim, batch(6, 6)).await;
    assert!(matches!(refused, Err(LogError::NotDone(_))), "{refused:?}");
    redis.restart().await;
    wait_connected(&log).await;
    assert_ne!(*log.store().borrow(), before, "another run, which may lack data");
    append_surely(&log, code(0), claim, batch(6, 6)).await;
    assert_journal(&log, code(0), 1, 6).await;
}

#[tokio::test]
async fn a_game_is_written_again_into_a_redis_that_came_back_empty() {
    let mut redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    append_surely(&log, code(0), claim, batch(1, 5)).await;
    let before = log.store().borrow().clone();
    redis.kill().await;
    wait_disconnected(&log).await;
    redis.restart().await;
    wait_connected(&log).await;
    assert_ne!(*log.store().borrow(), before);
    assert_eq!(
        log.append(code(0), claim, batch(6, 6)).await.unwrap(),
        Written::Missing
    );
    assert_eq!(log.tail(code(0)).await.unwrap(), None);
    let mut again = birth(6);
    again.owner.epoch = 2;
    let claim = again.owner.claim;
    assert_eq!(log.create(code(0), again.clone()).await.unwrap(), Created::New);
    append_surely(&log, code(0), claim, batch(7, 8)).await;
    assert_journal(&log, code(0), 7, 8).await;
    let stored = log.load(code(0)).await.unwrap().unwrap();
    assert_eq!((stored.owner, stored.snapshot), (again.owner, again.snapshot));
}

#[tokio::test]
async fn emptied_under_a_living_connection_it_is_another_store_in_which_the_game_is_missing() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    let before = log.runs().borrow().clone();
    redis.ask(&["FLUSHALL"]).await;
    // Nobody is told "missing" by a store that the other servers were not asked about.
    let written = log.append(code(0), claim, batch(1, 1)).await;
    assert!(matches!(written, Err(LogError::NotDone(_))), "{written:?}");
    let mut runs = log.runs();
    let other = runs
        .wait_for(|run| run.store != before.store)
        .await
        .unwrap()
        .clone();
    assert_eq!(other.connection, before.connection + 1);
    assert_eq!(
        log.append(code(0), claim, batch(1, 1)).await.unwrap(),
        Written::Missing
    );
    assert_eq!(
        log.snapshot(code(0), claim, RecordNumber(1), Vec::new())
            .await
            .unwrap(),
        Written::Missing
    );
    assert_eq!(log.release(code(0), claim).await.unwrap(), Written::Missing);
    assert_eq!(log.games().await.unwrap(), []);
}

#[tokio::test]
async fn a_game_of_which_a_key_was_taken_away_is_written_again_by_its_owner() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    append_surely(&log, code(0), claim, batch(1, 5)).await;
    redis.ask(&["DEL", &format!("j:{{{}}}", code(0))]).await;
    // An append alone would leave a hole that a restart finds too late.
    assert_eq!(
        log.append(code(0), claim, batch(6, 6)).await.unwrap(),
        Written::Refused {
            last: RecordNumber::NONE
        }
    );
    assert_eq!(
        log.snapshot(code(0), claim, RecordNumber(6), b"all".to_vec())
            .await
            .unwrap(),
        Written::Saved
    );
    append_surely(&log, code(0), claim, batch(7, 8)).await;
    assert_journal(&log, code(0), 7, 8).await;
    // A snapshot alone would keep a game without its questions.
    redis.ask(&["DEL", &format!("s:{{{}}}", code(0))]).await;
    assert_eq!(
        log.snapshot(code(0), claim, RecordNumber(8), b"all".to_vec())
            .await
            .unwrap(),
        Written::Missing
    );
    assert_eq!(log.create(code(0), birth(8)).await.unwrap(), Created::New);
}

#[tokio::test]
async fn keys_that_are_not_ours_cost_their_own_game_alone() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    create(&log, code(0)).await;
    redis
        .ask(&["SET", &format!("o:{{{}}}", code(1)), "garbage"])
        .await;
    redis
        .ask(&["HSET", &format!("o:{{{}}}", code(2)), "g", "x"])
        .await;
    create(&log, code(3)).await;
    redis.ask(&["DEL", &format!("s:{{{}}}", code(3))]).await;
    redis.ask(&["LPUSH", &format!("s:{{{}}}", code(3)), "x"]).await;
    redis.ask(&["SET", "o:{}", "x"]).await;
    let games = log.games().await.unwrap();
    let owned: Vec<_> = games
        .iter()
        .map(|(code, owner)| (*code, owner.is_some()))
        .collect();
    let expected = [
        (code(0), true),
        (code(1), false),
        (code(2), false),
        (code(3), true),
    ];
    assert_eq!(owned, expected);
    for damaged in [log.load(code(1)).await, log.load(code(3)).await] {
        assert!(matches!(damaged, Err(LogError::Corrupt { .. })), "{damaged:?}");
    }
}

#[tokio::test]
async fn a_lost_library_is_loaded_again_within_the_call() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    redis.ask(&["FUNCTION", "FLUSH"]).await;
    assert_eq!(
        log.append(code(0), claim, batch(1, 2)).await.unwrap(),
        Written::Saved
    );
    assert_journal(&log, code(0), 1, 2).await;
}

#[tokio::test]
async fn a_short_freeze_only_delays() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    redis.freeze();
    let appending = log.append(code(0), claim, batch(1, 3));
    let mut appending = tokio::spawn(appending);
    assert!(
        timeout(Duration::from_millis(300), &mut appending).await.is_err(),
        "frozen"
    );
    redis.thaw();
    assert_eq!(appending.await.unwrap().unwrap(), Written::Saved);
}

#[tokio::test]
async fn a_long_freeze_is_an_unknown_outcome_and_nothing_is_kept_twice() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    append_surely(&log, code(0), claim, batch(1, 1)).await;
    redis.freeze();
    let asked = Instant::now();
    let unknown = log.append(code(0), claim, batch(2, 4)).await;
    assert!(matches!(unknown, Err(LogError::Unavailable(_))), "{unknown:?}");
    assert!(asked.elapsed() < Duration::from_secs(4), "given up in time");
    wait_disconnected(&log).await;
    redis.thaw();
    // What lay in the socket is done now, whether or not it is repeated before or after.
    append_surely(&log, code(0), claim, batch(2, 5)).await;
    assert_journal(&log, code(0), 1, 5).await;
}

#[tokio::test]
async fn out_of_memory_is_told_and_what_gives_memory_back_still_works() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    let other = create(&log, code(1)).await;
    append_surely(&log, code(0), claim, batch(1, 2)).await;
    redis.ask(&["CONFIG", "SET", "maxmemory", "1"]).await;
    for refused in [
        log.append(code(0), claim, batch(3, 3)).await,
        log.snapshot(code(0), claim, RecordNumber(3), b"s".to_vec()).await,
    ] {
        assert!(matches!(refused, Err(LogError::NotDone(_))), "{refused:?}");
    }
    assert!(matches!(
        log.create(code(2), birth(0)).await,
        Err(LogError::NotDone(_))
    ));
    assert_eq!(log.tail(code(0)).await.unwrap().unwrap().last, RecordNumber(2));
    assert_eq!(
        log.remove(code(1), other, Duration::ZERO).await.unwrap(),
        Written::Saved
    );
    assert_eq!(log.games().await.unwrap().len(), 1);
    redis.ask(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert_eq!(
        log.append(code(0), claim, batch(3, 3)).await.unwrap(),
        Written::Saved
    );
    assert_journal(&log, code(0), 1, 3).await;
}

#[tokio::test]
async fn a_store_without_its_replicas_refuses() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    redis.ask(&["CONFIG", "SET", "min-replicas-to-write", "1"]).await;
    let refused = log.append(code(0), claim, batch(1, 1)).await;
    assert!(matches!(refused, Err(LogError::NotDone(_))), "{refused:?}");
    assert_eq!(log.tail(code(0)).await.unwrap().unwrap().last, RecordNumber::NONE);
}

#[tokio::test]
async fn games_that_wait_for_a_slow_redis_share_its_next_round_trip() {
    const GAMES: u8 = 200;
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let mut claims = Vec::new();
    for game in 0..GAMES {
        claims.push(create(&log, code(game)).await);
    }
    redis.ask(&["CLIENT", "PAUSE", "700", "WRITE"]).await;
    let asked = Instant::now();
    let appends: Vec<_> = (0..GAMES)
        .zip(&claims)
        .map(|(game, claim)| tokio::spawn(log.append(code(game), *claim, batch(1, 1))))
        .collect();
    for append in appends {
        assert_eq!(append.await.unwrap().unwrap(), Written::Saved);
    }
    let took = asked.elapsed();
    assert!(took > Duration::from_millis(500), "the pause was felt: {took:?}");
    assert!(
        took < Duration::from_secs(2),
        "one pause, not one a game: {took:?}"
    );
}

#[tokio::test]
async fn calls_that_wait_are_bounded_by_bytes() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    redis.freeze();
    let snapshot = || log.snapshot(code(0), claim, RecordNumber(1), vec![0; 10 * 1024 * 1024]);
    let waiting: Vec<_> = (0..6).map(|_| snapshot()).collect();
    let refused = timeout(Duration::from_secs(1), snapshot())
        .await
        .expect("at once");
    assert!(matches!(refused, Err(LogError::NotDone(_))), "{refused:?}");
    for unknown in waiting {
        let unknown = timeout(PATIENCE, unknown).await.unwrap();
        assert!(
            matches!(unknown, Err(LogError::Unavailable(_) | LogError::NotDone(_))),
            "{unknown:?}"
        );
    }
    redis.thaw();
    wait_connected(&log).await;
    let saved = timeout(PATIENCE, async {
        while log
            .snapshot(code(0), claim, RecordNumber(1), b"small".to_vec())
            .await
            .is_err()
        {
            tokio::task::yield_now().await;
        }
    });
    saved.await.expect("there is room again");
}
