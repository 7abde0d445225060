//! Takes up games that nobody serves, so that their results are saved though no client comes back.
//!
//! Soon after a server is found gone, and every half minute in case nobody noticed. Servers that sweep at the same time meet at the
//! claim, which one of them wins.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use protocol::ids::GameCode;
use tokio::time::{sleep, timeout};

use super::absent::Absent;
use super::{Cluster, locate};
use crate::journal::{LogError, Owner, ServerId};
use crate::server::Shared;

/// Pause between two sweeps, in milliseconds, drawn so that servers take turns: listing a thousand games reads 60 KB.
const PAUSE_MS: (u32, u32) = (20_000, 40_000);
/// Delay before the sweep after a server was lost, in milliseconds, drawn so that several share its games.
const DELAY_MS: (u32, u32) = (0, 300);
/// Games taken up at the same time. Each waits for half a second until a server whose machine is gone has refused nothing, so that 500
/// games of it take four seconds; few enough to hold their bytes, 50 KB each.
const AT_ONCE: usize = 64;

/// Sweeps until it is aborted, at once to begin with.
pub(super) async fn sweep(shared: Arc<Shared>, cluster: Arc<Cluster>) {
    let mut absent = Absent::default();
    loop {
        if let Err(error) = sweep_once(&shared, &cluster, &mut absent).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "orphaned games could not be listed"
            );
        }
        let pause = Duration::from_millis(u64::from(shared.ambient.jitter_ms(PAUSE_MS.0, PAUSE_MS.1)));
        if timeout(pause, cluster.orphans.notified()).await.is_ok() {
            sleep(Duration::from_millis(u64::from(
                shared.ambient.jitter_ms(DELAY_MS.0, DELAY_MS.1),
            )))
            .await;
        }
    }
}

async fn sweep_once(
    shared: &Arc<Shared>,
    cluster: &Arc<Cluster>,
    absent: &mut Absent,
) -> Result<(), LogError> {
    let members = cluster.look_around().await?;
    absent.look(cluster, &members).await;
    let leased: HashMap<ServerId, bool> = members
        .into_iter()
        .map(|member| (member.lease.server, member.is_leased))
        .collect();
    let games = shared.log.games().await?;
    let orphans = games
        .into_iter()
        // What cannot be read is nobody's to take.
        .filter_map(|(code, owner)| Some((code, owner?)))
        .filter(|(code, owner)| is_orphan(shared, &leased, *code, owner));
    futures_util::stream::iter(orphans)
        .for_each_concurrent(AT_ONCE, async |(code, _owner)| {
            // A sweep takes nothing from anybody: it asks as for a client. What it cannot take now, the next one does.
            let _located = locate(shared, cluster, code).await;
        })
        .await;
    Ok(())
}

/// Whether nobody seems to serve a game. An earlier run of this very server is not asked for its lease: there is but one
/// server of a name.
fn is_orphan(shared: &Shared, leased: &HashMap<ServerId, bool>, code: GameCode, owner: &Owner) -> bool {
    if shared.is_stopping()
        || shared
            .cluster
            .as_ref()
            .is_some_and(|cluster| cluster.is_draining())
        || shared.registry.held(code).is_some()
    {
        return false;
    }
    let Some(server) = &owner.server else {
        return true;
    };
    server.name == shared.id.name || !leased.get(server).copied().unwrap_or(false)
}
