//! The flags that make a game server one of several, and the listener for the others.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, bail};
use axum::Router;
use game_server::{Leases, Membership, TcpDialer};
use runtime::descriptors;
use runtime::http::Options;
use runtime::lifecycle::{Shutdown, ShutdownTrigger};
use runtime::secret::Secret;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::cli::Config;
use crate::process::DRAIN;
use crate::store::Store;

/// Connections of other servers at least: their questions, beside the connections that they pass on.
const CONNECTIONS_MIN: usize = 64;

/// What the flags say.
pub(crate) struct Peers {
    listen: SocketAddr,
    address: Option<String>,
    secrets: Vec<Secret>,
}

/// A bound listener.
pub(crate) struct Bound {
    listener: TcpListener,
    address: String,
    secrets: Vec<Secret>,
}

/// A listener that is served until it is told to stop.
pub(crate) struct Served {
    stop: ShutdownTrigger,
    task: JoinHandle<()>,
}

impl Peers {
    /// Reads the flags; none for a server that is alone.
    ///
    /// # Errors
    /// When a secret cannot be read, or flags do not fit together.
    pub(crate) fn prepare(config: &Config, store: &Store) -> anyhow::Result<Option<Self>> {
        let Some(listen) = config.peer_listen else {
            return Ok(None);
        };
        if matches!(store, Store::Memory) {
            bail!(
                "--peer-listen needs --redis or --redis-file: servers that share no store have no common games"
            );
        }
        if listen.ip().is_unspecified() && config.peer_address.is_none() {
            bail!("--peer-listen {listen} is no address that others can reach; give one with --peer-address");
        }
        let secrets = config.peer_secret_files.iter().map(|file| Secret::read(file));
        Ok(Some(Self {
            listen,
            address: config.peer_address.clone(),
            secrets: secrets.collect::<Result<_, _>>()?,
        }))
    }

    /// Binds the listener.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub(crate) async fn bind(self) -> anyhow::Result<Bound> {
        let listener = TcpListener::bind(self.listen)
            .await
            .with_context(|| format!("listen on {} (--peer-listen)", self.listen))?;
        let bound = listener.local_addr().context("read the bound address")?;
        tracing::info!(%bound, "listening for other game servers");
        Ok(Bound {
            listener,
            address: self.address.unwrap_or_else(|| bound.to_string()),
            secrets: self.secrets,
        })
    }
}

impl Bound {
    /// What makes a server one of several.
    pub(crate) fn membership(&self, leases: Arc<dyn Leases>) -> Membership {
        Membership {
            leases,
            dialer: Arc::new(TcpDialer),
            address: self.address.clone(),
            secrets: self.secrets.clone(),
        }
    }

    /// Serves the others.
    ///
    /// # Errors
    /// When the process may open too few files.
    pub(crate) fn serve(self, router: Router, clients_max: usize) -> anyhow::Result<Served> {
        let left = descriptors::client_capacity()?.saturating_sub(clients_max);
        let options = Options {
            connections_max: left.max(CONNECTIONS_MIN),
            shared: false,
            tls: None,
            drain: DRAIN,
        };
        let (stop, shutdown) = Shutdown::channel();
        let task = tokio::spawn(runtime::http::serve(self.listener, router, options, shutdown));
        Ok(Served { stop, task })
    }
}

impl Served {
    /// Stops listening, once nobody has a reason to ask any more.
    ///
    /// # Errors
    /// When the listener's task died.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        self.stop.trigger();
        self.task.await.context("the listener for other game servers")
    }
}
