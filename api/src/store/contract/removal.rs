//! Deletions for good.

use protocol::ids::{PlayerId, ShareId};
use uuid::Uuid;

use super::super::{ResultSaved, Store};
use super::{add_session, add_teacher, game, quiz, session};

pub(super) async fn a_students_rows_go_and_the_rest_stays<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    let result = game(1, owner, 90_000, 4, 3);
    let neighbour = game(2, owner, 91_000, 4, 3);
    for saved in [&result, &neighbour] {
        assert_eq!(store.save_result(saved, 1).await.unwrap(), ResultSaved::Now);
    }
    let delete = |teacher, player| store.delete_player(teacher, result.game, PlayerId(player));
    assert!(!delete(other, 3).await.unwrap(), "hers");
    assert!(!delete(owner, 99).await.unwrap());
    assert!(!delete(owner, u32::MAX).await.unwrap());
    // Neither the first nor the last in the ranking.
    assert!(delete(owner, 3).await.unwrap());
    assert!(!delete(owner, 3).await.unwrap());
    let mut left = result.clone();
    left.players.retain(|player| player.id != PlayerId(3));
    assert_eq!(store.game(owner, result.game).await.unwrap().unwrap(), left);
    assert_eq!(
        store.game(owner, neighbour.game).await.unwrap().unwrap(),
        neighbour
    );

    let answers = |players: &[protocol::result::PlayerResult]| -> u64 {
        players
            .iter()
            .map(|player| u64::try_from(player.answers.len()).unwrap())
            .sum()
    };
    let played = store.usage(owner, 0).await.unwrap().played;
    assert_eq!(played.players, 7);
    assert_eq!(
        played.answers,
        answers(&left.players) + answers(&neighbour.players)
    );
    let right = [&left, &neighbour]
        .into_iter()
        .flat_map(|game| &game.players)
        .flat_map(|player| &player.answers);
    assert_eq!(
        played.right,
        u64::try_from(right.filter(|answer| answer.correct).count()).unwrap()
    );

    // The game server sends the result again: it is known, and brings nobody back.
    assert_eq!(store.save_result(&result, 1).await.unwrap(), ResultSaved::Before);
    assert_eq!(store.game(owner, result.game).await.unwrap().unwrap(), left);
    for player in [1, 2, 4] {
        assert!(delete(owner, player).await.unwrap());
    }
    assert!(
        store
            .game(owner, result.game)
            .await
            .unwrap()
            .unwrap()
            .players
            .is_empty()
    );
}

pub(super) async fn an_account_goes_with_everything<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    let (mine, theirs) = (quiz(1, "Mine", 1), quiz(2, "Theirs", 1));
    store.insert_quiz(owner, &mine, 10).await.unwrap();
    store.insert_quiz(other, &theirs, 10).await.unwrap();
    let share = ShareId(Uuid::from_u128(5));
    store.share_quiz(owner, mine.id, share, 1).await.unwrap();
    add_session(store, &session(7, owner, 1)).await;
    let played: Vec<_> = (1..=25).map(|n| game(n, owner, 90_000, 2, 1)).collect();
    for result in &played {
        store.save_result(result, 1).await.unwrap();
    }
    store
        .save_result(&game(99, other, 90_000, 2, 1), 1)
        .await
        .unwrap();

    assert!(store.delete_account(owner).await.unwrap());
    assert!(!store.delete_account(owner).await.unwrap());
    assert_eq!(store.account(owner).await.unwrap(), None);
    assert_eq!(store.account_by_email("t1@school.org").await.unwrap(), None);
    assert_eq!(store.session(Uuid::from_u128(7)).await.unwrap(), None);
    assert_eq!(store.shared_quiz(share).await.unwrap(), None);
    assert!(store.quizzes(owner, None, 10).await.unwrap().is_empty());
    assert!(store.games(owner, None, 50).await.unwrap().is_empty());
    assert_eq!(
        store.save_result(&played[0], 1).await.unwrap(),
        ResultSaved::NoTeacher
    );
    assert_eq!(
        store.insert_quiz(owner, &mine, 10).await.unwrap(),
        super::Inserted::NoTeacher,
        "a token lives on for a while"
    );
    assert_eq!(store.quizzes(other, None, 10).await.unwrap().len(), 1);
    assert_eq!(store.games(other, None, 10).await.unwrap().len(), 1);
    // The address is free again.
    add_teacher(store, 1).await;
}
