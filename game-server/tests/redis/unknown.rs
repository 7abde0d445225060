//! Calls whose answer is lost: nothing is kept twice, and nothing is sent twice.

use std::time::Duration;

use game_server::{
    ClaimId, Claimed, Created, GameLog, JOURNAL_BYTES_MAX, LogError, RecordNumber, ServerId, Written,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::kit::{
    PATIENCE, append_surely, assert_journal, batch, birth, code, create, log, wait_connected,
    wait_disconnected,
};
use crate::proxy::{Proxy, Weather};
use crate::server::{Keep, RedisServer};

#[tokio::test]
async fn an_append_whose_answer_was_lost_is_sent_once_and_a_repetition_changes_nothing() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let proxy = Proxy::to(redis.port()).await;
    let log = log(&proxy.url()).await;
    let claim = create(&log, code(0)).await;
    let calls = redis.calls().await;
    proxy.set(Weather::AnswersLost);
    let appending = tokio::spawn(log.append(code(0), claim, batch(1, 3)));
    timeout(PATIENCE, proxy.until_lost()).await.unwrap();
    // A client that repeats by itself would get through at once, and be told `Saved`.
    proxy.set(Weather::Fair);
    proxy.cut();
    let unknown = appending.await.unwrap();
    assert!(matches!(unknown, Err(LogError::Unavailable(_))), "{unknown:?}");
    wait_connected(&log).await;
    let tail = log.tail(code(0)).await.unwrap().unwrap();
    assert_eq!(
        (tail.last, tail.owner.claim),
        (RecordNumber(3), claim),
        "it was kept"
    );
    assert_eq!(
        redis.calls().await,
        calls + 2,
        "one append and one tail: the library repeated nothing"
    );
    assert_eq!(
        log.append(code(0), claim, batch(1, 4)).await.unwrap(),
        Written::Saved
    );
    assert_journal(&log, code(0), 1, 4).await;
}

#[tokio::test]
async fn an_answer_that_is_lost_without_a_cut_times_out() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let proxy = Proxy::to(redis.port()).await;
    let log = log(&proxy.url()).await;
    let claim = create(&log, code(0)).await;
    proxy.set(Weather::AnswersLost);
    let unknown = log.append(code(0), claim, batch(1, 3)).await;
    assert!(matches!(unknown, Err(LogError::Unavailable(_))), "{unknown:?}");
    proxy.set(Weather::Fair);
    append_surely(&log, code(0), claim, batch(1, 4)).await;
    assert_journal(&log, code(0), 1, 4).await;
}

#[tokio::test]
async fn a_slow_network_delays_and_loses_nothing() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let proxy = Proxy::to(redis.port()).await;
    let log = log(&proxy.url()).await;
    let claim = create(&log, code(0)).await;
    proxy.set(Weather::Slow(Duration::from_millis(150)));
    for number in 1..=3 {
        assert_eq!(
            log.append(code(0), claim, batch(number, number)).await.unwrap(),
            Written::Saved
        );
    }
    assert_journal(&log, code(0), 1, 3).await;
}

#[tokio::test]
async fn connections_cut_at_any_moment_lose_and_double_nothing() {
    const GAMES: u8 = 8;
    const CUTS: u32 = 25;
    let redis = RedisServer::start(Keep::Nothing).await;
    let proxy = Proxy::to(redis.port()).await;
    let log = log(&proxy.url()).await;
    let (stop, stopped) = watch::channel(false);
    let mut writing = Vec::new();
    for game in 0..GAMES {
        let claim = create(&log, code(game)).await;
        let (log, stopped) = (log.clone(), stopped.clone());
        writing.push(tokio::spawn(async move {
            let (mut last, mut unknown) = (0, 0);
            while !*stopped.borrow() {
                last += 1;
                unknown += append_surely(&log, code(game), claim, batch(last, last)).await;
            }
            (last, unknown)
        }));
    }
    let mut random = StdRng::seed_from_u64(4);
    for _ in 0..CUTS {
        if random.random() {
            proxy.set(Weather::AnswersLost);
        }
        sleep(Duration::from_micros(random.random_range(0..8_000))).await;
        proxy.cut();
        proxy.set(Weather::Fair);
        wait_disconnected(&log).await;
        wait_connected(&log).await;
        sleep(Duration::from_micros(random.random_range(0..8_000))).await;
    }
    stop.send_replace(true);
    let mut unknown = 0;
    for (game, writer) in (0..GAMES).zip(writing) {
        let (last, of_game) = writer.await.unwrap();
        unknown += of_game;
        assert_journal(&log, code(game), 1, last).await;
    }
    println!("{unknown} appends of {GAMES} games had an unknown outcome at {CUTS} cuts");
    assert!(unknown > CUTS, "only {unknown} appends were hit");
}

