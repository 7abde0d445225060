//! Renews this server's lease and looks who else lives.

use std::sync::Arc;
use std::time::Duration;

use runtime::metrics::{self, Counter, Gauge};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::{Cluster, Member, Renewed};
use crate::journal::LogError;

/// Time between two renewals: a lease survives four that fail.
const RENEW: Duration = Duration::from_secs(1);

/// Renews until it is aborted; `leased` is told of the first time.
pub(super) async fn keep(cluster: Arc<Cluster>, leased: Arc<Notify>) {
    let (mut is_told, mut is_begun) = (false, false);
    let mut before = Vec::new();
    loop {
        let started = Instant::now();
        let is_first = !std::mem::replace(&mut is_begun, true);
        match renew(&cluster).await {
            Ok(members) => {
                cluster.standing.renewed(started);
                metrics::inc(Counter::GameLeasesRenewedTotal);
                notice(&cluster, &before, &members);
                before = members;
                if !std::mem::replace(&mut is_told, true) {
                    cluster.standing.joined(Instant::now());
                    leased.notify_one();
                }
            }
            // The connection to the store is just being made.
            Err(error) if is_first => {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "the first lease waits for the store"
                );
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the lease was not renewed"
                );
                metrics::inc(Counter::GameLeasesFailedTotal);
            }
        }
        sleep_until(started + RENEW).await;
    }
}

async fn renew(cluster: &Cluster) -> Result<Vec<Member>, LogError> {
    match cluster.leases.renew(cluster.lease.clone()).await? {
        Renewed::Kept => {}
        // Now, since the next renewal knows nothing of it.
        Renewed::Anew => cluster.standing.lapsed(),
    }
    cluster.look_around().await
}

/// Rings for the games of a server whose lease was there at the last look and is not now.
fn notice(cluster: &Cluster, before: &[Member], members: &[Member]) {
    let is_leased = |member: &&Member| member.is_leased;
    let lost = before.iter().filter(is_leased).any(|member| {
        let now = members.iter().find(|now| now.lease.server == member.lease.server);
        now.is_none_or(|now| !now.is_leased)
    });
    if lost {
        cluster.orphans.notify_one();
    }
    let leased = u32::try_from(members.iter().filter(is_leased).count()).unwrap_or(u32::MAX);
    metrics::set(Gauge::GameServersLeased, f64::from(leased));
}
