//! The game server as a value: what a main puts together and mounts.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::sync::watch;

use crate::actor::Surroundings;
use crate::admission::Admission;
use crate::ambient::Ambient;
use crate::backoffice::Backoffice;
use crate::config::Config;
use crate::guesses::Guesses;
use crate::http;
use crate::journal::{GameLog, LogError, ServerId};
use crate::opening::{self, Restoration};
use crate::registry::Registry;
use crate::results::ResultSaver;
use crate::tokens::Keys;

/// How long a stop waits for games to say goodbye and for results to be saved. Systems kill after 30 s at most.
const SHUTDOWN_MAX: Duration = Duration::from_secs(10);

/// A game server. Cheap to clone; all clones are the same server. Must be created inside a tokio runtime.
#[derive(Clone)]
pub struct GameServer(Arc<Shared>);

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
    pub(crate) stopping: watch::Sender<bool>,
    pub(crate) log: Arc<dyn GameLog>,
    pub(crate) id: ServerId,
    pub(crate) ambient: Ambient,
    results: ResultSaver,
}

impl GameServer {
    /// Puts a server together. Nothing runs until a game is created.
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
        Self(Arc::new(Shared {
            registry: Arc::new(Registry::new(config.games_max)),
            admission: Arc::new(Admission::new(config.sockets_max, config.sockets_reserve)),
            guesses: Guesses::new(),
            results: ResultSaver::new(Arc::clone(&backoffice), ambient.clone()),
            stopping: watch::Sender::new(false),
            id: ServerId {
                name: config.server_name.clone(),
                incarnation: ambient.uuid(),
            },
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
        opening::restore_all(&self.0).await
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

    /// Stops: no new games and sockets, every game is saved and given back to the log, every client is told `moved` and closed
    /// with 1012, results are saved. Returns when that is done, or after 10 s.
    pub async fn shutdown(&self) {
        self.0.stopping.send_replace(true);
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
    }
}

impl Shared {
    pub(crate) fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// What a new game needs.
    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings {
            config: Arc::clone(&self.config),
            keys: Arc::clone(&self.keys),
            results: self.results.clone(),
            registry: Arc::clone(&self.registry),
            ambient: self.ambient.clone(),
        }
    }
}

impl fmt::Debug for GameServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GameServer").field(&self.counts()).finish()
    }
}
