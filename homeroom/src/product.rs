//! The parts of the product and how they hang together.

use std::sync::Arc;

use anyhow::Context;
use api::{Api, SmtpMailer, SqliteStore};
use axum::Router;
use game_server::{Durability, GameServer, Restoration, SqliteLog};

use crate::backoffice::InProcess;
use crate::config::Config;
use crate::data_dir::DataDir;

/// Where the API is mounted.
const STORE: &str = "/store";
/// Where the game server is mounted.
const GAME: &str = "/game";

/// How people reach the product, and how many.
pub(crate) struct Site {
    /// Whose pages may open WebSockets.
    pub(crate) origins: Vec<String>,
    /// Whether they come by HTTPS.
    pub(crate) https: bool,
    /// Sockets that the process has room for.
    pub(crate) sockets_max: usize,
}

/// The running parts.
pub(crate) struct Product {
    game_server: GameServer,
    games: SqliteLog,
    store: SqliteStore,
    router: Router,
}

impl Product {
    /// The game server in it.
    pub(crate) fn game_server(&self) -> &GameServer {
        &self.game_server
    }

    /// Opens the stores in `data`, brings the games back that were being played, and puts the parts together. Letters go by `mailer`, if there
    /// is one.
    ///
    /// # Errors
    /// When a store or the keys cannot be opened.
    pub(crate) async fn open(
        config: &Config,
        data: &DataDir,
        site: Site,
        mailer: Option<SmtpMailer>,
    ) -> anyhow::Result<Self> {
        let Site {
            origins,
            https,
            sockets_max,
        } = site;
        let keys_file = data.path().join("keys.json");
        let keys = api::Keys::load_or_create(&keys_file).context("open the keys")?;
        let store = SqliteStore::open(&data.path().join("homeroom.db"))
            .await
            .context("open the store")?;
        let game_keys = game_server::Keys::new(&keys.jwks(), keys.game_secret()).context("read the keys")?;
        let api_config = api::Config {
            public_url_is_https: https,
            mount_prefix: STORE.to_owned(),
            origins: origins.clone(),
            trusted_proxies: config.trust_forwarded.clone(),
            ..api::Config::default()
        };
        let api = Api::open(api_config, Arc::new(store.clone()), keys);
        let api = api.mailing_by(mailer, config.public_url.as_deref());

        // HTTPS that is not ours is a proxy's, whose address all clients have then; so is what comes from a proxy that is named.
        let behind_proxy = (https && config.tls_cert.is_none()) || !config.trust_forwarded.is_empty();
        let defaults = game_server::Config::default();
        let game_config = game_server::Config {
            sockets_max,
            // A small limit (tests, tiny machines) must leave most places to new players.
            sockets_reserve: defaults.sockets_reserve.min(sockets_max / 10),
            games_max: usize::try_from(config.games_max)?,
            allowed_origins: origins,
            peers_are_clients: !behind_proxy,
            ..defaults
        };
        let backoffice = Arc::new(InProcess(api.clone()));
        // A power cut may cost a game its last second or so; results, which are in the other file, it never costs.
        let path = data.path().join("games.db");
        let games = SqliteLog::open(&path, Durability::Process).await.with_context(|| {
            format!(
                "open {}, which holds live games and nothing else: without it, moved elsewhere, homeroom starts",
                path.display()
            )
        })?;
        let log = Arc::new(games.clone());
        let game_server = GameServer::new(game_config, game_keys, backoffice, log);
        bring_back(&game_server).await?;

        let router = Router::new()
            .nest(GAME, game_server.router())
            .nest(STORE, api.router())
            .merge(api::web_router());
        Ok(Self {
            game_server,
            games,
            store,
            router,
        })
    }

    /// All routes.
    pub(crate) fn router(&self) -> Router {
        self.router.clone()
    }

    /// Saves every game, tells every client, saves results, closes the stores.
    pub(crate) async fn close(self) {
        self.game_server.shutdown().await;
        self.games.close().await;
        self.store.close().await;
    }
}

/// Takes up the games of the process before this one, however it ended; the folder's lock says that it is gone.
async fn bring_back(game_server: &GameServer) -> anyhow::Result<()> {
    let Restoration {
        restored,
        unreadable,
        left,
    } = game_server.restore().await.context("bring the games back")?;
    if restored + unreadable + left > 0 {
        tracing::info!(restored, unreadable, left, "games of the last run");
    }
    Ok(())
}
