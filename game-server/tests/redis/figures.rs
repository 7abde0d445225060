//! How long a write takes, printed and held to its bar.

use std::time::Duration;

use game_server::{GameLog, Written};
use tokio::time::Instant;

use crate::kit::{batch, code, create, log};
use crate::server::{Keep, RedisServer};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_takes_less_than_it_may() {
    const APPENDS: u64 = 2_000;
    let redis = RedisServer::start(Keep::EverySecond).await;
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