#[tokio::test]
async fn a_repeated_create_claim_or_snapshot_answers_as_the_first_did() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let first = birth(0);
    assert_eq!(log.create(code(0), first.clone()).await.unwrap(), Created::New);
    assert_eq!(
        log.create(code(0), first.clone()).await.unwrap(),
        Created::Same(first.owner.clone())
    );
    let mut stranger = birth(0);
    stranger.owner.create_key = "another".to_owned();
    assert_eq!(
        log.create(code(0), stranger).await.unwrap(),
        Created::Taken(first.owner.clone())
    );

    let server = ServerId {
        name: "game-1".to_owned(),
        incarnation: Uuid::from_u128(11),
    };
    let claim = ClaimId::draw();
    let won = log
        .claim(code(0), first.owner.claim, server.clone(), claim, 0)
        .await
        .unwrap();
    let Claimed::Yes(owner) = &won else {
        panic!("{won:?}")
    };
    assert_eq!(
        (owner.epoch, owner.claim, owner.server.as_ref()),
        (2, claim, Some(&server))
    );
    assert_eq!(
        log.claim(code(0), first.owner.claim, server.clone(), claim, 0)
            .await
            .unwrap(),
        won
    );
    let late = log
        .claim(code(0), first.owner.claim, server, ClaimId::draw(), 0)
        .await
        .unwrap();
    assert_eq!(late, Claimed::Beaten(owner.clone()));

    assert_eq!(
        log.append(code(0), first.owner.claim, batch(1, 1)).await.unwrap(),
        Written::Fenced
    );
    append_surely(&log, code(0), claim, batch(1, 4)).await;
    for _ in 0..2 {
        let saved = log
            .snapshot(code(0), claim, RecordNumber(5), b"five".to_vec())
            .await
            .unwrap();
        assert_eq!(saved, Written::Saved);
    }
    let old = log
        .snapshot(code(0), claim, RecordNumber(4), b"four".to_vec())
        .await
        .unwrap();
    assert_eq!(
        old,
        Written::Refused {
            last: RecordNumber(5)
        }
    );
    assert_eq!(
        log.append(code(0), claim, batch(8, 8)).await.unwrap(),
        Written::Refused {
            last: RecordNumber(5)
        }
    );
    append_surely(&log, code(0), claim, batch(4, 7)).await;
    assert_journal(&log, code(0), 6, 7).await;
}

#[tokio::test]
async fn a_released_game_is_nobodys_to_write() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    assert_eq!(log.release(code(0), claim).await.unwrap(), Written::Saved);
    for claim in [claim, ClaimId::NONE] {
        let written = log.append(code(0), claim, batch(1, 1)).await.unwrap();
        assert_eq!(written, Written::Fenced);
    }
    assert_eq!(log.tail(code(0)).await.unwrap().unwrap().last, RecordNumber::NONE);
}

#[tokio::test]
async fn a_journal_at_its_bound_waits_for_a_snapshot() {
    const EACH: u64 = 4_000;
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    let mut last = 0;
    let full = loop {
        match log.append(code(0), claim, batch(last + 1, last + EACH)).await {
            Ok(written) => assert_eq!(written, Written::Saved),
            Err(error) => break error,
        }
        last += EACH;
    };
    assert!(matches!(full, LogError::NotDone(_)), "{full:?}");
    let kept = redis.ask(&["STRLEN", &format!("j:{{{}}}", code(0))]).await;
    let kept: usize = kept.parse().unwrap();
    assert!((900_000..=JOURNAL_BYTES_MAX).contains(&kept), "{kept}");
    let saved = log
        .snapshot(code(0), claim, RecordNumber(last + 1), b"all".to_vec())
        .await
        .unwrap();
    assert_eq!(saved, Written::Saved);
    append_surely(&log, code(0), claim, batch(last + 1, last + EACH)).await;
    assert_journal(&log, code(0), last + 2, last + EACH).await;
}

#[tokio::test]
async fn a_removed_game_goes_with_everything_after_its_time() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    assert_eq!(
        log.remove(code(0), claim, Duration::from_millis(400))
            .await
            .unwrap(),
        Written::Saved
    );
    // The journal's key is made now, and must go with the others.
    append_surely(&log, code(0), claim, batch(1, 1)).await;
    assert!(log.load(code(0)).await.unwrap().is_some());
    while log.load(code(0)).await.unwrap().is_some() {
        sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(
        redis
            .ask(&[
                "EXISTS",
                &format!("s:{{{0}}}", code(0)),
                &format!("j:{{{0}}}", code(0))
            ])
            .await,
        "0"
    );
    create(&log, code(0)).await;
    assert!(log.load(code(0)).await.unwrap().unwrap().journal.is_empty());
}
