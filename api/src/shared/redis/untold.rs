//! Teachers of whose changes the other processes were not told yet.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use protocol::ids::TeacherId;
use runtime::metrics::{Gauge, set};
use tokio::sync::Notify;

/// Teachers kept at most: as many as change something in the half minute that an answer is kept elsewhere at most, at a rate that no
/// database takes. Beyond, those answers end by themselves.
const UNTOLD_MAX: usize = 20_000;

/// The teachers, each with its last change.
#[derive(Debug, Default)]
pub(super) struct Untold {
    /// Whether there is any: nearly always there is none, and then nobody waits for the lock.
    any: AtomicBool,
    changes: Mutex<Changes>,
    more: Notify,
}

#[derive(Debug, Default)]
struct Changes {
    last: u64,
    of: HashMap<TeacherId, u64>,
}

impl Untold {
    /// Keeps a change to be told; false when there are too many.
    pub(super) fn add(&self, teacher: TeacherId) -> bool {
        let kept = self.locked(|changes| {
            changes.last += 1;
            if changes.of.len() >= UNTOLD_MAX && !changes.of.contains_key(&teacher) {
                return false;
            }
            changes.of.insert(teacher, changes.last);
            true
        });
        self.more.notify_one();
        kept
    }

    /// Whether a change of this teacher's is to be told.
    pub(super) fn has(&self, teacher: TeacherId) -> bool {
        self.any.load(Ordering::Acquire) && self.locked(|changes| changes.of.contains_key(&teacher))
    }

    /// Waits for a teacher of whose change, which comes with it, is to be told.
    pub(super) async fn next(&self) -> (TeacherId, u64) {
        loop {
            let more = self.more.notified();
            let next = self.locked(|changes| {
                changes
                    .of
                    .iter()
                    .next()
                    .map(|(teacher, change)| (*teacher, *change))
            });
            match next {
                Some(next) => return next,
                None => more.await,
            }
        }
    }

    /// This change was told. A later one of the same teacher's stays.
    pub(super) fn told(&self, teacher: TeacherId, change: u64) {
        self.locked(|changes| {
            if changes.of.get(&teacher) == Some(&change) {
                changes.of.remove(&teacher);
            }
        });
    }

    fn locked<T>(&self, work: impl FnOnce(&mut Changes) -> T) -> T {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let done = work(&mut changes);
        self.any.store(!changes.of.is_empty(), Ordering::Release);
        set(
            Gauge::ApiChangesUntold,
            f64::from(u32::try_from(changes.of.len()).unwrap_or(u32::MAX)),
        );
        done
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_change_during_the_telling_is_told_as_well() {
        let (untold, teacher) = (Untold::default(), TeacherId(Uuid::from_u128(1)));
        assert!(!untold.has(teacher));
        assert!(untold.add(teacher));
        let first = untold.next().await;
        assert!(untold.add(teacher));
        untold.told(first.0, first.1);
        assert!(untold.has(teacher), "the second change");
        let second = untold.next().await;
        untold.told(second.0, second.1);
        assert!(!untold.has(teacher));
    }

    #[tokio::test]
    async fn no_more_are_kept_than_there_is_room_for() {
        let untold = Untold::default();
        for n in 0..UNTOLD_MAX {
            assert!(untold.add(TeacherId(Uuid::from_u128(u128::try_from(n).unwrap()))));
        }
        assert!(!untold.add(TeacherId(Uuid::max())));
        assert!(untold.add(TeacherId(Uuid::nil())), "one that is kept already");
    }
}
