//! Links for new passwords.

use super::super::{Reset, Store};
use super::{add_session, add_teacher, session};

pub(super) async fn a_reset_is_spent_once<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    let reset = |teacher, byte: u8, expires_ms| Reset {
        token_hash: [byte; 32],
        teacher,
        expires_ms,
    };
    for (n, byte) in [(1, 1), (2, 2)] {
        let new = reset(owner, byte, 100 + n);
        assert!(store.insert_reset(&new, 10, 2).await.unwrap());
    }
    assert!(
        !store.insert_reset(&reset(owner, 3, 103), 10, 2).await.unwrap(),
        "as many as one may"
    );
    assert!(store.insert_reset(&reset(other, 4, 104), 10, 2).await.unwrap());
    assert!(
        store.insert_reset(&reset(owner, 5, 202), 101, 2).await.unwrap(),
        "one has expired"
    );
    let nobody = reset(super::teacher_id(9), 6, 202);
    assert!(!store.insert_reset(&nobody, 10, 2).await.unwrap());

    assert!(
        !store.insert_reset(&reset(owner, 3, 202), 101, 2).await.unwrap(),
        "as many again"
    );
    for _ in 0..2 {
        store.delete_reset(&[5; 32]).await.unwrap();
        assert_eq!(store.reset_of(&[5; 32], 101).await.unwrap(), None, "taken back");
    }
    assert!(
        store.insert_reset(&reset(owner, 5, 202), 101, 2).await.unwrap(),
        "and makes room"
    );

    assert_eq!(store.reset_of(&[2; 32], 101).await.unwrap(), Some(owner));
    assert_eq!(store.reset_of(&[2; 32], 102).await.unwrap(), None, "expired");
    assert_eq!(store.reset_of(&[7; 32], 50).await.unwrap(), None);
    add_session(store, &session(1, owner, 10)).await;
    add_session(store, &session(2, other, 10)).await;
    assert_eq!(store.reset_password(&[2; 32], 102, "late").await.unwrap(), None);
    assert_eq!(
        store.reset_password(&[2; 32], 101, "new").await.unwrap(),
        Some(owner)
    );
    assert_eq!(
        store.reset_password(&[2; 32], 101, "again").await.unwrap(),
        None,
        "once"
    );
    assert_eq!(
        store.reset_password(&[5; 32], 101, "other link").await.unwrap(),
        None,
        "they go together"
    );
    let hash = |n: u32| {
        let email = format!("t{n}@school.org");
        async move { store.account_by_email(&email).await.unwrap().unwrap().1 }
    };
    assert_eq!((hash(1).await.as_str(), hash(2).await.as_str()), ("new", "hash"));
    assert_eq!(
        store.session(session(1, owner, 10).id).await.unwrap(),
        None,
        "signed out everywhere"
    );
    assert!(store.session(session(2, other, 10).id).await.unwrap().is_some());
    assert_eq!(store.reset_of(&[4; 32], 50).await.unwrap(), Some(other));
}

/// A sign-in looks at the hash, takes its time over it, and begins a session: in between, somebody sets another password.
pub(super) async fn a_sign_in_by_the_old_password_begins_nothing<S: Store>(store: &S) {
    let (owner, other) = (add_teacher(store, 1).await, add_teacher(store, 2).await);
    let reset = Reset {
        token_hash: [1; 32],
        teacher: owner,
        expires_ms: 100,
    };
    assert!(store.insert_reset(&reset, 10, 2).await.unwrap());
    add_session(store, &session(1, owner, 10)).await;
    let spent = store.reset_password(&[1; 32], 10, "new").await.unwrap();
    assert_eq!(spent, Some(owner));
    let late = session(2, owner, 10);
    assert!(!store.insert_session(&late, "hash", 10, 5).await.unwrap());
    assert_eq!(store.session(late.id).await.unwrap(), None);
    assert!(
        !store
            .replace_hash(owner, "hash", "the old password's")
            .await
            .unwrap(),
        "nor does the old password come back"
    );
    assert!(store.insert_session(&late, "new", 10, 5).await.unwrap());
    assert!(store.session(late.id).await.unwrap().is_some());
    add_session(store, &session(3, other, 10)).await;
    let nobody = session(4, super::teacher_id(9), 10);
    assert!(!store.insert_session(&nobody, "hash", 10, 5).await.unwrap());
}
