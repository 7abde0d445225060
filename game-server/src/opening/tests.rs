//! A claim whose claimant stands still before it, or after.

use std::future::Future;

use game_core::Settings;

use super::*;
use crate::config::Config;
use crate::convert;
use crate::journal::{MemoryLog, Trouble};
use crate::server::GameServer;
use crate::stored::{SNAPSHOT_VERSION, encode_facts, encode_snapshot};
use crate::testing;

/// Time that the store takes for each call.
const CALL: Duration = Duration::from_secs(1);

struct Desk {
    server: GameServer,
    log: MemoryLog,
    code: GameCode,
    /// Of the server that had the game and is gone.
    seen: ClaimId,
}

impl Desk {
    async fn new() -> Self {
        let facts = testing::facts(testing::mixed_quiz());
        let settings = Settings {
            scoring: convert::scoring_to_core(facts.settings.scoring),
            players_max: facts.players_max,
        };
        let game = Game::new(convert::quiz_to_core(&facts.quiz).unwrap(), settings);
        let snapshot = Snapshot {
            at: 0,
            state: game.export(),
            over_ms: None,
            result_settled: false,
            is_rewound: false,
            timeline: Timeline::new(0),
        };
        let seen = ClaimId::draw();
        let birth = Birth {
            owner: Owner {
                game: facts.game,
                create_key: String::new(),
                server: Some(other("game-1")),
                epoch: 1,
                claim: seen,
            },
            facts: encode_facts(&facts),
            snapshot: encode_snapshot(&snapshot, SNAPSHOT_VERSION),
            through: RecordNumber::NONE,
        };
        let (log, code) = (MemoryLog::new(), facts.code);
        assert_eq!(log.create(code, birth).await.unwrap(), Created::New);
        let server = GameServer::new(
            Config::default(),
            testing::keys(),
            Arc::new(testing::Taker),
            Arc::new(log.clone()),
        );
        Self {
            server,
            log,
            code,
            seen,
        }
    }

    fn take_up(&self, reached: Reached) -> impl Future<Output = Result<Taken, LogError>> + use<> {
        let shared = Arc::clone(&self.server.0);
        let opening = shared.registry.begin_restore(self.code).unwrap();
        let (code, seen) = (self.code, Seen::Claim(self.seen));
        async move { take_up(&shared, &reached, opening, code, seen).await }
    }

    async fn owner(&self) -> Owner {
        self.log.tail(self.code).await.unwrap().unwrap().owner
    }
}

fn other(name: &str) -> ServerId {
    ServerId {
        name: name.to_owned(),
        incarnation: uuid::Uuid::new_v4(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_game_that_is_claimed_again_before_it_is_read_is_the_other_ones() {
    let desk = Desk::new().await;
    desk.log.set_trouble(Trouble::Slow(CALL));
    let taken = tokio::spawn(desk.take_up(Reached::now(&desk.server.0)));
    // It has read, has claimed, and is about to read again.
    tokio::time::sleep(2 * CALL + CALL / 2).await;
    desk.log.set_trouble(Trouble::None);
    let mine = desk.owner().await;
    assert_eq!(mine.server, Some(desk.server.0.id.clone()));
    let (winner, claim) = (other("game-2"), ClaimId::draw());
    let claimed = desk.log.claim(desk.code, mine.claim, winner.clone(), claim, 0);
    assert!(matches!(claimed.await.unwrap(), Claimed::Yes(_)));
    assert!(
        matches!(taken.await.unwrap(), Ok(Taken::Gone)),
        "two servers would write under one claim"
    );
    let owner = desk.owner().await;
    assert_eq!((owner.server, owner.claim), (Some(winner), claim));
}

#[tokio::test(start_paused = true)]
async fn what_the_others_said_long_ago_is_no_reason_to_claim() {
    let desk = Desk::new().await;
    let reached = Reached::now(&desk.server.0);
    tokio::time::sleep(WORD_MAX + Duration::from_millis(1)).await;
    let taken = desk.take_up(reached).await;
    assert!(
        matches!(taken, Err(LogError::NotDone(_))),
        "its owner may be back"
    );
    assert_eq!(desk.owner().await.claim, desk.seen);
    let taken = desk.take_up(Reached::now(&desk.server.0)).await;
    assert!(matches!(taken, Ok(Taken::Game(_))));
}
