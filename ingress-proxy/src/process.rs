//! From a configuration to a running proxy and back to the prompt.

use std::time::Duration;

use anyhow::Context;
use ingress_proxy::{Member, Members, Proxy, Settings};
use runtime::config::refuse;
use runtime::http::Options;
use runtime::lifecycle::Shutdown;
use runtime::{descriptors, telemetry, tls};
use tokio::net::TcpListener;

use crate::cli::Config;

/// How long requests in flight may go on once a stop was asked for.
const DRAIN: Duration = Duration::from_secs(3);
/// Descriptors of one client: its own connection and one to a server.
const DESCRIPTORS_PER_CLIENT: usize = 2;

/// A configuration that has been checked as far as it can be without binding anything.
pub(crate) struct Prepared {
    config: Config,
    proxy: Proxy,
    options: Options,
}

/// Checks everything that can be wrong before anything binds; a refusal is one line and exit code 64.
pub(crate) fn prepare(config: Config) -> Prepared {
    if let Err(why) = telemetry::init(config.log_format, &config.log) {
        refuse(why);
    }
    let members = |flag: &str, list: &[Member]| {
        Members::new(list.to_vec()).unwrap_or_else(|error| refuse(format!("{flag}: {error}")))
    };
    let (games, apis) = (members("--game", &config.games), members("--api", &config.apis));
    let tls = match (&config.tls_cert, &config.tls_key) {
        (Some(cert), Some(key)) => Some(tls::acceptor(cert, key).unwrap_or_else(|error| refuse(error))),
        (None, _) | (_, None) => None,
    };
    let capacity =
        descriptors::client_capacity().unwrap_or_else(|error| refuse(error)) / DESCRIPTORS_PER_CLIENT;
    let asked = usize::try_from(config.connections_max).unwrap_or(usize::MAX);
    if capacity < asked {
        tracing::warn!(
            asked,
            connections = capacity,
            "the limit on open files allows fewer connections than --connections-max"
        );
    }
    let settings = Settings {
        https: tls.is_some(),
        body_bytes_max: config.body_bytes_max,
    };
    Prepared {
        proxy: Proxy::new(games, apis, settings),
        options: Options {
            connections_max: asked.min(capacity),
            tls,
            drain: DRAIN,
        },
        config,
    }
}

/// Runs until a signal asks for the end.
///
/// # Errors
/// When something cannot be opened or bound; afterwards failures are handled where they happen.
pub(crate) async fn run(prepared: Prepared) -> anyhow::Result<()> {
    let Prepared {
        config,
        proxy,
        options,
    } = prepared;
    // First, so that a signal during the start is answered by a stop and not by a death.
    let mut shutdown = Shutdown::on_signals().context("handle signals")?;
    let health = runtime::admin::start(config.admin_listen)?;
    let listener = TcpListener::bind(config.listen)
        .await
        .with_context(|| format!("listen on {} (--listen)", config.listen))?;
    let bound = listener.local_addr().context("read the bound address")?;
    let served = tokio::spawn(runtime::http::serve(listener, proxy, options, shutdown.clone()));
    health.set_ready(true);
    tracing::info!(%bound, games = config.games.len(), apis = config.apis.len(), "listening");

    shutdown.asked().await;
    health.set_ready(false);
    served.await.context("the listener")?;
    tracing::info!("stopped");
    Ok(())
}
