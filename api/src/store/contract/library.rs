//! Keeping, finding and sharing quizzes.

use protocol::ids::{QuizId, ShareId};
use protocol::rest::QuizResponse;
use uuid::Uuid;

use super::super::{Inserted, PageKey, QuizChange, SharedQuiz, Store, words};
use super::{add_teacher, document, quiz};

pub(super) async fn a_quiz_is_its_teachers<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    let stored = quiz(1, "Atoms", 5);
    store.insert_quiz(owner, &stored, 10).await.unwrap();
    assert_eq!(store.quiz(owner, stored.id).await.unwrap(), Some(stored.clone()));
    assert_eq!(store.quiz(other, stored.id).await.unwrap(), None);
    let change = store
        .update_quiz(other, stored.id, 1, &document("Mine", 1), 6)
        .await
        .unwrap();
    assert_eq!(change, QuizChange::Missing);
    assert!(!store.delete_quiz(other, stored.id).await.unwrap());
    assert!(store.quizzes(other, None, 10).await.unwrap().is_empty());
    assert_eq!(
        store.quiz(owner, stored.id).await.unwrap(),
        Some(stored.clone()),
        "nothing changed it"
    );
    assert!(store.delete_quiz(owner, stored.id).await.unwrap());
    assert!(!store.delete_quiz(owner, stored.id).await.unwrap());
}

pub(super) async fn a_quiz_changes_by_version<S: Store>(store: &S) {
    let owner = add_teacher(store, 1).await;
    let stored = quiz(1, "Atoms", 5);
    store.insert_quiz(owner, &stored, 10).await.unwrap();
    let new = document("Molecules", 3);
    assert_eq!(
        store.update_quiz(owner, stored.id, 1, &new, 9).await.unwrap(),
        QuizChange::Changed(2)
    );
    let late = store
        .update_quiz(owner, stored.id, 1, &document("Late", 1), 10)
        .await
        .unwrap();
    assert_eq!(late, QuizChange::Stale(2));
    let expected = QuizResponse {
        version: 2,
        updated_ms: 9,
        quiz: new,
        ..stored.clone()
    };
    assert_eq!(store.quiz(owner, stored.id).await.unwrap(), Some(expected));
    let row = store.quizzes(owner, None, 10).await.unwrap().remove(0);
    assert_eq!(
        (row.title.as_str(), row.questions, row.updated_ms),
        ("Molecules", 3, 9)
    );
}

pub(super) async fn quizzes_are_bounded<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    for n in 1..=2 {
        assert_eq!(
            store.insert_quiz(owner, &quiz(n, "Q", 1), 2).await.unwrap(),
            Inserted::Yes
        );
    }
    assert_eq!(
        store.insert_quiz(owner, &quiz(3, "Q", 1), 2).await.unwrap(),
        Inserted::Refused
    );
    assert_eq!(
        store.insert_quiz(other, &quiz(3, "Q", 1), 2).await.unwrap(),
        Inserted::Yes
    );
    assert!(
        store
            .delete_quiz(owner, QuizId(Uuid::from_u128(1)))
            .await
            .unwrap()
    );
    assert_eq!(
        store.insert_quiz(owner, &quiz(4, "Q", 1), 2).await.unwrap(),
        Inserted::Yes
    );
}

fn share(n: u128) -> ShareId {
    ShareId(Uuid::from_u128(n))
}

pub(super) async fn a_search_finds_by_words<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    for (n, title) in [
        (1, "Étoiles et planètes"),
        (2, "Planets"),
        (3, "100% of _planets_"),
        (4, "Atoms"),
        (5, "Die PLANETEN"),
    ] {
        let at_ms = u64::try_from(n).unwrap();
        store
            .insert_quiz(owner, &quiz(n, title, at_ms), 10)
            .await
            .unwrap();
    }
    store
        .insert_quiz(other, &quiz(6, "Planets", 6), 10)
        .await
        .unwrap();
    let found = async |search: &str| {
        let rows = store.find_quizzes(owner, &words(search), None, 10).await.unwrap();
        rows.into_iter().map(|row| row.id.0.as_u128()).collect::<Vec<_>>()
    };
    assert_eq!(found("planet").await, [5, 3, 2, 1], "newest first, hers alone");
    assert_eq!(
        found("ETOILES PLAN").await,
        [1],
        "without case and accents, every word"
    );
    assert_eq!(found("etoile\u{301}s").await, [1]);
    assert_eq!(found("100%").await, [3], "signs stand for themselves");
    assert_eq!(found("_planets_").await, [3]);
    assert_eq!(found("'").await, [0_u128; 0]);
    assert_eq!(found("\0").await.len(), 5, "nothing is everywhere");
    assert_eq!(found(" ").await.len(), 5);

    // Page by page, by key.
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let page = store.find_quizzes(owner, &words("plan"), after, 1).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(PageKey {
            at_ms: last.updated_ms,
            id: last.id.0,
        });
        ids.push(last.id.0.as_u128());
    }
    assert_eq!(ids, [5, 3, 2, 1]);

    // It goes by the title of now.
    let second = QuizId(Uuid::from_u128(2));
    let change = document("Moons", 1);
    store.update_quiz(owner, second, 1, &change, 7).await.unwrap();
    assert_eq!(found("planet").await, [5, 3, 1]);
    assert_eq!(found("moon").await, [2]);
    // The longest title there can be, of characters that unfold most.
    let wide = quiz(7, &"\u{fdfa}".repeat(120), 8);
    store.insert_quiz(owner, &wide, 10).await.unwrap();
    assert_eq!(found("\u{fdfa}").await, [7]);
}

pub(super) async fn a_share_is_one_until_it_is_taken_back<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    let stored = quiz(1, "Atoms", 5);
    store.insert_quiz(owner, &stored, 10).await.unwrap();
    assert_eq!(store.share_of(owner, stored.id).await.unwrap(), None);
    assert_eq!(store.shared_quiz(share(1)).await.unwrap(), None);
    assert_eq!(
        store.share_quiz(other, stored.id, share(9), 6).await.unwrap(),
        None,
        "hers"
    );
    assert_eq!(
        store.share_quiz(owner, stored.id, share(1), 6).await.unwrap(),
        Some(share(1))
    );
    assert_eq!(
        store.share_quiz(owner, stored.id, share(2), 7).await.unwrap(),
        Some(share(1)),
        "asked again it is the same"
    );
    assert_eq!(store.share_of(owner, stored.id).await.unwrap(), Some(share(1)));
    assert_eq!(store.share_of(other, stored.id).await.unwrap(), None);
    let shared = SharedQuiz {
        by: "Teacher 1".to_owned(),
        updated_ms: 5,
        quiz: stored.quiz.clone(),
    };
    assert_eq!(store.shared_quiz(share(1)).await.unwrap(), Some(shared));
    assert_eq!(store.shared_quiz(share(2)).await.unwrap(), None);

    assert!(!store.unshare_quiz(other, stored.id).await.unwrap());
    assert!(store.unshare_quiz(owner, stored.id).await.unwrap());
    assert!(!store.unshare_quiz(owner, stored.id).await.unwrap());
    assert_eq!(store.shared_quiz(share(1)).await.unwrap(), None);
    assert_eq!(
        store.share_quiz(owner, stored.id, share(3), 8).await.unwrap(),
        Some(share(3)),
        "a new one"
    );
    // It goes with its quiz.
    assert!(store.delete_quiz(owner, stored.id).await.unwrap());
    assert_eq!(store.shared_quiz(share(3)).await.unwrap(), None);
}
