//! Prints how long an answer waits for the log, in SQLite and in a Redis of its own, and holds it to the bar: `cargo run --release
//! --example journal_latency -p game-server`. Run it where the data lies (`TMPDIR` chooses), on a machine that does nothing
//! else. `-- redis` or `-- sqlite` measures one of them only.
//!
//! Games append one answer each at random instants, like classes do; each has one append in flight. What it prints is all that
//! the journal adds to an ack: without one, an ack leaves when the answer was applied.

#![allow(clippy::print_stdout, reason = "figures are this command's output")]

#[expect(dead_code, reason = "the tests do more to a Redis than this")]
#[allow(clippy::unwrap_used, reason = "without a Redis there is nothing to measure")]
#[path = "../tests/redis/server.rs"]
mod redis_server;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use game_core::{ChoiceSet, Command, PlayerId, QuestionIndex};
use game_server::{
    Batch, Birth, ClaimId, Durability, GameLog, Owner, Record, RecordNumber, RedisConfig, RedisLog, ServerId,
    SqliteLog, Written,
};
use protocol::ids::{GameCode, GameId};
use rand::{Rng, SeedableRng, rngs::StdRng};
use redis_server::{Keep, RedisServer};
use tokio::time::Instant;
use uuid::Uuid;

/// Appends a second of all games together: 960 classes at a lesson's pace give 1,400 answers a second.
const RATES: [u32; 3] = [50, 500, 2_000];
const SECONDS: u32 = 10;
/// The bar for the ack's extra time, p50 and p99, in milliseconds; where we are going is 0.3 and 2.
const BAR_MS: [f64; 2] = [1.0, 5.0];

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<ExitCode, Failure> {
    let only = std::env::args().nth(1);
    let is_asked_for = |store: &str| only.as_deref().is_none_or(|only| only == store);
    println!("store                games  appends/s  p50 ms  p95 ms  p99 ms  max ms  bar 1, 5 ms");
    let mut met = true;
    if is_asked_for("sqlite") {
        for durability in [Durability::Process, Durability::Power] {
            for rate in RATES {
                let folder = tempfile::tempdir()?;
                let log = SqliteLog::open(&folder.path().join("games.db"), durability).await?;
                let kept = measure(&format!("SQLite, {durability:?}"), Arc::new(log.clone()), rate).await?;
                // Live games are kept with `Process`; the other is for comparison.
                met &= kept || durability == Durability::Power;
                log.close().await;
            }
        }
    }
    if is_asked_for("redis") {
        for rate in RATES {
            let redis = RedisServer::start(Keep::EverySecond).await;
            let log = RedisLog::new(RedisConfig::parse(&redis.url())?);
            let mut store = log.store();
            drop(store.wait_for(Option::is_some).await?);
            met &= measure("Redis, everysec", Arc::new(log), rate).await?;
        }
    }
    Ok(if met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether the bar is met.
async fn measure(store: &str, log: Arc<dyn GameLog>, rate: u32) -> Result<bool, Failure> {
    // Each game answers about twice a second, as 30 students who answer a question every 15 s do.
    let games = rate / 2;
    let start = Instant::now();
    let mut classes = Vec::new();
    for n in 0..games {
        let (code, owner) = create(&*log, n).await?;
        classes.push(tokio::spawn(class(
            Arc::clone(&log),
            code,
            owner.claim,
            u64::from(n),
            start,
        )));
    }
    let mut waited = Vec::new();
    for class in classes {
        waited.extend(class.await?);
    }
    waited.sort_unstable();
    let at = |percent: usize| {
        let place = (waited.len() * percent / 100).min(waited.len().saturating_sub(1));
        waited.get(place).map_or(0.0, |wait| wait.as_secs_f64() * 1_000.0)
    };
    let per_second = waited.len() / usize::try_from(SECONDS)?;
    let met = at(50) <= BAR_MS[0] && at(99) <= BAR_MS[1];
    println!(
        "{store:<19}  {games:>5}  {per_second:>9}  {:>6.2}  {:>6.2}  {:>6.2}  {:>6.2}  {}",
        at(50),
        at(95),
        at(99),
        at(100),
        if met { "met" } else { "missed" }
    );
    Ok(met)
}

async fn create(log: &dyn GameLog, n: u32) -> Result<(GameCode, Owner), Failure> {
    let digit = |power: u32| u8::try_from(n / 28_u32.pow(power) % 28).unwrap_or(0);
    let code = GameCode::from_positions([0, 0, digit(3), digit(2), digit(1), digit(0)]);
    let owner = Owner {
        game: GameId(Uuid::new_v4()),
        create_key: n.to_string(),
        server: Some(ServerId {
            name: "latency".to_owned(),
            incarnation: Uuid::nil(),
        }),
        epoch: 1,
        claim: ClaimId::draw(),
    };
    let birth = Birth {
        owner: owner.clone(),
        facts: vec![0; 2_000],
        snapshot: vec![0; 500],
        through: RecordNumber::NONE,
    };
    log.create(code, birth).await?;
    Ok((code, owner))
}

async fn class(
    log: Arc<dyn GameLog>,
    code: GameCode,
    claim: ClaimId,
    seed: u64,
    start: Instant,
) -> Vec<Duration> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut waited = Vec::new();
    let mut number = RecordNumber::NONE;
    while start.elapsed() < Duration::from_secs(SECONDS.into()) {
        tokio::time::sleep(Duration::from_millis(rng.random_range(0..1_000))).await;
        let command = Command::Answer {
            player: PlayerId(7),
            question: QuestionIndex(3),
            choices: ChoiceSet(1),
        };
        let batch = Batch::of(number, [&Record::of(number.0 * 500, command)]);
        number = number.next();
        let asked = Instant::now();
        match log.append(code, claim, batch).await {
            Ok(Written::Saved) => waited.push(asked.elapsed()),
            other => println!("not saved: {other:?}"),
        }
    }
    waited
}
