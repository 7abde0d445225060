//! Bytes and times, printed and held to their bars.

use std::time::Duration;

use game_server::{Batch, Entry, GameLog, Record, RecordNumber, Written};
use tokio::time::Instant;

use crate::kit::{append_surely, batch, code, create, log};
use crate::server::{Keep, RedisServer};

/// Bytes to Redis for one class of 30 over 3 questions that a release may need at most.
const CLASS_BYTES_MAX: u64 = 25_000;

/// Every answer comes alone, as in a class that thinks: the worst case for bytes.
#[tokio::test]
async fn a_class_of_30_over_3_questions_stays_under_its_bytes() {
    let redis = RedisServer::start(Keep::Nothing).await;
    let log = log(&redis.url()).await;
    // The library comes once a Redis, not once a class.
    create(&log, code(1)).await;
    let before = redis.info("total_net_input_bytes").await;
    let asking = redis.info("total_net_input_bytes").await - before;
    let claim = create(&log, code(0)).await;
    let mut last = RecordNumber::NONE;
    let append = async |last: RecordNumber, entry: Entry| {
        let record = Record {
            at: 60_000 + last.0 * 500,
            entry,
        };
        let batch = Batch::of(last, [&record]);
        let next = batch.last();
        append_surely(&log, code(0), claim, batch).await;
        next
    };
    for player in 0..30 {
        let name = format!("Player {player}");
        last = append(last, Entry::Command(game_core::Command::Join { name })).await;
    }
    for question in 0..3 {
        let question = game_core::QuestionIndex(question);
        last = append(last, Entry::Command(game_core::Command::Next { question })).await;
        for player in 1..=30 {
            let answer = game_core::Command::Answer {
                player: game_core::PlayerId(player),
                question,
                choices: game_core::ChoiceSet(1),
            };
            last = append(last, Entry::Command(answer)).await;
        }
        last = append(last, Entry::Command(game_core::Command::Close { question })).await;
        let snapshot = vec![7; 1_000];
        assert_eq!(
            log.snapshot(code(0), claim, last, snapshot).await.unwrap(),
            Written::Saved
        );
    }
    log.remove(code(0), claim, Duration::from_secs(60)).await.unwrap();
    let bytes = redis.info("total_net_input_bytes").await - before - 2 * asking;
    println!("bytes to Redis for a class of 30 over 3 questions: {bytes} (at most {CLASS_BYTES_MAX})");
    assert!(bytes <= CLASS_BYTES_MAX, "{bytes}");
    assert!(bytes > 10_000, "{bytes}: something was not counted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_takes_less_than_it_may() {
    const APPENDS: u64 = 2_000;
    let redis = RedisServer::start(Keep::AppendOnly).await;
    let log = log(&redis.url()).await;
    let claim = create(&log, code(0)).await;
    let mut took = Vec::new();
    for number in 1..=APPENDS {
        let began = Instant::now();
        assert_eq!(
            log.append(code(0), claim, batch(number, number)).await.unwrap(),
            Written::Saved
        );
        took.push(began.elapsed());
    }
    took.sort_unstable();
    let [p50, p99] = [took[took.len() / 2], took[took.len() * 99 / 100]];
    println!("an append to Redis, one after the other: p50 {p50:?}, p99 {p99:?}");
    // The bars, 1 and 5 ms, are for a quiet machine and an optimised build; a regression by an order of magnitude shows here.
    assert!(p50 < Duration::from_millis(10), "{p50:?}");
}
