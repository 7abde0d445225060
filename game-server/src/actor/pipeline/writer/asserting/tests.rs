//! What becomes of a game whose store changed.

use std::sync::Mutex;

use game_core::Command;
use protocol::ids::{GameCode, GameId, QuizId, TeacherId};
use protocol::result::GameResult;
use tokio::sync::watch;
use tokio::time::advance;

use super::super::tests::state;
use super::super::{Ownership, RETRY_MAX};
use super::*;
use crate::backoffice::{Backoffice, BackofficeError, BackofficeFuture, PlanGrant};
use crate::journal::{
    ClaimId, Created, GameLog, MemoryLog, Owner, Record, RecordNumber, ServerId, StoreId, Tail, Trouble,
};
use crate::testing;

/// An API that answers one question only.
struct Reserves(Mutex<Vec<Option<Reserved>>>);

impl Backoffice for Reserves {
    fn plan_check(&self, _teacher: TeacherId, _quiz: Option<QuizId>) -> BackofficeFuture<'_, PlanGrant> {
        unreachable!("no game is created")
    }

    fn save_result<'a>(&'a self, _result: &'a GameResult, _epoch: u32) -> BackofficeFuture<'a, ()> {
        unreachable!("no game has ended")
    }

    fn reserve_epoch(&self, _game: GameId, above: u32) -> BackofficeFuture<'_, Reserved> {
        assert_eq!(above, 1, "the owner's epoch");
        let said = self.0.lock().unwrap().remove(0);
        let unavailable = || BackofficeError::Unavailable("the test says so".into());
        Box::pin(std::future::ready(said.ok_or_else(unavailable)))
    }

    fn has_result(&self, _game: GameId) -> BackofficeFuture<'_, bool> {
        unreachable!("nobody asks")
    }
}

struct Desk {
    log: MemoryLog,
    writer: Writer,
    code: GameCode,
    owner: Owner,
    verdicts: watch::Sender<Option<Arc<Verdict>>>,
}

impl Desk {
    /// A game with two records, at a server among others.
    async fn new(said: Vec<Option<Reserved>>) -> Self {
        let log = MemoryLog::new();
        let facts = testing::facts(testing::mixed_quiz());
        let owner = Owner {
            game: facts.game,
            create_key: String::new(),
            server: Some(server("game-0")),
            epoch: 1,
            claim: ClaimId::draw(),
        };
        let birth = Birth {
            owner: owner.clone(),
            facts: Vec::new(),
            snapshot: Vec::new(),
            through: RecordNumber::NONE,
        };
        assert_eq!(log.create(facts.code, birth).await.unwrap(), Created::New);
        let (verdicts, given) = watch::channel(None);
        let run = log.runs().borrow().clone();
        let ownership = Ownership {
            log: log.bound(&run).unwrap(),
            run,
            verdicts: Some(given),
            backoffice: Arc::new(Reserves(Mutex::new(said))),
            writes: Arc::default(),
            code: facts.code,
            owner: owner.clone(),
            facts: Vec::new(),
        };
        let mut desk = Self {
            writer: Writer::new(ownership, RecordNumber::NONE, false, Instant::now()),
            log,
            code: facts.code,
            owner,
            verdicts,
        };
        desk.record(2);
        desk.write().await;
        desk
    }

    fn record(&mut self, count: usize) {
        for _ in 0..count {
            let name = "Ada".to_owned();
            self.writer.record(&Record::of(0, Command::Join { name }));
        }
    }

    /// Writes what is due; whether the game is still this server's.
    async fn write(&mut self) -> bool {
        self.writer.start(Instant::now(), state);
        while self.writer.is_writing() {
            let answer = self.writer.answered().await;
            if self.writer.settle(answer, Instant::now()) == Settled::Fenced {
                return false;
            }
            self.writer.start(Instant::now(), state);
        }
        true
    }

    /// The store comes back as another run, and the writer hears of it.
    async fn change(&mut self) {
        self.log.come_back(StoreId::new("next"));
        self.hear().await;
    }

    async fn hear(&mut self) {
        let answer = self.writer.answered().await;
        self.writer.settle(answer, Instant::now());
    }

