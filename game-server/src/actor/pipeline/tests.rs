//! What a game tells while it is in doubt whose it is.

use game_core::Command;
use protocol::ids::GameCode;

use super::writer::tests::state;
use super::*;
use crate::facts::Facts;
use crate::journal::{
    Birth, ClaimId, Created, GameLog, MemoryLog, Owner, ServerId, StoreId, StoreRun, Trouble,
};
use crate::testing;

struct Desk {
    pipeline: Pipeline,
    log: MemoryLog,
    code: GameCode,
    owner: Owner,
    socket: Arc<Outbox>,
}

impl Desk {
    async fn new() -> Self {
        let Facts { game, code, .. } = testing::facts(testing::mixed_quiz());
        let log = MemoryLog::new();
        let owner = Owner {
            game,
            create_key: "key".to_owned(),
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
        assert_eq!(log.create(code, birth).await.unwrap(), Created::New);
        let ownership = Ownership {
            log: Arc::new(log.clone()),
            run: StoreRun::default(),
            verdicts: None,
            backoffice: Arc::new(testing::Taker),
            writes: Arc::default(),
            code,
            owner: owner.clone(),
            facts: Vec::new(),
        };
        let shown = Shown {
            seq: 0,
            players: 0,
            phase: protocol::player::Phase::Lobby,
            locked: false,
        };
        let patience = Duration::from_millis(100);
        Self {
            pipeline: Pipeline::new(
                ownership,
                RecordNumber::NONE,
                false,
                Arc::new(ShownCell::new(shown, 1)),
                patience,
                Ambient::machine(),
            ),
            log,
            code,
            owner,
            socket: Arc::new(Outbox::new()),
        }
    }

    /// A change that is recorded and told.
    fn change(&mut self) {
        self.pipeline.record(&Record::of(
            0,
            Command::Join {
                name: "Ada".to_owned(),
            },
        ));
        self.tell();
    }

    fn tell(&mut self) {
        let delivery = Delivery::Frame {
            socket: Arc::clone(&self.socket),
            frame: r#"{"t":"sync"}"#.into(),
        };
        self.pipeline.emit(delivery, Instant::now());
    }

    /// Writes until an answer came, and says whether the game is still this server's.
    async fn write(&mut self) -> bool {
        self.pipeline
            .start_write(Instant::now(), || unreachable!("no snapshot is due"));
        let answer = self.pipeline.answered().await;
        !self.pipeline.settle(answer, Instant::now()).is_fenced
    }

    /// Takes news that nobody asked for.
    async fn hear(&mut self) -> bool {
        let answer = self.pipeline.answered().await;
        !self.pipeline.settle(answer, Instant::now()).is_fenced
    }

    fn told(&self) -> Vec<String> {
        self.socket.take().0.iter().map(ToString::to_string).collect()
    }
}

fn server(name: &str) -> ServerId {
    ServerId {
        name: name.to_owned(),
        incarnation: uuid::Uuid::new_v4(),
    }
}

const PLAIN: &str = r#"{"t":"sync"}"#;
const MARKED: &str = r#"{"t":"sync","saved":false}"#;

#[tokio::test(start_paused = true)]
async fn a_game_in_doubt_tells_nothing_until_it_has_looked() {
    let mut desk = Desk::new().await;
    desk.pipeline.doubt(Instant::now(), false);
    desk.tell();
    desk.change();
    assert!(desk.told().is_empty());
    assert!(desk.write().await);
    assert_eq!(desk.told(), [PLAIN], "what depends on nothing unsaved");
    assert!(desk.write().await);
    assert_eq!(desk.told(), [PLAIN]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_before_the_doubt_ends_none() {
    let mut desk = Desk::new().await;
    desk.change();
    desk.pipeline
        .start_write(Instant::now(), || unreachable!("no snapshot is due"));
    tokio::time::advance(Duration::from_secs(10)).await;
    desk.pipeline.doubt(Instant::now(), false);
    // Meanwhile somebody else has claimed the game.
    let seen = desk.owner.claim;
    let other = (server("game-1"), ClaimId::draw());
    let answer = desk.pipeline.answered().await;
    desk.log
        .claim(desk.code, seen, other.0, other.1, 0)
        .await
        .unwrap();
    desk.pipeline.settle(answer, Instant::now());
    assert!(!desk.pipeline.is_certain(RecordNumber(1)) && desk.told().is_empty());
    assert!(!desk.write().await, "the look at the owner record finds it");
    assert!(desk.told().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_claim_of_another_one_counts_whenever_it_was_asked_for() {
    let mut desk = Desk::new().await;
    let (other, claim) = (server("game-1"), ClaimId::draw());
    let claimed = desk.log.claim(desk.code, desk.owner.claim, other, claim, 0);
    claimed.await.unwrap();
    desk.pipeline.doubt(Instant::now(), false);
    desk.pipeline
        .start_write(Instant::now(), || unreachable!("no snapshot is due"));
    let answer = desk.pipeline.answered().await;
    // Before it is heard there is another reason to doubt.
    tokio::time::advance(Duration::from_secs(2)).await;
    desk.pipeline.doubt(Instant::now(), false);
    assert!(desk.pipeline.settle(answer, Instant::now()).is_fenced);
}

#[tokio::test(start_paused = true)]
async fn after_a_second_of_doubt_it_goes_on_and_marks() {
    let mut desk = Desk::new().await;
    desk.log.set_trouble(Trouble::Stuck);
    desk.pipeline.doubt(Instant::now(), false);
    desk.tell();
    tokio::time::advance(DOUBT_MAX - Duration::from_millis(1)).await;
    assert_eq!(desk.pipeline.check_patience(Instant::now()), Change::default());
    tokio::time::advance(Duration::from_millis(1)).await;
    assert_eq!(desk.pipeline.check_patience(Instant::now()).behind, Some(true));
    assert_eq!(desk.told(), [MARKED]);
    desk.tell();
    assert_eq!(desk.told(), [MARKED]);
    // Certain again.
    desk.log.set_trouble(Trouble::None);
    assert!(desk.write().await);
    assert!(!desk.pipeline.is_behind());
    desk.tell();
    assert_eq!(desk.told(), [PLAIN]);
}

#[tokio::test(start_paused = true)]
async fn without_a_lease_it_marks_at_once() {
    let mut desk = Desk::new().await;
    desk.pipeline.doubt(Instant::now(), true);
    desk.tell();
    assert_eq!(desk.pipeline.check_patience(Instant::now()).behind, Some(true));
    assert_eq!(desk.told(), [MARKED]);
}

#[tokio::test(start_paused = true)]
async fn a_game_whose_store_changed_is_certain_of_nothing_until_it_is_written_again() {
    let mut desk = Desk::new().await;
    desk.change();
    assert!(desk.write().await);
    assert_eq!(desk.told(), [PLAIN]);
    desk.log.lose_all();
    desk.log.set_trouble(Trouble::Away);
    desk.log.come_back(StoreId::new("next"));
    assert!(desk.hear().await);
    assert!(desk.pipeline.writer.is_unverified());
    assert!(!desk.pipeline.is_certain(RecordNumber(1)), "no result may leave");
    // Held for as long as ever, then marked.
    desk.tell();
    assert!(desk.told().is_empty());
    tokio::time::advance(desk.pipeline.next_wake().unwrap() - Instant::now()).await;
    desk.pipeline.check_patience(Instant::now());
    assert_eq!(desk.told(), [MARKED]);
    desk.log.set_trouble(Trouble::None);
    desk.pipeline.start_write(Instant::now(), state);
    let answer = desk.pipeline.answered().await;
    let change = desk.pipeline.settle(answer, Instant::now());
    assert_eq!(change.behind, Some(false));
    assert!(desk.pipeline.is_certain(RecordNumber(1)) && !desk.pipeline.writer.is_unverified());
    assert_eq!(desk.pipeline.epoch(), 2);
    desk.tell();
    assert_eq!(desk.told(), [PLAIN]);
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_store_that_changes_waits_no_longer_for_that() {
    let mut desk = Desk::new().await;
    desk.log.set_trouble(Trouble::Stuck);
    desk.change();
    desk.pipeline
        .start_write(Instant::now(), || unreachable!("no snapshot is due"));
    tokio::time::advance(Duration::from_millis(60)).await;
    desk.log.come_back(StoreId::new("next"));
    assert!(desk.hear().await);
    tokio::time::advance(Duration::from_millis(40)).await;
    let behind = desk.pipeline.check_patience(Instant::now()).behind;
    assert_eq!(behind, Some(true), "100 ms after it was to be told");
    assert_eq!(desk.told(), [r#"{"t":"sync","saved":false}"#]);
}
