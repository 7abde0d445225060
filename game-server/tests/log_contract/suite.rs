//! The contract, as one async function over any log. Every part uses codes of its own, so that one store serves them all.

use std::time::Duration;

use game_core::Command;
use game_server::{
    Asserted, Batch, Birth, ClaimId, Claimed, Created, Entry, GameLog, LogError, Owner, Record, RecordNumber,
    ServerId, Stored, Tail, Written, read_journal,
};
use protocol::ids::{GameCode, GameId};
use uuid::Uuid;

/// How long something that expires may take to be gone.
const EXPIRY_MAX: Duration = Duration::from_secs(10);

/// Runs every part.
pub(crate) async fn run(log: &dyn GameLog) {
    what_is_created_is_there(log).await;
    a_create_is_one_of_its_code_and_one_of_its_key(log).await;
    appends_follow_and_repeat_without_harm(log).await;
    a_snapshot_covers_the_journal_or_is_refused(log).await;
    only_the_claim_writes(log).await;
    of_two_claims_one_wins(log).await;
    a_released_game_keeps_its_epoch(log).await;
    what_is_removed_is_gone_at_once_or_after_a_while(log).await;
    what_is_not_there_is_missing(log).await;
    games_do_not_mix(log).await;
    bytes_are_kept_as_they_are(log).await;
    a_claim_gets_at_least_the_epoch_asked_for(log).await;
    an_owner_asserts_its_game_in_one_run(log).await;
}

fn code(text: &str) -> GameCode {
    text.parse().unwrap()
}

fn server(n: u128) -> ServerId {
    ServerId {
        name: format!("game-{n}"),
        incarnation: Uuid::from_u128(n),
    }
}

fn record(at: u64) -> Record {
    Record::of(
        at,
        Command::Lock {
            on: at.is_multiple_of(2),
        },
    )
}

fn batch(follows: u64, count: u64) -> Batch {
    let records: Vec<_> = (follows + 1..=follows + count).map(record).collect();
    Batch::of(RecordNumber(follows), &records)
}

fn birth(key: &str) -> Birth {
    Birth {
        owner: Owner {
            game: GameId(Uuid::new_v4()),
            create_key: key.to_owned(),
            server: Some(server(1)),
            epoch: 1,
            claim: ClaimId::draw(),
        },
        facts: b"facts".to_vec(),
        snapshot: b"first".to_vec(),
        through: RecordNumber::NONE,
    }
}

/// A new game and its owner.
async fn game(log: &dyn GameLog, at: &str) -> (GameCode, Owner) {
    let (code, birth) = (code(at), birth(at));
    let owner = birth.owner.clone();
    assert_eq!(log.create(code, birth).await.unwrap(), Created::New);
    (code, owner)
}

async fn stored(log: &dyn GameLog, code: GameCode) -> Stored {
    log.load(code).await.unwrap().expect("the game is not there")
}

/// The records after the snapshot, which must be whole.
fn journal(stored: &Stored) -> Vec<Record> {
    let journal = read_journal(&stored.journal, stored.through).unwrap();
    assert!(!journal.torn);
    assert_eq!(journal.last, stored.last);
    journal.records
}

async fn what_is_created_is_there(log: &dyn GameLog) {
    let (code, owner) = game(log, "222222").await;
    let stored = stored(log, code).await;
    let expected = Stored {
        owner: owner.clone(),
        facts: b"facts".to_vec(),
        snapshot: b"first".to_vec(),
        through: RecordNumber::NONE,
        journal: Vec::new(),
        last: RecordNumber::NONE,
    };
    assert_eq!(stored, expected);
    let last = RecordNumber::NONE;
    let tail = Tail {
        owner: owner.clone(),
        last,
        store: log.runs().borrow().store.clone(),
    };
    assert_eq!(log.tail(code).await.unwrap(), Some(tail));
    assert!(log.games().await.unwrap().contains(&(code, Some(owner))));
    // A game that is written again goes on with its numbers.
    let again = Birth {
        through: RecordNumber(40),
        ..birth("222223")
    };
    let (code, claim) = (self::code("222223"), again.owner.claim);
    assert_eq!(log.create(code, again).await.unwrap(), Created::New);
    assert_eq!(
        log.append(code, claim, batch(40, 1)).await.unwrap(),
        Written::Saved
    );
    assert_eq!(super::suite::stored(log, code).await.last, RecordNumber(41));
}

