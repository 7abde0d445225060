//! The product, killed in the middle of a class: the real process, real sockets, SIGKILL, and a ledger of what every phone was
//! told.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod class;
mod ledger;
mod process;

use std::time::Duration;

use class::Class;
use process::Process;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Where a kill strikes: each at a random instant of its moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Lobby,
    Question(u16),
    Results(u16),
    Podium,
}

const SEED: u64 = 20_261_130;
/// Longer than it takes, short enough to notice that it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_kills_cost_a_class_nothing() {
    let kills = [
        Moment::Lobby,
        Moment::Question(1),
        Moment::Results(2),
        Moment::Question(3),
        Moment::Podium,
    ];
    let mut rng = StdRng::seed_from_u64(SEED);
    let process = Process::start();
    let class = Class::open(&process, rng.random()).await;
    let report = tokio::time::timeout(PATIENCE, class.play(process, &kills, &mut rng))
        .await
        .expect("the class never came to its end");
    println!("{report}");
    assert!(report.in_flight > 0, "no kill met an answer under way");
}

#[tokio::test]
async fn a_stop_keeps_a_game_and_a_second_start_finds_it() {
    let mut process = Process::start();
    let class = Class::open(&process, 7).await;
    let (key, code) = (class.key().to_owned(), class.code());
    process.stop().await;
    process.start_again().await;
    // The same create again is the same game, with its first host.
    let (status, body) = process.create(class.token(), code, class.quiz(), &key).await;
    assert_eq!((status, body["game"].as_str()), (200, Some(class.game())));
    let status = process.get(&format!("/game/status?g={code}"), None).await;
    assert_eq!(status.1["phase"], "lobby");
    process.stop().await;
}
