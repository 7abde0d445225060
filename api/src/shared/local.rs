//! One process, which has nobody to agree with.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use protocol::ids::TeacherId;

use super::{Counted, Quota, Shared, Verdict, Whose};

/// Teachers remembered: 40 bytes each; a process that meets more of them forgets all, which costs each one look into the
/// database, and a new window.
const TEACHERS_MAX: usize = 100_000;

/// Kept in this process.
#[derive(Debug)]
pub struct LocalShared {
    /// Whether this process is the only one at its database.
    alone: bool,
    versions: Mutex<Versions>,
    windows: Mutex<HashMap<(Whose, Counted), Window>>,
}

#[derive(Debug, Default)]
struct Versions {
    last: u64,
    /// The version of everybody who is not in the map.
    others: u64,
    of: HashMap<TeacherId, u64>,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    opened: Instant,
    used: u32,
}

impl LocalShared {
    /// For the only process at a database.
    #[must_use]
    pub fn alone() -> Self {
        Self::new(true)
    }

    /// For one of several: it counts for itself, and knows of no change.
    #[must_use]
    pub fn one_of_several() -> Self {
        Self::new(false)
    }

    fn new(alone: bool) -> Self {
        Self {
            alone,
            versions: Mutex::default(),
            windows: Mutex::default(),
        }
    }
}

impl Versions {
    fn changed(&mut self, teacher: TeacherId) {
        self.last += 1;
        if self.of.len() >= TEACHERS_MAX {
            self.of.clear();
            self.others = self.last;
        }
        self.of.insert(teacher, self.last);
    }
}

#[async_trait]
impl Shared for LocalShared {
    async fn version(&self, teacher: TeacherId) -> Option<u64> {
        let versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        let version = versions.of.get(&teacher).copied().unwrap_or(versions.others);
        self.alone.then_some(version)
    }

    async fn changed(&self, teacher: TeacherId) {
        let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        versions.changed(teacher);
    }

    async fn count(&self, whose: Whose, counted: Counted, quota: Quota) -> Verdict {
        let now = Instant::now();
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= TEACHERS_MAX {
            windows.retain(|_, window| now.duration_since(window.opened) < quota.window);
            if windows.len() >= TEACHERS_MAX {
                windows.clear();
            }
        }
        let window = windows
            .entry((whose, counted))
            .or_insert(Window { opened: now, used: 0 });
        let open = now.duration_since(window.opened);
        if open >= quota.window {
            *window = Window { opened: now, used: 0 };
        }
        if window.used < quota.max {
            window.used += 1;
            return Verdict::Within;
        }
        let left = quota.window.saturating_sub(open);
        Verdict::Spent(left.max(Duration::from_millis(1)))
    }

    async fn give_back(&self, whose: Whose, counted: Counted) {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(window) = windows.get_mut(&(whose, counted)) {
            window.used = window.used.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use uuid::Uuid;

    use super::*;

    fn teacher(n: u128) -> TeacherId {
        TeacherId(Uuid::from_u128(n))
    }

    #[tokio::test]
    async fn a_change_is_another_version_of_this_teacher_only() {
        let shared = LocalShared::alone();
        let before = (shared.version(teacher(1)).await, shared.version(teacher(2)).await);
        shared.changed(teacher(1)).await;
        let after = (shared.version(teacher(1)).await, shared.version(teacher(2)).await);
        assert_ne!(before.0, after.0);
        assert_eq!(before.1, after.1);
        assert!(after.0.is_some());
        assert_eq!(LocalShared::one_of_several().version(teacher(1)).await, None);
    }

    #[test]
    fn forgetting_everybody_gives_nobody_an_old_version() {
        let mut versions = Versions::default();
        for n in 0..TEACHERS_MAX {
            versions.changed(teacher(n as u128));
        }
        let (last, others) = (versions.last, versions.others);
        versions.changed(teacher(u128::MAX));
        assert_eq!(versions.of.len(), 1);
        assert!(
            versions.others > last && others == 0,
            "all are newer than any before"
        );
    }

    #[tokio::test]
    async fn a_quota_is_spent_and_comes_back() {
        let shared = LocalShared::alone();
        let quota = Quota {
            max: 3,
            window: Duration::from_secs(60),
        };
        for _ in 0..3 {
            assert_eq!(
                shared
                    .count(Whose::Teacher(teacher(1)), Counted::Games, quota)
                    .await,
                Verdict::Within
            );
        }
        let spent = shared
            .count(Whose::Teacher(teacher(1)), Counted::Games, quota)
            .await;
        assert!(
            matches!(spent, Verdict::Spent(left) if left > Duration::from_secs(50) && left <= quota.window),
            "{spent:?}"
        );
        shared.give_back(Whose::Teacher(teacher(1)), Counted::Games).await;
        for verdict in [Verdict::Within, spent] {
            let again = shared
                .count(Whose::Teacher(teacher(1)), Counted::Games, quota)
                .await;
            assert_eq!(
                again == Verdict::Within,
                verdict == Verdict::Within,
                "one came back"
            );
        }
        let address = |last| Whose::Address(IpAddr::from([192, 0, 2, last]));
        for (who, counted) in [
            (Whose::Teacher(teacher(2)), Counted::Games),
            (Whose::Teacher(teacher(1)), Counted::Requests),
            (address(1), Counted::Games),
            (address(2), Counted::SignIns),
        ] {
            assert_eq!(shared.count(who, counted, quota).await, Verdict::Within);
        }
        let over = Quota {
            window: Duration::ZERO,
            ..quota
        };
        assert_eq!(
            shared
                .count(Whose::Teacher(teacher(1)), Counted::Games, over)
                .await,
            Verdict::Within
        );
    }
}
