//! An API that is away for minutes: who asks it, how often, and what becomes of what waits.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use protocol::ids::{GameCode, GameId, QuizId, TeacherId};
use tokio::time::Instant;
use uuid::Uuid;

use super::*;
use crate::actor::mailbox::Shown;
use crate::backoffice::{BackofficeFuture, PlanGrant, Reserved};
use crate::registry::Registry;
use crate::testing;

/// Keeps results by their game, while it is there.
#[derive(Default)]
struct Api {
    is_away: AtomicBool,
    attempts: AtomicUsize,
    /// The epoch that somebody reserved.
    least_epoch: AtomicU32,
    kept: Mutex<BTreeMap<GameId, usize>>,
    /// A game whose result it cannot take, for a reason of its own.
    poison: Option<GameId>,
}

impl Backoffice for Api {
    fn plan_check(&self, _teacher: TeacherId, _quiz: Option<QuizId>) -> BackofficeFuture<'_, PlanGrant> {
        Box::pin(std::future::ready(Err(BackofficeError::NotFound)))
    }

    fn save_result<'a>(&'a self, result: &'a GameResult, epoch: u32) -> BackofficeFuture<'a, ()> {
        Box::pin(async move {
            self.attempts.fetch_add(1, Ordering::SeqCst);
            if self.is_away.load(Ordering::SeqCst) || self.poison == Some(result.game) {
                return Err(BackofficeError::Unavailable("away".into()));
            }
            if epoch < self.least_epoch.load(Ordering::SeqCst) {
                return Err(BackofficeError::Superseded);
            }
            *self.kept.lock().unwrap().entry(result.game).or_default() += 1;
            Ok(())
        })
    }

    fn reserve_epoch(&self, _game: GameId, _above: u32) -> BackofficeFuture<'_, Reserved> {
        unreachable!("no store went back")
    }

    fn has_result(&self, _game: GameId) -> BackofficeFuture<'_, bool> {
        unreachable!("nobody asks")
    }
}

fn result(n: u128) -> GameResult {
    let mut facts = testing::facts(testing::mixed_quiz());
    facts.game = GameId(Uuid::from_u128(n));
    let quiz = crate::convert::quiz_to_core(&facts.quiz).unwrap();
    let settings = game_core::Settings {
        scoring: game_core::Scoring::Speed,
        players_max: 5,
    };
    crate::outcome::game_result(&game_core::Game::new(quiz, settings), &facts, 1_000)
}

fn place(registry: &Arc<Registry>, n: u8) -> Arc<GamePermit> {
    let code = GameCode::from_positions([n % 30, n / 30, 2, 3, 4, 5]);
    registry.begin_restore(code).unwrap().place()
}

fn save(saver: &ResultSaver, n: u8, registry: &Arc<Registry>) -> Saving {
    save_of(saver, n, registry, &epoch(1))
}

fn epoch(epoch: u32) -> Arc<ShownCell> {
    let shown = Shown {
        seq: 1,
        players: 0,
        phase: protocol::player::Phase::Podium,
        locked: false,
    };
    Arc::new(ShownCell::new(shown, epoch))
}

fn save_of(saver: &ResultSaver, n: u8, registry: &Arc<Registry>, epoch: &Arc<ShownCell>) -> Saving {
    let result = result(u128::from(n));
    let timeline = GameTimeline {
        game: result.game,
        code: result.code,
        events: Vec::new(),
        left_out: 0,
    };
    saver.save(result, timeline, place(registry, n), Arc::clone(epoch))
}

fn saver(api: &Arc<Api>) -> ResultSaver {
    ResultSaver::new(Arc::clone(api) as Arc<dyn Backoffice>, Ambient::machine())
}

#[tokio::test(start_paused = true)]
async fn many_results_ask_an_absent_api_as_one_and_are_all_there_soon_after_its_return() {
    const RESULTS: u8 = 200;
    let api = Arc::new(Api::default());
    let (saver, registry) = (saver(&api), Arc::new(Registry::new(1_000)));
    api.is_away.store(true, Ordering::SeqCst);
    for n in 0..RESULTS {
        save(&saver, n, &registry);
    }
    tokio::time::sleep(Duration::from_secs(5 * 60)).await;
    let attempts = api.attempts.load(Ordering::SeqCst);
    // One each before anybody knew, then one a second at most twice over.
    assert!(
        (300..=usize::from(RESULTS) + 2 * 300).contains(&attempts),
        "{attempts} attempts"
    );
    assert_eq!(saver.pending(), usize::from(RESULTS));
    assert!(registry.has_room(), "results hold places, not more");
    api.is_away.store(false, Ordering::SeqCst);
    let back = Instant::now();
    saver.settled().await;
    let patience = Duration::from_millis(u64::from(PAUSE_MS_MAX + AWAY_PAUSE_MS));
    assert!(back.elapsed() <= patience, "{:?}", back.elapsed());
    let kept = api.kept.lock().unwrap();
    assert_eq!(
        (kept.len(), kept.values().sum::<usize>()),
        (usize::from(RESULTS), usize::from(RESULTS))
    );
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_taken_holds_up_no_other() {
    let api = Arc::new(Api {
        poison: Some(GameId(Uuid::from_u128(0))),
        ..Api::default()
    });
    let (saver, registry) = (saver(&api), Arc::new(Registry::new(1_000)));
    save(&saver, 0, &registry);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let asked = Instant::now();
    for n in 1..50 {
        save(&saver, n, &registry);
    }
    let mut pending = saver.pending.subscribe();
    pending.wait_for(|n| *n == 1).await.unwrap();
    assert!(asked.elapsed() <= Duration::from_secs(2), "{:?}", asked.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_is_left_to_others_is_tried_no_more_and_counts_no_more() {
    let api = Arc::new(Api::default());
    let (saver, registry) = (saver(&api), Arc::new(Registry::new(1_000)));
    api.is_away.store(true, Ordering::SeqCst);
    let left = save(&saver, 0, &registry);
    let mut kept = save(&saver, 1, &registry);
    tokio::time::sleep(Duration::from_secs(60)).await;
    left.leave_to_others();
    let mut pending = saver.pending.subscribe();
    pending.wait_for(|n| *n == 1).await.unwrap();
    api.is_away.store(false, Ordering::SeqCst);
    assert_eq!(kept.heard().await, Heard::Settled);
    saver.settled().await;
    assert_eq!(
        api.kept.lock().unwrap().keys().copied().collect::<Vec<_>>(),
        [GameId(Uuid::from_u128(1))]
    );
}

/// A store went back while the result was on its way: its game gets a higher epoch, or is another server's.
#[tokio::test(start_paused = true)]
async fn a_result_below_the_reserved_epoch_waits_for_its_games_next_one_and_holds_up_no_other() {
    let api = Arc::new(Api::default());
    let (saver, registry) = (saver(&api), Arc::new(Registry::new(1_000)));
    api.least_epoch.store(1_001, Ordering::SeqCst);
    let own = epoch(1);
    let mut superseded = save_of(&saver, 0, &registry, &own);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(api.kept.lock().unwrap().is_empty());
    let asked = Instant::now();
    let heard = save_of(&saver, 1, &registry, &epoch(1_001)).heard().await;
    assert_eq!(heard, Heard::Settled);
    assert_eq!(asked.elapsed(), Duration::ZERO, "the API is not away");
    own.set_epoch(1_001);
    assert_eq!(superseded.heard().await, Heard::Superseded);
    assert_eq!(superseded.heard().await, Heard::Settled);
    saver.settled().await;
    assert_eq!(api.kept.lock().unwrap().len(), 2);
}
