//! The game server as a value: what a main puts together and mounts.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::Router;

use crate::actor::Surroundings;
use crate::admission::Admission;
use crate::ambient::Ambient;
use crate::backoffice::Backoffice;
use crate::cluster::{self, Cluster, Membership};
use crate::config::Config;
use crate::fate::Fates;
use crate::guesses::Guesses;
use crate::http;
use crate::journal::{GameLog, LogError, Owner, ServerId};
use crate::opening::{self, Restoration};
use crate::registry::Registry;
use crate::results::ResultSaver;
use crate::stopping::Stopping;
use crate::stored::WriteVersion;
use crate::tokens::{Keys, KeysError};

/// How long a stop waits for games to say goodbye and for results to be saved. Systems kill after 30 s at most.
const SHUTDOWN_MAX: Duration = Duration::from_secs(10);

/// A game server. Cheap to clone; all clones are the same server. Must be created inside a tokio runtime.
#[derive(Clone)]
pub struct GameServer(pub(crate) Arc<Shared>);

/// What a server holds at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Games, ended ones that are still shown included.
    pub games: usize,
    /// Players in them.
    pub players: usize,
    /// Sockets open, of whatever role.
    pub sockets: usize,
    /// Results that the API does not have yet.
    pub results_pending: usize,
}

/// What all requests and sessions of a server share.
pub(crate) struct Shared {
    pub(crate) config: Arc<Config>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) backoffice: Arc<dyn Backoffice>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) admission: Arc<Admission>,
    pub(crate) guesses: Guesses,
    pub(crate) stopping: Stopping,
    pub(crate) log: Arc<dyn GameLog>,
    pub(crate) id: ServerId,
    pub(crate) ambient: Ambient,
    /// What a server knows that is one of several.
    pub(crate) cluster: Option<Arc<Cluster>>,
    pub(crate) fates: Fates,
    /// The version of snapshots that is written.
    pub(crate) writes: Arc<WriteVersion>,
    results: ResultSaver,
    me: Weak<Shared>,
}

impl GameServer {
    /// Puts a server together that has its log to itself. Nothing runs until a game is created.
    #[must_use]
    pub fn new(config: Config, keys: Keys, backoffice: Arc<dyn Backoffice>, log: Arc<dyn GameLog>) -> Self {
        Self::with_ambient(config, keys, backoffice, log, Ambient::machine())
    }

    /// As [`GameServer::new`], with a wall clock and randomness of the caller's choice.
    #[must_use]
    pub fn with_ambient(
        config: Config,
        keys: Keys,
        backoffice: Arc<dyn Backoffice>,
        log: Arc<dyn GameLog>,
        ambient: Ambient,
    ) -> Self {
        let id = new_run(&config, &ambient);
        Self::assemble(config, keys, backoffice, log, ambient, (id, None))
    }

    /// Puts a server together that shares its log with others. It serves games once it has [joined](GameServer::join).
    ///
    /// # Errors
    /// When the secrets cannot be used.
    pub fn in_cluster(
        config: Config,
        keys: Keys,
        backoffice: Arc<dyn Backoffice>,
        log: Arc<dyn GameLog>,
        membership: Membership,
    ) -> Result<Self, KeysError> {
        Self::in_cluster_with_ambient(config, keys, backoffice, log, membership, Ambient::machine())
    }

    /// As [`GameServer::in_cluster`], with a wall clock and randomness of the caller's choice.
    ///
    /// # Errors
    /// When the secrets cannot be used.
    pub fn in_cluster_with_ambient(
        config: Config,
        keys: Keys,
        backoffice: Arc<dyn Backoffice>,
        log: Arc<dyn GameLog>,
        membership: Membership,
        ambient: Ambient,
    ) -> Result<Self, KeysError> {
        let id = new_run(&config, &ambient);
        let cluster = Arc::new(Cluster::new(id.clone(), membership, log.runs())?);
        Ok(Self::assemble(
            config,
            keys,
            backoffice,
            log,
            ambient,
            (id, Some(cluster)),
        ))
    }

