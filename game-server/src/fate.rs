//! What became of a game that is nowhere, for those who can prove that there was one: it ended and was forgotten, or the store lost
//! it while its server was gone as well.
//!
//! A token names the run of the store that had the game. In the same run nothing is lost, so that the game was removed after its
//! end. In another one the API tells: a game that it has a result of is over, any other one is lost.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use protocol::ids::GameId;
use runtime::metrics::{self, Counter};
use tokio::time::timeout;

use crate::server::Shared;
use crate::tokens::Proof;

/// Longest wait for the API; after that the client comes back.
const API_MAX: Duration = Duration::from_secs(2);
/// Games of which the fate is remembered: each of them asked about once by a whole class, and counted once.
const KNOWN_MAX: usize = 4_096;

/// What became of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It has ended, and is forgotten.
    Gone,
    /// It has ended, and has a result.
    Over,
    /// Nobody has it.
    Lost,
    /// Nobody can tell yet.
    Unknown,
}

/// Fates that do not change.
#[derive(Debug, Default)]
pub(crate) struct Fates(Mutex<HashMap<GameId, Fate>>);

impl Fates {
    fn known(&self, game: GameId) -> Option<Fate> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&game).copied()
    }

    /// Whether it is news.
    fn learn(&self, game: GameId, fate: Fate) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(game, fate).is_none()
    }
}

/// What became of a game that this server does not have, and of which nobody else said that it has it.
pub(crate) async fn of(shared: &Shared, proof: &Proof) -> Fate {
    let store = shared.log.runs().borrow().store.clone();
    if proof.store == store.mark() || proof.store.is_empty() {
        return Fate::Gone;
    }
    if let Some(fate) = shared.fates.known(proof.game) {
        return fate;
    }
    let is_doubtful = |cluster: &std::sync::Arc<crate::cluster::Cluster>| !cluster.is_settled(&store);
    if shared.cluster.as_ref().is_some_and(is_doubtful) {
        return Fate::Unknown;
    }
    let fate = match timeout(API_MAX, shared.backoffice.has_result(proof.game)).await {
        Ok(Ok(true)) => Fate::Over,
        Ok(Ok(false)) => Fate::Lost,
        Ok(Err(error)) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(game = %proof.game, error, "the API does not say what became of a game");
            return Fate::Unknown;
        }
        Err(_elapsed) => return Fate::Unknown,
    };
    if shared.fates.learn(proof.game, fate) && fate == Fate::Lost {
        tracing::error!(game = %proof.game, "a game is lost: the store lost it, and its server is gone");
        metrics::inc(Counter::GamesLostTotal);
    }
    fate
}
