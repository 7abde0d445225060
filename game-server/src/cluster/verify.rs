//! After the store changed: what the other servers hold, before anything here is written again.
//!
//! A store that restarted, or a replica that took over, may show owner records of a time before some claims. So a server that finds
//! another run of it than before asks all others which games they hold. Of several holders the one with the highest epoch goes on and
//! the others stop ([`Verdict::stand`]); what a holder then does about its game is its writer's business.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use protocol::ids::GameCode;
use runtime::metrics::{self, Counter};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::peers::{HeldWire, PeerError};
use super::{Cluster, Lease};
use crate::journal::{LogError, ServerId, StoreId, StoreRun};
use crate::registry::Held;

/// Longest wait for the list of servers.
const LOOK_MAX: Duration = Duration::from_secs(1);
/// Pause before those are asked again who could not be: their lease runs out within five seconds, or they answer.
const PAUSE: Duration = Duration::from_millis(200);

/// What the other servers said after the store changed.
#[derive(Debug)]
pub(crate) struct Verdict {
    store: StoreId,
    /// The highest claim that another server holds of each game.
    others: HashMap<GameCode, Held>,
    /// Whether nobody was merely presumed dead.
    reached_all: bool,
}

/// Where a server that holds a game stands after the store changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stand {
    /// It goes on, with an epoch above this one.
    Owner { above: u32 },
    /// The same, but somebody who could not be asked may hold the game as well: the API must give the epoch.
    Presumed { above: u32 },
    /// Another server goes on.
    Yields,
}

/// All games of a server, on the wire.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GamesAnswer {
    pub(super) incarnation: Uuid,
    pub(super) games: Vec<(GameCode, HeldWire)>,
}

impl Verdict {
    /// That of a server without others, or that held nothing before.
    pub(crate) fn alone(store: StoreId) -> Self {
        Self {
            store,
            others: HashMap::new(),
            reached_all: true,
        }
    }

    /// With a game that another server holds.
    #[cfg(test)]
    pub(crate) fn with(mut self, code: GameCode, held: Held) -> Self {
        self.others.insert(code, held);
        self
    }

    /// Without the answer of somebody who has no lease.
    #[cfg(test)]
    pub(crate) fn presumed(mut self) -> Self {
        self.reached_all = false;
        self
    }

    /// Whether it was given about this run of the store.
    pub(crate) fn is_about(&self, store: &StoreId) -> bool {
        self.store == *store
    }

    /// Where the holder of a game stands.
    pub(crate) fn stand(&self, code: GameCode, mine: Held) -> Stand {
        let theirs = self.others.get(&code);
        if theirs.is_some_and(|theirs| rank(theirs) > rank(&mine)) {
            return Stand::Yields;
        }
        let above = mine.epoch;
        if self.reached_all {
            Stand::Owner { above }
        } else {
            Stand::Presumed { above }
        }
    }
}

/// Of two claims of one epoch, which only a store that went back can give, one must win.
fn rank(held: &Held) -> (u32, Uuid) {
    (held.epoch, held.claim.0)
}

/// What one server says about all its games.
pub(super) enum Said {
    Holds(Vec<(GameCode, Held)>),
    Gone,
    Nothing,
}

/// Gives a verdict about each run of the store, until it is aborted.
pub(super) async fn keep(cluster: Arc<Cluster>) {
    let mut runs = cluster.runs.clone();
    loop {
        let run = runs.borrow_and_update().clone();
        if !cluster.is_verified(&run.store) {
            let verdict = tokio::select! {
                verdict = give(&cluster, &run) => verdict,
                // Another one by now.
                Ok(()) = runs.changed() => continue,
            };
            cluster.verdicts.send_replace(Some(Arc::new(verdict)));
        }
        if runs.changed().await.is_err() {
            // The log is gone, or never away.
            return;
        }
    }
}

async fn give(cluster: &Cluster, run: &StoreRun) -> Verdict {
    if run.connection <= 1 {
        // Nothing was held before.
        return Verdict::alone(run.store.clone());
    }
    metrics::inc(Counter::GameStoreChangesTotal);
    tracing::warn!(store = %run.store, "the store may lack data; asking the other servers which games they hold");
    let mut silent = HashSet::new();
    loop {
        match ask_everybody(cluster, &mut silent).await {
            Ok(Some(others)) => {
                let reached_all = silent.is_empty();
                tracing::info!(store = %run.store, reached_all, "the store is verified");
                return Verdict {
                    store: run.store.clone(),
                    others,
                    reached_all,
                };
            }
            Ok(None) => metrics::inc(Counter::GameClaimsDelayedTotal),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "nobody says who else serves games");
            }
        }
        sleep(PAUSE).await;
    }
}