    /// The other servers have answered.
    async fn say(&mut self, verdict: Verdict) {
        self.verdicts.send_replace(Some(Arc::new(verdict)));
        self.hear().await;
    }

    async fn tail(&self) -> Tail {
        self.log.tail(self.code).await.unwrap().unwrap()
    }
}

fn server(name: &str) -> ServerId {
    ServerId {
        name: name.to_owned(),
        incarnation: uuid::Uuid::new_v4(),
    }
}

fn next() -> StoreId {
    StoreId::new("next")
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_until_the_others_have_said_what_they_hold() {
    let mut desk = Desk::new(Vec::new()).await;
    // The store lost the second record, and a release that somebody did since.
    desk.log.tamper(desk.code, |stored| {
        stored.journal = Vec::new();
        stored.last = RecordNumber::NONE;
    });
    desk.change().await;
    desk.record(1);
    desk.writer.want_snapshot(Instant::now());
    advance(RETRY_MAX).await;
    assert!(desk.write().await);
    assert!(desk.writer.is_unverified());
    assert_eq!(
        desk.writer.next_wake(),
        None,
        "a wake in the past would keep it running"
    );
    assert_eq!(desk.tail().await.last, RecordNumber::NONE);
    // What they said about an earlier run does not count.
    desk.say(Verdict::alone(StoreId::new("earlier"))).await;
    assert!(desk.write().await);
    assert_eq!(desk.tail().await.last, RecordNumber::NONE);
    desk.say(Verdict::alone(next())).await;
    assert!(desk.write().await);
    assert!(!desk.writer.is_unverified());
    let tail = desk.tail().await;
    assert_eq!((tail.last, tail.store), (RecordNumber(3), next()));
    assert_eq!((tail.owner.epoch, tail.owner.claim), (2, desk.owner.claim));
    assert_eq!((desk.writer.epoch(), desk.writer.saved()), (2, RecordNumber(3)));
    // And on as ever.
    desk.record(1);
    assert!(desk.write().await);
    assert_eq!(desk.tail().await.last, RecordNumber(4));
}

#[tokio::test(start_paused = true)]
async fn a_record_from_before_the_claim_stops_nobody_and_a_claim_since_then_does() {
    for is_since in [false, true] {
        let mut desk = Desk::new(Vec::new()).await;
        if !is_since {
            desk.log.tamper(desk.code, |stored| {
                stored.owner.server = Some(server("game-1"));
                stored.owner.claim = ClaimId::draw();
                stored.owner.epoch = 5;
            });
        }
        desk.change().await;
        if is_since {
            let claimed = desk
                .log
                .claim(desk.code, desk.owner.claim, server("game-1"), ClaimId::draw(), 0);
            claimed.await.unwrap();
        }
        desk.say(Verdict::alone(next())).await;
        assert_eq!(desk.write().await, !is_since);
        if !is_since {
            assert_eq!(desk.tail().await.owner.epoch, 6, "above the record's");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_holder_yields_to_a_higher_epoch_without_a_word_to_the_store() {
    let mut desk = Desk::new(Vec::new()).await;
    desk.change().await;
    let higher = Held {
        claim: ClaimId::draw(),
        epoch: 2,
    };
    desk.say(Verdict::alone(next()).with(desk.code, higher)).await;
    assert!(!desk.write().await);
    let tail = desk.tail().await;
    assert_eq!((tail.owner.epoch, tail.store), (1, StoreId::default()));
}

#[tokio::test(start_paused = true)]
async fn who_presumes_another_one_dead_gets_its_epoch_from_the_api() {
    let mut desk = Desk::new(vec![None, Some(Reserved::Epoch(1_001))]).await;
    desk.change().await;
    desk.say(Verdict::alone(next()).presumed()).await;
    assert!(desk.write().await);
    assert!(desk.writer.is_unverified(), "the API is away");
    assert_eq!(desk.tail().await.store, StoreId::default());
    advance(RETRY_MAX).await;
    assert!(desk.write().await);
    assert_eq!(desk.tail().await.owner.epoch, 1_001);
    assert_eq!(desk.writer.epoch(), 1_001);
    // A game that somebody else has ended is not gone on with.
    let mut desk = Desk::new(vec![Some(Reserved::Over)]).await;
    desk.change().await;
    desk.say(Verdict::alone(next()).presumed()).await;
    assert!(!desk.write().await);
    assert_eq!(desk.tail().await.store, StoreId::default());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_changes_again_is_verified_again() {
    let mut desk = Desk::new(Vec::new()).await;
    desk.change().await;
    desk.say(Verdict::alone(next())).await;
    // The answer gets lost, and so does the store's memory of it.
    desk.log.set_trouble(Trouble::Unanswered);
    assert!(desk.write().await);
    assert!(desk.writer.is_unverified());
    desk.log.set_trouble(Trouble::None);
    desk.log.come_back(StoreId::new("third"));
    desk.hear().await;
    assert!(desk.write().await);
    assert_eq!(desk.tail().await.store, next(), "not said about this one yet");
    desk.say(Verdict::alone(StoreId::new("third"))).await;
    assert!(desk.write().await);
    assert_eq!(desk.tail().await.store, StoreId::new("third"));
    assert_eq!(desk.tail().await.owner.epoch, desk.writer.epoch());
}

#[tokio::test(start_paused = true)]
async fn the_same_run_by_another_connection_is_only_looked_at() {
    let mut desk = Desk::new(Vec::new()).await;
    desk.log.come_back(StoreId::default());
    desk.hear().await;
    desk.record(1);
    assert!(desk.write().await);
    let tail = desk.tail().await;
    assert_eq!((tail.last, tail.owner.epoch), (RecordNumber(3), 1));
    // Somebody else's claim in it stands.
    let claimed = desk
        .log
        .claim(desk.code, desk.owner.claim, server("game-1"), ClaimId::draw(), 0);
    claimed.await.unwrap();
    desk.log.come_back(StoreId::default());
    desk.hear().await;
    assert!(!desk.write().await);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_changed_while_a_game_was_loaded_is_seen_at_once() {
    let desk = Desk::new(Vec::new()).await;
    desk.log.come_back(next());
    let ownership = desk.writer.at;
    let writer = Writer::new(ownership, RecordNumber(2), false, Instant::now());
    assert!(writer.is_unverified());
}

#[tokio::test(start_paused = true)]
async fn whoever_is_outbid_looks_first_and_then_gets_an_epoch_above_all() {
    let mut desk = Desk::new(vec![None, Some(Reserved::Epoch(2_001))]).await;
    desk.writer.outbid(Instant::now());
    assert!(desk.write().await);
    assert_eq!(desk.tail().await.owner.epoch, 1, "the API is away");
    advance(RETRY_MAX).await;
    assert!(desk.write().await);
    let owner = desk.tail().await.owner;
    assert_eq!((owner.epoch, owner.claim), (2_001, desk.owner.claim));
    assert_eq!(desk.writer.epoch(), 2_001);
    // And on as ever.
    desk.record(1);
    assert!(desk.write().await);
    assert_eq!(desk.tail().await.last, RecordNumber(3));
    // Whose game is another server's by now asks for nothing.
    let mut desk = Desk::new(Vec::new()).await;
    let claimed = desk
        .log
        .claim(desk.code, desk.owner.claim, server("game-1"), ClaimId::draw(), 0);
    claimed.await.unwrap();
    desk.writer.outbid(Instant::now());
    assert!(!desk.write().await);
}

/// Whoever took it over while this server stood still has played it to its end.
#[tokio::test]
async fn a_game_that_is_gone_after_a_doubt_is_written_again_only_if_it_has_no_result() {
    let mut desk = Desk::new(vec![Some(Reserved::Over)]).await;
    desk.log.lose_all();
    desk.writer.doubt(Instant::now(), true);
    assert!(!desk.write().await);
    assert_eq!(desk.log.tail(desk.code).await.unwrap(), None);
    let mut desk = Desk::new(vec![Some(Reserved::Epoch(1_001))]).await;
    desk.log.lose_all();
    desk.writer.doubt(Instant::now(), true);
    assert!(desk.write().await);
    assert_eq!(desk.tail().await.owner.epoch, 1_001);
}
