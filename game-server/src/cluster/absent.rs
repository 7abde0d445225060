//! Servers whose lease ran out and of whom nothing proves that they are gone: a machine that is lost refuses no connection.
//!
//! They are remembered, since one that is merely cut off from the store still has its classes, and says so when it is asked. One that
//! nobody hears of for long is forgotten: else every takeover would wait for its silence, and every change of the store would
//! have to presume it dead, for as long as the store lives. Should it come back, it takes a lease, and is known again.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use super::verify::Said;
use super::{Cluster, Member, locate};
use crate::journal::ServerId;

/// A server without a lease is forgotten when nobody could ask it for this long: longer than any class waits for its server.
const FORGOTTEN: Duration = Duration::from_secs(10 * 60);

/// Since when this server has not heard of others.
#[derive(Debug, Default)]
pub(super) struct Absent(HashMap<ServerId, Instant>);

impl Absent {
    /// Takes a look at who lives, and forgets who was silent for too long.
    pub(super) async fn look(&mut self, cluster: &Cluster, members: &[Member]) {
        let now = Instant::now();
        let absent = |server: &ServerId| {
            let mut of_it = members.iter().filter(|member| member.lease.server == *server);
            of_it.any(|member| !member.is_leased)
        };
        self.0.retain(|server, _| absent(server));
        for member in members.iter().filter(|member| !member.is_leased) {
            let server = &member.lease.server;
            let since = *self.0.entry(server.clone()).or_insert(now);
            if now.saturating_duration_since(since) < FORGOTTEN {
                continue;
            }
            match cluster.ask_all(&member.lease).await {
                // Cut off from the store alone.
                Said::Holds(_) => drop(self.0.insert(server.clone(), now)),
                Said::Gone => locate::bury(cluster, server).await,
                Said::Nothing => {
                    tracing::warn!(
                        server = server.name,
                        address = member.lease.address,
                        "a server that nobody heard of for ten minutes is forgotten"
                    );
                    locate::forget(cluster, server).await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use runtime::secret::Secret;
    use tokio::sync::watch;
    use tokio::time::advance;
    use uuid::Uuid;

    use super::*;
    use crate::cluster::{DialFuture, Dialer, Lease, Leases, Membership, MemoryLeases};
    use crate::journal::StoreRun;
    use crate::testing;

    /// A network that drops everything.
    struct Nowhere;

    impl Dialer for Nowhere {
        fn dial(&self, _address: &str) -> DialFuture {
            Box::pin(std::future::pending())
        }
    }

    fn lease(name: &str) -> Lease {
        Lease {
            server: ServerId {
                name: name.to_owned(),
                incarnation: Uuid::new_v4(),
            },
            address: "lost:1".to_owned(),
            reads: 1,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_nobody_hears_of_is_asked_for_ten_minutes_and_then_forgotten() {
        let leases = MemoryLeases::new();
        let (me, lost) = (lease("game-0"), lease("game-1"));
        let membership = Membership {
            leases: Arc::new(leases.clone()),
            dialer: Arc::new(Nowhere),
            address: me.address.clone(),
            secrets: vec![Secret::given(testing::SECRET).unwrap()],
        };
        let runs = watch::channel(StoreRun::default()).1;
        let cluster = Cluster::new(me.server.clone(), membership, runs).unwrap();
        leases.renew(lost.clone()).await.unwrap();
        let mut absent = Absent::default();
        let mut looks = 0;
        loop {
            leases.renew(me.clone()).await.unwrap();
            let members = leases.members().await.unwrap();
            if members.len() == 1 {
                break;
            }
            absent.look(&cluster, &members).await;
            advance(Duration::from_secs(30)).await;
            looks += 1;
        }
        // Ten minutes after its lease was seen to have run out.
        assert!((21..=23).contains(&looks), "{looks}");
        assert_eq!(leases.members().await.unwrap()[0].lease, me);
    }
}