    fn assemble(
        config: Config,
        keys: Keys,
        backoffice: Arc<dyn Backoffice>,
        log: Arc<dyn GameLog>,
        ambient: Ambient,
        (id, cluster): (ServerId, Option<Arc<Cluster>>),
    ) -> Self {
        Self(Arc::new_cyclic(|me| Shared {
            me: me.clone(),
            registry: Arc::new(Registry::new(config.games_max)),
            admission: Arc::new(Admission::new(config.sockets_max, config.sockets_reserve)),
            guesses: Guesses::new(),
            fates: Fates::default(),
            writes: cluster
                .as_ref()
                .map_or_else(Arc::default, |cluster| cluster.writes()),
            results: ResultSaver::new(Arc::clone(&backoffice), ambient.clone()),
            stopping: Stopping::default(),
            id,
            cluster,
            config: Arc::new(config),
            keys: Arc::new(keys),
            backoffice,
            log,
            ambient,
        }))
    }

    /// Takes up all games in the log, whoever had them: for a server that has the log to itself, before it serves anybody.
    /// Games that cannot be read stay in the log as they are, and hold their codes.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn restore(&self) -> Result<Restoration, LogError> {
        opening::restore(&self.0, |_, _| true).await
    }

    /// Takes up the games in the log that an earlier run of a server of this name had, and those that nobody has: for a server
    /// that shares the log with others, before it serves anybody. Names must differ, or one server takes another's games.
    /// Games that cannot be read stay in the log as they are, and hold their codes.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn restore_own(&self) -> Result<Restoration, LogError> {
        let is_own = |id: &ServerId, owner: &Owner| {
            let server = owner.server.as_ref();
            server.is_none_or(|server| server.name == id.name)
        };
        opening::restore(&self.0, is_own).await
    }

    /// Takes a lease among the other servers, keeps it from then on, and takes up games that nobody serves. Returns when the
    /// lease is there, however long that takes; at once for a server that is alone.
    pub async fn join(&self) {
        if let Some(cluster) = &self.0.cluster {
            cluster::join(&self.0, cluster).await;
        }
    }

    /// What other servers ask and pass on, to be served where only they come to. Empty for a server that is alone.
    pub fn peer_router(&self) -> Router {
        if self.0.cluster.is_some() {
            cluster::peer_router(Arc::clone(&self.0))
        } else {
            Router::new()
        }
    }

    /// `/games`, `/status` and `/watch`, to be mounted under `/game`.
    pub fn router(&self) -> Router {
        http::router(Arc::clone(&self.0))
    }

    /// What the server holds.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            games: self.0.registry.len(),
            players: self.0.registry.players(),
            sockets: self.0.admission.open(),
            results_pending: self.0.results.pending(),
        }
    }

    /// Hands all games over to other servers, each at its next results screen or another moment without an open question, and those
    /// that have none within `max` then. Takes no new game meanwhile. Returns when no game is left, or soon after `max`; at once
    /// for a server that is alone. May be dropped to stop sooner.
    pub async fn drain(&self, max: Duration) {
        if let Some(cluster) = &self.0.cluster {
            cluster::drain(&self.0, cluster, max).await;
        }
    }

    /// Stops: no new games and sockets, every game is saved and given back to the log, every client is told `moved` and closed
    /// with 1012, results are saved. Returns when that is done, or after 10 s.
    pub async fn shutdown(&self) {
        // Said first: a game that is on its way in and not among these stops by itself.
        self.0.stopping.ask();
        let stop = async {
            for game in self.0.registry.all() {
                game.stop().await;
            }
            self.0.registry.emptied().await;
            self.0.results.settled().await;
        };
        if tokio::time::timeout(SHUTDOWN_MAX, stop).await.is_err() {
            let Counts {
                games,
                results_pending,
                ..
            } = self.counts();
            tracing::error!(games, results_pending, "stopped before everything was saved");
        }
        if let Some(cluster) = &self.0.cluster {
            cluster.leave().await;
        }
    }
}

impl Shared {
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.is_asked()
    }

    /// What a new game needs.
    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings {
            config: Arc::clone(&self.config),
            keys: Arc::clone(&self.keys),
            results: self.results.clone(),
            registry: Arc::clone(&self.registry),
            cluster: self.cluster.clone(),
            ambient: self.ambient.clone(),
            server: self.me.clone(),
        }
    }
}

/// A run of a server that begins now.
fn new_run(config: &Config, ambient: &Ambient) -> ServerId {
    ServerId {
        name: config.server_name.clone(),
        incarnation: ambient.uuid(),
    }
}

impl fmt::Debug for GameServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GameServer").field(&self.counts()).finish()
    }
}

#[cfg(test)]
mod tests;
