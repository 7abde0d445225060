//! Who else lives, as of the last look; and for a while after the store was away, who lived before that: a store that lost its data
//! lost the leases, too, and servers with games are still there.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::Member;
use crate::journal::{ServerId, StoreRun};

/// For this long after the store came back, it may lack games that somebody holds: servers connect again within a second, and write
/// again what it lost as soon as they have.
const DOUBTFUL: Duration = Duration::from_secs(10);
/// Servers that are remembered as gone. Who is asked about an older one looks for it as for one that nobody knows.
const GONE_MAX: usize = 64;

/// Everybody known. Servers, which clients cannot multiply.
pub(super) struct Members(Mutex<Inner>);

struct Inner {
    known: Vec<Member>,
    /// Those that were found gone here, the newest last.
    gone: VecDeque<ServerId>,
    runs: watch::Receiver<StoreRun>,
    doubtful_until: Option<Instant>,
}

impl Inner {
    fn is_doubtful(&mut self) -> bool {
        let now = Instant::now();
        // An error means that the log is gone.
        if self.runs.has_changed().unwrap_or(false) {
            self.runs.mark_unchanged();
            self.doubtful_until = Some(now + DOUBTFUL);
        }
        self.doubtful_until.is_some_and(|until| now < until)
    }
}

impl Members {
    /// Nobody yet. `runs` changes when the store is back after it was away.
    pub(super) fn new(runs: watch::Receiver<StoreRun>) -> Self {
        Self(Mutex::new(Inner {
            known: Vec::new(),
            gone: VecDeque::new(),
            runs,
            doubtful_until: None,
        }))
    }

    /// Whether the store may lack games that somebody holds. To be asked after the store has answered.
    pub(super) fn is_store_doubtful(&self) -> bool {
        self.lock().is_doubtful()
    }

    /// Takes what the store says, and runs what is to be believed.
    pub(super) fn learn(&self, mut members: Vec<Member>) -> Vec<Member> {
        let mut inner = self.lock();
        if inner.is_doubtful() {
            let is_missing = |known: &&Member| {
                let server = &known.lease.server;
                members.iter().all(|member| member.lease.server != *server)
            };
            let missing: Vec<Member> = inner.known.iter().filter(is_missing).cloned().collect();
            members.extend(missing);
        }
        inner.known.clone_from(&members);
        members
    }

    /// Forgets one.
    pub(super) fn forget(&self, server: &ServerId) {
        self.lock().known.retain(|member| member.lease.server != *server);
    }

    /// Remembers one that is certainly gone: no lease that the store has lost can be its own.
    pub(super) fn note_gone(&self, server: &ServerId) {
        let mut inner = self.lock();
        if !inner.gone.contains(server) {
            if inner.gone.len() == GONE_MAX {
                inner.gone.pop_front();
            }
            inner.gone.push_back(server.clone());
        }
    }

    /// Whether this server found it gone.
    pub(super) fn is_gone(&self, server: &ServerId) -> bool {
        self.lock().gone.contains(server)
    }

    /// Everybody known but one.
    pub(super) fn but(&self, server: &ServerId) -> Vec<Member> {
        let inner = self.lock();
        let others = inner.known.iter().filter(|member| member.lease.server != *server);
        others.cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // The list is replaced as a whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::cluster::Lease;

    fn member(n: u128) -> Member {
        Member {
            lease: Lease {
                server: ServerId {
                    name: format!("game-{n}"),
                    incarnation: Uuid::from_u128(n),
                },
                address: "127.0.0.1:1".to_owned(),
                reads: 1,
            },
            is_leased: true,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_came_back_empty_makes_nobody_disappear_for_a_while() {
        let (back, runs) = watch::channel(StoreRun::default());
        let members = Members::new(runs);
        members.learn(vec![member(0), member(1)]);
        assert_eq!(
            members.learn(vec![member(0)]),
            [member(0)],
            "a lease that ran out"
        );
        members.learn(vec![member(0), member(1), member(2)]);
        back.send_modify(|run| run.connection += 1);
        assert!(members.is_store_doubtful());
        assert_eq!(members.learn(vec![member(1)]), [member(1), member(0), member(2)]);
        members.forget(&member(2).lease.server);
        assert_eq!(members.but(&member(1).lease.server), [member(0)]);
        tokio::time::advance(DOUBTFUL).await;
        assert!(!members.is_store_doubtful());
        assert_eq!(members.learn(vec![member(1)]), [member(1)]);
    }
}
