//! Prints how long an answer waits for the SQLite log, and what it costs: `cargo run --release --example journal_latency -p
//! game-server`. Run it where the data folder lies (`TMPDIR` chooses), on a machine that does nothing else.
//!
//! Games append one answer each at random instants, like classes do; each has one append in flight.

#![allow(clippy::print_stdout, reason = "figures are this command's output")]

use std::path::Path;
use std::time::Duration;

use game_core::{ChoiceSet, Command, PlayerId, QuestionIndex};
use game_server::{
    Batch, Birth, ClaimId, Durability, GameLog, Owner, Record, RecordNumber, ServerId, SqliteLog, Written,
};
use protocol::ids::{GameCode, GameId};
use rand::{Rng, SeedableRng, rngs::StdRng};
use tokio::time::Instant;
use uuid::Uuid;

/// Appends a second of all games together.
const RATES: [u32; 3] = [50, 500, 2_000];
const SECONDS: u32 = 10;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("durability  games  appends/s  p50 ms  p95 ms  p99 ms  max ms");
    for durability in [Durability::Process, Durability::Power] {
        for rate in RATES {
            let folder = tempfile::tempdir()?;
            measure(folder.path(), durability, rate).await?;
        }
    }
    Ok(())
}

async fn measure(folder: &Path, durability: Durability, rate: u32) -> Result<(), Box<dyn std::error::Error>> {
    let log = SqliteLog::open(&folder.join("games.db"), durability).await?;
    // Each game answers about twice a second, as 30 students who answer a question every 15 s do.
    let games = rate / 2;
    let start = Instant::now();
    let mut classes = Vec::new();
    for n in 0..games {
        let (code, owner) = create(&log, n).await?;
        classes.push(tokio::spawn(class(
            log.clone(),
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
    log.close().await;
    waited.sort_unstable();
    let at = |percent: usize| {
        let place = (waited.len() * percent / 100).min(waited.len().saturating_sub(1));
        waited.get(place).map_or(0.0, |wait| wait.as_secs_f64() * 1_000.0)
    };
    let per_second = waited.len() / usize::try_from(SECONDS)?;
    println!(
        "{:<10}  {games:>5}  {per_second:>9}  {:>6.2}  {:>6.2}  {:>6.2}  {:>6.2}",
        format!("{durability:?}"),
        at(50),
        at(95),
        at(99),
        at(100)
    );
    Ok(())
}

async fn create(log: &SqliteLog, n: u32) -> Result<(GameCode, Owner), Box<dyn std::error::Error>> {
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

async fn class(log: SqliteLog, code: GameCode, claim: ClaimId, seed: u64, start: Instant) -> Vec<Duration> {
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
