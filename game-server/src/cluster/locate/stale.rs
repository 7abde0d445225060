//! A game whose owner record is from before the store changed. Later records, and even a later owner, may be lost.
//!
//! Whoever holds the game is right, and is about to write it again. When nobody does, it goes on from what is left, under an epoch
//! that the API gives: a server that nobody could ask may come back with more, and its result must not count beside the new one's.

use std::sync::Arc;
use std::time::Duration;

use protocol::ids::GameCode;
use tokio::time::timeout;

use super::{Located, Look, STORE_MAX, Silence, claim, delayed, everybody_else, holder, is_new, may_claim};
use crate::backoffice::Reserved;
use crate::cluster::Cluster;
use crate::journal::Owner;
use crate::opening::{self, Reached, Seen};
use crate::server::Shared;

/// Longest wait for the API; a client waits meanwhile.
const RESERVE_MAX: Duration = Duration::from_secs(2);

/// What such a record means.
pub(super) async fn judge(
    shared: &Arc<Shared>,
    cluster: &Cluster,
    reached: &Reached,
    code: GameCode,
    owner: &Owner,
) -> Look {
    let Ok(Ok(members)) = timeout(STORE_MAX, cluster.look_around()).await else {
        return Look::Again;
    };
    if let Some(lease) = holder(cluster, code).await {
        return Look::Ends(Located::At(lease));
    }
    if !may_claim(shared, cluster, &reached.run) {
        return Look::Ends(Located::Unknown);
    }
    // Its holder may have come after the last thing that the store remembers. Who was here before knows where to ask.
    if is_new(cluster) {
        return delayed();
    }
    match everybody_else(cluster, members, None, code).await {
        Silence::Complete => {}
        Silence::Broken => return Look::Again,
        Silence::Unsure => return delayed(),
    }
    let reserving = shared.backoffice.reserve_epoch(owner.game, owner.epoch);
    match timeout(RESERVE_MAX, reserving).await {
        Ok(Ok(Reserved::Epoch(epoch))) => claim(shared, reached, code, Seen::Stale(owner.claim, epoch)).await,
        Ok(Ok(Reserved::Over)) => {
            if let Err(error) = opening::discard(shared, reached, code, owner.claim).await {
                tracing::warn!(%code, error = &error as &dyn std::error::Error, "a game that is over was not removed");
            }
            Look::Again
        }
        Ok(Err(error)) => {
            tracing::warn!(%code, error = &error as &dyn std::error::Error, "the API gives no epoch yet");
            Look::Again
        }
        Err(_elapsed) => Look::Again,
    }
}