async fn a_create_is_one_of_its_code_and_one_of_its_key(log: &dyn GameLog) {
    let (code, owner) = game(log, "333333").await;
    log.append(code, owner.claim, batch(0, 2)).await.unwrap();
    // The client asks again, after it missed the answer.
    assert_eq!(
        log.create(code, birth("333333")).await.unwrap(),
        Created::Same(owner.clone())
    );
    assert_eq!(
        log.create(code, birth("other")).await.unwrap(),
        Created::Taken(owner.clone())
    );
    let stored = stored(log, code).await;
    assert_eq!((stored.owner, stored.last), (owner, RecordNumber(2)));
}

async fn appends_follow_and_repeat_without_harm(log: &dyn GameLog) {
    let (code, owner) = game(log, "444444").await;
    let append = |batch| log.append(code, owner.claim, batch);
    assert_eq!(append(batch(0, 3)).await.unwrap(), Written::Saved);
    // Again as a whole, then overlapping, then all of it before.
    assert_eq!(append(batch(0, 3)).await.unwrap(), Written::Saved);
    assert_eq!(append(batch(1, 4)).await.unwrap(), Written::Saved);
    assert_eq!(append(batch(0, 1)).await.unwrap(), Written::Saved);
    let last = RecordNumber(5);
    assert_eq!(append(batch(6, 1)).await.unwrap(), Written::Refused { last });
    let found = stored(log, code).await;
    assert_eq!(journal(&found), (1..=5).map(record).collect::<Vec<_>>());
    assert_eq!(log.tail(code).await.unwrap().unwrap().last, last);
}

async fn a_snapshot_covers_the_journal_or_is_refused(log: &dyn GameLog) {
    let (code, owner) = game(log, "555555").await;
    log.append(code, owner.claim, batch(0, 3)).await.unwrap();
    let snapshot =
        |through, bytes: &[u8]| log.snapshot(code, owner.claim, RecordNumber(through), bytes.to_vec());
    let refused = Written::Refused {
        last: RecordNumber(3),
    };
    assert_eq!(snapshot(2, b"older").await.unwrap(), refused);
    let found = stored(log, code).await;
    assert_eq!(
        (found.snapshot.as_slice(), journal(&found).len()),
        (&b"first"[..], 3)
    );
    assert_eq!(snapshot(3, b"second").await.unwrap(), Written::Saved);
    let found = stored(log, code).await;
    assert_eq!(
        (found.snapshot.as_slice(), found.through),
        (&b"second"[..], RecordNumber(3))
    );
    assert!(found.journal.is_empty());
    // Numbers go on after a snapshot; a late append of what it covers is skipped.
    assert_eq!(
        log.append(code, owner.claim, batch(2, 3)).await.unwrap(),
        Written::Saved
    );
    assert_eq!(journal(&stored(log, code).await), [record(4), record(5)]);
    // One that covers records that never came takes their numbers.
    assert_eq!(snapshot(9, b"third").await.unwrap(), Written::Saved);
    let last = RecordNumber(9);
    assert_eq!(
        log.append(code, owner.claim, batch(10, 1)).await.unwrap(),
        Written::Refused { last }
    );
    assert_eq!(
        log.append(code, owner.claim, batch(9, 1)).await.unwrap(),
        Written::Saved
    );
    assert_eq!(journal(&stored(log, code).await), [record(10)]);
    // The same one again, after an answer was lost.
    assert_eq!(snapshot(10, b"fourth").await.unwrap(), Written::Saved);
    assert_eq!(snapshot(10, b"fourth").await.unwrap(), Written::Saved);
}

async fn only_the_claim_writes(log: &dyn GameLog) {
    let (code, owner) = game(log, "666666").await;
    log.append(code, owner.claim, batch(0, 1)).await.unwrap();
    let new = ClaimId::draw();
    let claimed = log.claim(code, owner.claim, server(2), new, 0).await.unwrap();
    let expected = Owner {
        server: Some(server(2)),
        epoch: 2,
        claim: new,
        ..owner.clone()
    };
    assert_eq!(claimed, Claimed::Yes(expected.clone()));
    // The one before is fenced, whatever it tries.
    let old = owner.claim;
    assert_eq!(log.append(code, old, batch(1, 1)).await.unwrap(), Written::Fenced);
    assert_eq!(log.append(code, old, batch(7, 1)).await.unwrap(), Written::Fenced);
    let through = RecordNumber(9);
    let bytes = b"stale".to_vec();
    assert_eq!(
        log.snapshot(code, old, through, bytes).await.unwrap(),
        Written::Fenced
    );
    assert_eq!(log.release(code, old).await.unwrap(), Written::Fenced);
    assert_eq!(
        log.remove(code, old, Duration::ZERO).await.unwrap(),
        Written::Fenced
    );
    let found = stored(log, code).await;
    assert_eq!((found.owner, found.last), (expected, RecordNumber(1)));
    assert_eq!(log.append(code, new, batch(1, 1)).await.unwrap(), Written::Saved);
}

