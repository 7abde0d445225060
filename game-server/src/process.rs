//! From a configuration to a running game server and back to the prompt.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use axum::Router;
use game_server::{GameServer, HttpBackoffice, Keys, OperatorDesk};
use jsonwebtoken::jwk::JwkSet;
use runtime::config::refuse;
use runtime::http::Options;
use runtime::lifecycle::Shutdown;
use runtime::secret::Secret;
use runtime::{descriptors, files, host, telemetry};

use crate::cli::Config;
use crate::peers::{self, Peers};
use crate::store::{Opened, Store};

/// How long requests in flight may go on once clients have been told.
pub(crate) const DRAIN: Duration = Duration::from_secs(3);
/// Bytes of a key set at most: a key has 0.2 kB, and a rotation needs two.
const JWKS_BYTES_MAX: u64 = 64 * 1024;
/// Name of a server on a machine that has none.
const NAMELESS: &str = "game-server";

/// A configuration that has been checked as far as it can be without binding anything.
pub(crate) struct Prepared {
    config: Config,
    name: String,
    keys: Keys,
    service: Secret,
    store: Store,
    peers: Option<Peers>,
}

/// Checks everything that can be wrong before anything binds; a refusal is one line and exit code 64.
pub(crate) fn prepare(config: Config) -> Prepared {
    if let Err(why) = telemetry::init(config.log_format, &config.log) {
        refuse(why);
    }
    let secret = |path| Secret::read(path).unwrap_or_else(|error| refuse(error));
    let service = secret(&config.service_token_file);
    let resume = secret(&config.resume_secret_file);
    let keys = read_jwks(&config.jwks_file)
        .and_then(|jwks| Ok(Keys::new(&jwks, resume.bytes())?))
        .with_context(|| format!("the key set {} cannot be used", config.jwks_file.display()))
        .unwrap_or_else(|error| refuse(format!("{error:#}")));
    let store = Store::prepare(&config).unwrap_or_else(|error| refuse(format!("{error:#}")));
    let peers = Peers::prepare(&config, &store).unwrap_or_else(|error| refuse(format!("{error:#}")));
    let name = config
        .name
        .clone()
        .or_else(host::name)
        .unwrap_or_else(|| NAMELESS.to_owned());
    Prepared {
        config,
        name,
        keys,
        service,
        store,
        peers,
    }
}

fn read_jwks(path: &Path) -> anyhow::Result<JwkSet> {
    let jwks: JwkSet = serde_json::from_slice(&files::read(path, JWKS_BYTES_MAX)?)?;
    ensure!(!jwks.keys.is_empty(), "it holds no key");
    Ok(jwks)
}

/// Runs until a signal asks for the end.
///
/// # Errors
/// When something cannot be opened or bound; afterwards failures are handled where they happen.
pub(crate) async fn run(prepared: Prepared) -> anyhow::Result<()> {
    let Prepared {
        config,
        name,
        keys,
        service,
        store,
        peers,
    } = prepared;
    // First, so that a signal during the start is answered by a stop and not by a death.
    let mut shutdown = Shutdown::on_signals().context("handle signals")?;
    let operators = OperatorDesk::new();
    let health = runtime::admin::start_with(config.admin_listen, operators.router())?;
    let places = descriptors::places(usize::try_from(config.sockets_max)?)?;
    if config.allow_origins.is_empty() {
        tracing::warn!("no --allow-origin is given: pages in browsers cannot play here");
    }
    let store = store.open();
    let backoffice = Arc::new(HttpBackoffice::new(&config.api_internal, name.clone(), &service)?);
    let settings = settings(&config, name.clone(), places.sockets)?;
    let (server, peers) = match (peers, store.leases()) {
        (Some(peers), Some(leases)) => {
            let bound = peers.bind().await?;
            let membership = bound.membership(leases);
            let server = GameServer::in_cluster(settings, keys, backoffice, store.log(), membership)?;
            let served = bound.serve(server.peer_router(), places.connections)?;
            (server, Some(served))
        }
        (_, _) => (GameServer::new(settings, keys, backoffice, store.log()), None),
    };
    operators.open(&server);
    // Before anybody can ask for a game.
    tokio::select! {
        () = find_games(&server, &store, peers.is_some()) => {}
        () = shutdown.asked() => return stop(&server, peers).await,
    }

    let listener = runtime::http::bind(config.listen, false)
        .with_context(|| format!("listen on {} (--listen)", config.listen))?;
    let bound = listener.local_addr().context("read the bound address")?;
    let options = Options {
        connections_max: places.connections,
        shared: false,
        tls: None,
        drain: DRAIN,
    };
    // Under /game as well: a gateway need not strip the prefix, and a client reaches one server directly by the same paths.
    let router = Router::new()
        .nest("/game", server.router())
        .merge(server.router());
    let (stop_listening, listening) = Shutdown::channel();
    let served = tokio::spawn(runtime::http::serve(listener, router, options, listening));
    health.set_ready(true);
    tracing::info!(name, %bound, api = config.api_internal, "listening");

    shutdown.asked().await;
    health.set_ready(false);
    tokio::select! {
        () = server.drain(Duration::from_secs(config.drain_max_s)) => {}
        // Who asks twice is in a hurry: everything is saved and given back all the same.
        () = shutdown.asked_again() => {}
    }
    stop_listening.trigger();
    let stopped = stop(&server, peers).await;
    served.await.context("the listener")?;
    stopped
}

/// Comes to know which games there are: from the store, or from the servers that share it.
async fn find_games(server: &GameServer, store: &Opened, is_member: bool) {
    if is_member {
        server.join().await;
    } else {
        store.bring_back(server).await;
    }
}

/// Saves and gives back all games; other servers may ask until that is done.
async fn stop(server: &GameServer, peers: Option<peers::Served>) -> anyhow::Result<()> {
    server.shutdown().await;
    if let Some(peers) = peers {
        peers.stop().await?;
    }
    tracing::info!("stopped");
    Ok(())
}

fn settings(config: &Config, server_name: String, sockets_max: usize) -> anyhow::Result<game_server::Config> {
    let defaults = game_server::Config::default();
    Ok(game_server::Config {
        server_name,
        sockets_max,
        // A small limit (tests, tiny machines) must leave most places to new players.
        sockets_reserve: defaults.sockets_reserve.min(sockets_max / 10),
        games_max: usize::try_from(config.games_max)?,
        allowed_origins: config.allow_origins.clone(),
        // A gateway stands before it, whose address all clients have.
        peers_are_clients: false,
        ..defaults
    })
}
