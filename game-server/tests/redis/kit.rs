//! A game as the log sees it, and waiting for what must come.

use std::time::Duration;

use game_core::{ChoiceSet, Command, PlayerId, QuestionIndex};
use game_server::{
    Batch, Birth, ClaimId, Created, Entry, GameLog, LogError, Owner, Record, RecordNumber, RedisConfig,
    RedisLog, ServerId, Written, read_journal,
};
use protocol::ids::{GameCode, GameId};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

/// Longest wait for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A connected log.
pub(crate) async fn log(url: &str) -> RedisLog {
    connected(RedisConfig::parse(url).unwrap()).await
}

pub(crate) async fn connected(config: RedisConfig) -> RedisLog {
    let log = RedisLog::new(config);
    wait_connected(&log).await;
    log
}

pub(crate) async fn wait_connected(log: &RedisLog) {
    let mut store = log.store();
    timeout(PATIENCE, store.wait_for(Option::is_some))
        .await
        .unwrap()
        .unwrap();
}

pub(crate) async fn wait_disconnected(log: &RedisLog) {
    let mut store = log.store();
    timeout(PATIENCE, store.wait_for(Option::is_none))
        .await
        .unwrap()
        .unwrap();
}

pub(crate) fn code(index: u8) -> GameCode {
    GameCode::from_positions([index % 30, index / 30, 2, 3, 4, 5])
}

pub(crate) fn birth(through: u64) -> Birth {
    Birth {
        owner: Owner {
            game: GameId(Uuid::from_u128(7)),
            create_key: "key".to_owned(),
            server: Some(ServerId {
                name: "game-0".to_owned(),
                incarnation: Uuid::from_u128(9),
            }),
            epoch: 1,
            claim: ClaimId::draw(),
        },
        facts: b"facts".to_vec(),
        snapshot: format!("through {through}").into_bytes(),
        through: RecordNumber(through),
    }
}

/// Creates a game and says under which claim.
pub(crate) async fn create(log: &RedisLog, code: GameCode) -> ClaimId {
    let birth = birth(0);
    let claim = birth.owner.claim;
    assert_eq!(log.create(code, birth).await.unwrap(), Created::New);
    claim
}

/// An answer, as most records are. Its time tells records apart.
pub(crate) fn record(at: u64) -> Record {
    Record {
        at,
        entry: Entry::Command(Command::Answer {
            player: PlayerId(u32::try_from(at % 500).unwrap()),
            question: QuestionIndex(3),
            choices: ChoiceSet(2),
        }),
    }
}

/// Records `first` to `last`, each with its number as its time.
pub(crate) fn batch(first: u64, last: u64) -> Batch {
    let records: Vec<Record> = (first..=last).map(record).collect();
    Batch::of(RecordNumber(first - 1), &records)
}

/// Appends until it is answered, and says how often the outcome was unknown.
pub(crate) async fn append_surely(log: &RedisLog, code: GameCode, claim: ClaimId, batch: Batch) -> u32 {
    let trying = async {
        let mut unknown = 0;
        loop {
            match log.append(code, claim, batch.clone()).await {
                Ok(written) => {
                    assert_eq!(written, Written::Saved);
                    return unknown;
                }
                Err(LogError::Unavailable(_)) => unknown += 1,
                Err(LogError::NotDone(_)) => sleep(Duration::from_millis(2)).await,
                Err(error @ LogError::Corrupt { .. }) => panic!("{error}"),
            }
        }
    };
    timeout(PATIENCE, trying).await.expect("never saved")
}

/// The journal must be exactly the records `first` to `last`, once each.
pub(crate) async fn assert_journal(log: &RedisLog, code: GameCode, first: u64, last: u64) {
    let stored = log.load(code).await.unwrap().expect("the game is there");
    assert_eq!(stored.through, RecordNumber(first - 1));
    assert_eq!(stored.last, RecordNumber(last));
    assert_eq!(
        stored.journal,
        batch(first, last).bytes(),
        "exactly these frames, none twice"
    );
    let journal = read_journal(&stored.journal, stored.through).unwrap();
    assert!(!journal.torn);
    assert_eq!(journal.records, (first..=last).map(record).collect::<Vec<_>>());
}