async fn of_two_claims_one_wins(log: &dyn GameLog) {
    let (code, owner) = game(log, "777777").await;
    let (first, second) = (ClaimId::draw(), ClaimId::draw());
    let (one, other) = tokio::join!(
        log.claim(code, owner.claim, server(2), first, 0),
        log.claim(code, owner.claim, server(3), second, 0)
    );
    let (winner, loser, claim, name) = match (one.unwrap(), other.unwrap()) {
        (Claimed::Yes(winner), Claimed::Beaten(seen)) => (winner, seen, first, 2),
        (Claimed::Beaten(seen), Claimed::Yes(winner)) => (winner, seen, second, 3),
        both => panic!("{both:?}"),
    };
    assert_eq!(winner, loser, "the loser is told who won");
    assert_eq!((winner.epoch, winner.claim), (2, claim));
    // The winner asks again, after it missed the answer.
    assert_eq!(
        log.claim(code, owner.claim, server(name), claim, 0)
            .await
            .unwrap(),
        Claimed::Yes(winner)
    );
}

async fn a_released_game_keeps_its_epoch(log: &dyn GameLog) {
    let (code, owner) = game(log, "888888").await;
    log.append(code, owner.claim, batch(0, 2)).await.unwrap();
    assert_eq!(log.release(code, owner.claim).await.unwrap(), Written::Saved);
    let found = stored(log, code).await;
    let released = Owner {
        server: None,
        claim: ClaimId::NONE,
        ..owner.clone()
    };
    assert_eq!((&found.owner, found.last), (&released, RecordNumber(2)));
    assert_eq!(
        log.append(code, owner.claim, batch(2, 1)).await.unwrap(),
        Written::Fenced
    );
    let claim = ClaimId::draw();
    let Claimed::Yes(next) = log.claim(code, ClaimId::NONE, server(2), claim, 0).await.unwrap() else {
        panic!("a released game can be claimed");
    };
    assert_eq!((next.epoch, next.claim), (2, claim));
    assert_eq!(journal(&stored(log, code).await).len(), 2);
}

