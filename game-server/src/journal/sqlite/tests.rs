//! A file that takes no more, and one that somebody else wrote to.

use protocol::ids::GameId;
use uuid::Uuid;

use super::*;

/// Pages of 4 KiB: the schema, and a few games.
const PAGES_MAX: &str = "24";
/// What makes a game several pages long.
const FACTS_BYTES: usize = 16 * 1024;

fn birth() -> Birth {
    Birth {
        owner: Owner {
            game: GameId(Uuid::from_u128(7)),
            create_key: "key".to_owned(),
            server: None,
            epoch: 1,
            claim: ClaimId(Uuid::from_u128(9)),
        },
        facts: vec![7; FACTS_BYTES],
        snapshot: Vec::new(),
        through: RecordNumber::NONE,
    }
}

fn code(index: u8) -> GameCode {
    GameCode::from_positions([index, 1, 2, 3, 4, 5])
}

#[tokio::test]
async fn a_full_disk_that_has_room_again_takes_games_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.db");
    let options = options(&path, Durability::Process).pragma("max_page_count", PAGES_MAX);
    let log = SqliteLog::open_with(&path, options).await.unwrap();
    let mut kept = 0;
    let full = loop {
        match log.create(code(kept), birth()).await {
            Ok(created) => assert_eq!(created, Created::New),
            Err(error) => break error,
        }
        kept += 1;
    };
    // Its cause is in the error, which whoever handles it says once.
    let LogError::NotDone(why) = full else {
        panic!("{full}");
    };
    assert!(why.to_string().contains("disk is full"), "{why}");
    assert!(kept > 0);
    // Several at once fail each for itself.
    let (one, other) = tokio::join!(log.create(code(20), birth()), log.create(code(21), birth()));
    assert!(one.is_err() && other.is_err(), "{one:?} {other:?}");
    let claim = birth().owner.claim;
    assert_eq!(
        log.remove(code(0), claim, Duration::ZERO).await.unwrap(),
        Written::Saved
    );
    assert_eq!(log.create(code(20), birth()).await.unwrap(), Created::New);
    log.close().await;
}

#[tokio::test]
async fn a_row_that_is_not_ours_costs_its_own_game_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.db");
    let log = SqliteLog::open(&path, Durability::Process).await.unwrap();
    for index in 0..3 {
        log.create(code(index), birth()).await.unwrap();
    }
    let hand = pool(1)
        .connect_with(options(&path, Durability::Process))
        .await
        .unwrap();
    for (statement, index) in [
        ("UPDATE games SET game = x'00' WHERE code = ?1", 1),
        ("UPDATE games SET code = 'no code' WHERE code = ?1", 2),
    ] {
        let mut connection = hand.acquire().await.unwrap();
        sqlx::query("PRAGMA foreign_keys = OFF")
            .execute(&mut *connection)
            .await
            .unwrap();
        sqlx::query(statement)
            .bind(code(index).to_string())
            .execute(&mut *connection)
            .await
            .unwrap();
    }
    let games = log.games().await.unwrap();
    assert_eq!(games, [(code(0), Some(birth().owner)), (code(1), None)]);
    let damaged = log.load(code(1)).await;
    assert!(matches!(damaged, Err(LogError::Corrupt { .. })), "{damaged:?}");
    hand.close().await;
    log.close().await;
}