/// What all others hold; none while one with a lease cannot be asked. `silent` are those that never answered, and of whom nothing
/// proves that they are gone.
async fn ask_everybody(
    cluster: &Cluster,
    silent: &mut HashSet<ServerId>,
) -> Result<Option<HashMap<GameCode, Held>>, LogError> {
    let members = timeout(LOOK_MAX, cluster.look_around())
        .await
        .map_err(|elapsed| LogError::Unavailable(elapsed.into()))??;
    let others = members
        .into_iter()
        .filter(|member| member.lease.server != *cluster.me());
    let said = others.map(async |member| (cluster.ask_all(&member.lease).await, member));
    let mut highest: HashMap<GameCode, Held> = HashMap::new();
    let mut is_complete = true;
    for (said, member) in join_all(said).await {
        match said {
            Said::Holds(games) => {
                silent.remove(&member.lease.server);
                for (code, held) in games {
                    let known = highest.entry(code).or_insert(held);
                    if rank(&held) > rank(known) {
                        *known = held;
                    }
                }
            }
            Said::Gone => {
                silent.remove(&member.lease.server);
            }
            Said::Nothing => {
                silent.insert(member.lease.server);
                is_complete &= !member.is_leased;
            }
        }
    }
    Ok(is_complete.then_some(highest))
}

impl Cluster {
    /// Verdicts about the store, the last one first.
    pub(crate) fn verdicts(&self) -> watch::Receiver<Option<Arc<Verdict>>> {
        self.verdicts.subscribe()
    }

    /// Whether the other servers were asked since the store became this run.
    pub(super) fn is_verified(&self, store: &StoreId) -> bool {
        let verdict = self.verdicts.borrow();
        verdict.as_ref().is_some_and(|verdict| verdict.is_about(store))
    }

    /// Whether whoever holds a game has had the time to say so to this run of the store.
    pub(crate) fn is_settled(&self, store: &StoreId) -> bool {
        self.is_verified(store) && !self.members.is_store_doubtful()
    }

    /// Asks a run of a server for all games that it holds.
    pub(super) async fn ask_all(&self, lease: &Lease) -> Said {
        match self.get::<GamesAnswer>(lease, "/peer/games").await {
            Ok(answer) if answer.incarnation != lease.server.incarnation => Said::Gone,
            Ok(answer) => {
                let games = answer.games.into_iter();
                Said::Holds(games.map(|(code, held)| (code, held.into())).collect())
            }
            Err(error) if error.is_refused() => Said::Gone,
            Err(error) => {
                self.warn(lease, &error);
                Said::Nothing
            }
        }
    }

    fn warn(&self, lease: &Lease, error: &PeerError) {
        let error = error as &dyn std::error::Error;
        tracing::warn!(
            me = self.me().name,
            server = lease.server.name,
            address = lease.address,
            error,
            "a game server does not say which games it holds"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::ClaimId;

    fn held(epoch: u32, claim: u128) -> Held {
        Held {
            claim: ClaimId(Uuid::from_u128(claim)),
            epoch,
        }
    }

    #[test]
    fn the_highest_epoch_goes_on_and_one_of_two_equal_ones() {
        let code = GameCode::from_positions([1, 2, 3, 4, 5, 6]);
        let mut verdict = Verdict::alone(StoreId::new("a"));
        assert_eq!(verdict.stand(code, held(4, 1)), Stand::Owner { above: 4 });
        verdict.others.insert(code, held(3, 9));
        assert_eq!(verdict.stand(code, held(4, 1)), Stand::Owner { above: 4 });
        assert_eq!(verdict.stand(code, held(2, 1)), Stand::Yields);
        assert_eq!(verdict.stand(code, held(3, 10)), Stand::Owner { above: 3 });
        assert_eq!(verdict.stand(code, held(3, 8)), Stand::Yields);
        verdict.reached_all = false;
        assert_eq!(verdict.stand(code, held(4, 1)), Stand::Presumed { above: 4 });
        assert_eq!(verdict.stand(code, held(2, 1)), Stand::Yields);
        assert!(verdict.is_about(&StoreId::new("a")) && !verdict.is_about(&StoreId::new("b")));
    }
}