async fn what_is_removed_is_gone_at_once_or_after_a_while(log: &dyn GameLog) {
    let (code, owner) = game(log, "999999").await;
    log.append(code, owner.claim, batch(0, 2)).await.unwrap();
    let remove = |after| log.remove(code, owner.claim, after);
    assert_eq!(remove(Duration::from_secs(600)).await.unwrap(), Written::Saved);
    assert_eq!(journal(&stored(log, code).await).len(), 2);
    assert_eq!(remove(Duration::from_millis(50)).await.unwrap(), Written::Saved);
    let gone = async {
        while log.load(code).await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(EXPIRY_MAX, gone).await.expect("never gone");
    assert_eq!(remove(Duration::ZERO).await.unwrap(), Written::Missing);
    // The code is free, and nothing of the former game is left.
    let (code, owner) = game(log, "999999").await;
    assert!(stored(log, code).await.journal.is_empty());
    assert_eq!(
        log.remove(code, owner.claim, Duration::ZERO).await.unwrap(),
        Written::Saved
    );
    assert_eq!(log.load(code).await.unwrap(), None);
    let games = log.games().await.unwrap();
    assert!(games.iter().all(|(other, _)| *other != code));
    game(log, "999999").await;
}

async fn what_is_not_there_is_missing(log: &dyn GameLog) {
    let (code, claim) = (code("AAAAAA"), ClaimId::draw());
    assert_eq!(log.tail(code).await.unwrap(), None);
    assert_eq!(log.load(code).await.unwrap(), None);
    assert_eq!(
        log.claim(code, ClaimId::NONE, server(1), claim, 0).await.unwrap(),
        Claimed::Missing
    );
    assert_eq!(
        log.append(code, claim, batch(0, 1)).await.unwrap(),
        Written::Missing
    );
    let through = RecordNumber(1);
    assert_eq!(
        log.snapshot(code, claim, through, Vec::new()).await.unwrap(),
        Written::Missing
    );
    assert_eq!(log.release(code, claim).await.unwrap(), Written::Missing);
    assert_eq!(
        log.remove(code, claim, Duration::ZERO).await.unwrap(),
        Written::Missing
    );
    assert_eq!(
        log.load(code).await.unwrap(),
        None,
        "a refused write left something"
    );
}

async fn games_do_not_mix(log: &dyn GameLog) {
    let names = ["BBBBBB", "BBBBBC", "BBBBBD", "BBBBBE"];
    let mut games = Vec::new();
    for name in names {
        games.push(game(log, name).await);
    }
    // All at once, a record at a time, so that they share transactions.
    let play = games
        .iter()
        .zip(1_u64..)
        .map(|((code, owner), count)| async move {
            for follows in 0..count * 5 {
                let written = log.append(*code, owner.claim, batch(follows, 1)).await.unwrap();
                assert_eq!(written, Written::Saved);
            }
            let fenced = log.append(*code, ClaimId::draw(), batch(0, 1)).await.unwrap();
            assert_eq!(fenced, Written::Fenced);
        });
    futures_util::future::join_all(play).await;
    for ((code, _), count) in games.iter().zip(1..) {
        assert_eq!(journal(&stored(log, *code).await).len(), count * 5);
    }
}

async fn bytes_are_kept_as_they_are(log: &dyn GameLog) {
    let all: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let code = code("CCCCCC");
    let birth = Birth {
        facts: all.clone(),
        snapshot: Vec::new(),
        ..birth("a key with 'quotes', \u{1f98a} and \0")
    };
    let owner = birth.owner.clone();
    assert_eq!(log.create(code, birth).await.unwrap(), Created::New);
    let record = Record {
        at: u64::MAX,
        entry: Entry::Command(Command::Join {
            name: "\u{0}\u{1f98a}".repeat(200),
        }),
    };
    let batch = Batch::of(RecordNumber::NONE, [&record]);
    log.append(code, owner.claim, batch).await.unwrap();
    let found = stored(log, code).await;
    assert_eq!((&found.facts, &found.snapshot), (&all, &Vec::new()));
    assert_eq!(found.owner, owner);
    assert_eq!(journal(&found), [record]);
}

async fn a_claim_gets_at_least_the_epoch_asked_for(log: &dyn GameLog) {
    let (code, owner) = game(log, "EEEEEE").await;
    let claim = |seen, new, least| log.claim(code, seen, server(2), new, least);
    let (first, second) = (ClaimId::draw(), ClaimId::draw());
    let Claimed::Yes(next) = claim(owner.claim, first, 1_001).await.unwrap() else {
        panic!("nobody else claims it");
    };
    assert_eq!(next.epoch, 1_001);
    let Claimed::Yes(next) = claim(first, second, 5).await.unwrap() else {
        panic!("nobody else claims it");
    };
    assert_eq!(next.epoch, 1_002);
}

/// What an owner writes who has the game as `through` says.
fn assertion(owner: &Owner, through: u64) -> Birth {
    Birth {
        owner: owner.clone(),
        facts: b"facts".to_vec(),
        snapshot: format!("whole {through}").into_bytes(),
        through: RecordNumber(through),
    }
}

async fn an_owner_asserts_its_game_in_one_run(log: &dyn GameLog) {
    let (code, mut owner) = (code("FFFFFF"), birth("FFFFFF").owner);
    // The log has no such game.
    owner.epoch = 4;
    let asserted = log.assert(code, assertion(&owner, 7)).await.unwrap();
    assert_eq!(asserted, Asserted::Yes(owner.clone()));
    let found = stored(log, code).await;
    assert_eq!(
        (&found.owner, found.last, found.through),
        (&owner, RecordNumber(7), RecordNumber(7))
    );
    assert_eq!(found.snapshot, b"whole 7");
    // Its journal goes on from there, and an attempt that was on its way for long undoes nothing.
    log.append(code, owner.claim, batch(7, 2)).await.unwrap();
    let last = RecordNumber(9);
    assert_eq!(
        log.assert(code, assertion(&owner, 7)).await.unwrap(),
        Asserted::Refused { last }
    );
    assert_eq!(journal(&stored(log, code).await), [record(8), record(9)]);
    // Again with all of it: nothing is there twice, and the epoch stays.
    let asserted = log.assert(code, assertion(&owner, 9)).await.unwrap();
    assert_eq!(asserted, Asserted::Yes(owner.clone()));
    let found = stored(log, code).await;
    assert!(found.journal.is_empty());
    assert_eq!(found.last, last);
    // Somebody else's claim of this run stands, and so does a release by somebody who has claimed since.
    let claim = ClaimId::draw();
    log.claim(code, owner.claim, server(2), claim, 0).await.unwrap();
    assert_eq!(
        log.assert(code, assertion(&owner, 20)).await.unwrap(),
        Asserted::Fenced
    );
    log.release(code, claim).await.unwrap();
    assert_eq!(
        log.assert(code, assertion(&owner, 20)).await.unwrap(),
        Asserted::Fenced
    );
    assert_eq!(stored(log, code).await.last, last);
}

/// A store that becomes another run of itself, which may know less than what was answered. `change` makes it so.
pub(crate) async fn outlives_a_change_of_run(log: &dyn GameLog, change: impl AsyncFnOnce()) {
    let (stale, owner) = game(log, "GGGGGG").await;
    log.append(stale, owner.claim, batch(0, 3)).await.unwrap();
    let (taken, before) = game(log, "GGGGGH").await;
    let (other, elder) = game(log, "GGGGGJ").await;
    let run = log.runs().borrow().clone();
    let bound = log.bound(&run).unwrap();
    assert_eq!(
        bound.append(stale, owner.claim, batch(3, 1)).await.unwrap(),
        Written::Saved
    );
    change().await;
    let now = log.runs().borrow().clone();
    assert!(
        now.connection > run.connection && now.store != run.store,
        "{run:?} {now:?}"
    );
    // Who has not looked writes nothing, even what would follow.
    let refused = bound.append(stale, owner.claim, batch(4, 1)).await;
    assert!(matches!(refused, Err(LogError::NotDone(_))), "{refused:?}");
    assert!(matches!(bound.load(stale).await, Err(LogError::NotDone(_))));
    let bound = bound.bound(&now).unwrap();
    let tail = bound.tail(stale).await.unwrap().unwrap();
    assert_eq!((tail.store, tail.last), (run.store.clone(), RecordNumber(4)));
    // A living owner is right, though the record names a later one, has more records, or is another game's.
    let mut living = Owner {
        claim: ClaimId::draw(),
        ..owner.clone()
    };
    living.epoch = 1;
    let Asserted::Yes(kept) = bound.assert(stale, assertion(&living, 2)).await.unwrap() else {
        panic!("nobody claimed it in this run");
    };
    assert_eq!((kept.epoch, kept.claim), (2, living.claim), "above the record's");
    let tail = bound.tail(stale).await.unwrap().unwrap();
    assert_eq!(
        (tail.owner, tail.last, tail.store),
        (kept, RecordNumber(2), now.store.clone())
    );
    let stranger = birth("another").owner;
    let asserted = bound.assert(other, assertion(&stranger, 0)).await.unwrap();
    assert!(
        matches!(asserted, Asserted::Yes(owner) if owner.game == stranger.game && owner.epoch == elder.epoch + 1)
    );
    // A claim of this run stands against the owner of the one before.
    let claimed = bound
        .claim(taken, before.claim, server(2), ClaimId::draw(), 0)
        .await
        .unwrap();
    assert!(matches!(claimed, Claimed::Yes(_)));
    assert_eq!(bound.tail(taken).await.unwrap().unwrap().store, now.store);
    assert_eq!(
        bound.assert(taken, assertion(&before, 9)).await.unwrap(),
        Asserted::Fenced
    );
}

/// A game for [`finds`].
pub(crate) async fn leave_one(log: &dyn GameLog) -> (GameCode, Stored) {
    let (code, owner) = game(log, "DDDDDD").await;
    log.append(code, owner.claim, batch(0, 3)).await.unwrap();
    let through = RecordNumber(3);
    log.snapshot(code, owner.claim, through, b"kept".to_vec())
        .await
        .unwrap();
    log.append(code, owner.claim, batch(3, 2)).await.unwrap();
    (code, stored(log, code).await)
}

/// The game of [`leave_one`], in the same store opened again.
pub(crate) async fn finds(log: &dyn GameLog, (code, left): (GameCode, Stored)) {
    let found = stored(log, code).await;
    assert_eq!(found, left);
    assert_eq!(journal(&found).len(), 2);
}
