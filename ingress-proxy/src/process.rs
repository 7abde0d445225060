//! From a configuration to a running proxy and back to the prompt.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::Context;
use http::HeaderValue;
use ingress_proxy::{Discovery, Group, Kind, Proxy, Settings, Source, SourceError, membership, to_https};
use runtime::admin::Health;
use runtime::config::refuse;
use runtime::http::{Options, Workers};
use runtime::lifecycle::Shutdown;
use runtime::tls::Reloading;
use runtime::{descriptors, telemetry};
use tokio::task::JoinHandle;
use tower::service_fn;

use crate::cli::Config;

/// How long requests in flight may go on once a stop was asked for, and the last tunnels to end after they were closed.
const GRACE: Duration = Duration::from_secs(3);
/// Descriptors of one client: its own connection and one to a server.
const DESCRIPTORS_PER_CLIENT: usize = 2;
/// Requests of HTTP/2 at once: twice what APIs with 4,000 calls a second have in work when each takes 60 ms.
const HTTP2_REQUESTS_MAX: usize = 512;
/// Where descriptors are few, they get one in this many.
const HTTP2_SHARE: usize = 16;
/// Connections of the listener that only redirects; part of what is kept back of the descriptors.
const REDIRECTED_AT_ONCE: usize = 100;
/// How often readiness is told to the metrics.
const PUBLISH_EVERY: Duration = Duration::from_secs(1);

/// A configuration that has been checked as far as it can be without binding anything.
pub(crate) struct Prepared {
    config: Config,
    discoveries: [Discovery; 2],
    settings: Settings,
    tls: Option<Reloading>,
    connections_max: usize,
}

/// Checks everything that can be wrong before anything binds; a refusal is one line and exit code 64.
pub(crate) fn prepare(config: Config) -> Prepared {
    if let Err(why) = telemetry::init(config.log_format, &config.log) {
        refuse(why);
    }
    if config.games.iter().any(|source| matches!(source, Source::All(_))) {
        refuse(format!("--game: {}", SourceError::Nameless));
    }
    let discovery = |flag: &str, sources: &[Source]| {
        Discovery::new(sources.to_vec()).unwrap_or_else(|error| refuse(format!("{flag}: {error}")))
    };
    let games = config.game_file.as_deref().map_or_else(
        || discovery("--game", &config.games),
        |path| {
            let followed = Discovery::of_file(path).context("--game-file");
            followed.unwrap_or_else(|error| refuse(format!("{error:#}")))
        },
    );
    let discoveries = [games, discovery("--api", &config.apis)];
    let tls = match (&config.tls_cert, &config.tls_key) {
        (Some(cert), Some(key)) => {
            let read = Reloading::read(cert, key).unwrap_or_else(|error| refuse(error));
            Some(if config.no_http2 { read } else { read.with_http2() })
        }
        (None, _) | (_, None) => None,
    };
    let capacity = descriptors::client_capacity().unwrap_or_else(|error| refuse(error));
    let http2_requests_max = match tls {
        Some(_) if !config.no_http2 => (capacity / HTTP2_SHARE).min(HTTP2_REQUESTS_MAX),
        Some(_) | None => 0,
    };
    let capacity = (capacity - http2_requests_max) / DESCRIPTORS_PER_CLIENT;
    let asked = usize::try_from(config.connections_max).unwrap_or(usize::MAX);
    if capacity < asked {
        tracing::warn!(
            asked,
            connections = capacity,
            "the limit on open files allows fewer connections than --connections-max"
        );
    }
    let hsts = (config.hsts_s > 0).then(|| format!("max-age={}", config.hsts_s));
    let settings = Settings {
        https: tls.is_some(),
        body_bytes_max: config.body_bytes_max,
        http2_requests_max,
        trusted: config.trust_forwarded.clone(),
        hsts: hsts.and_then(|value| HeaderValue::try_from(value).ok()),
        access_log: config.access_log,
    };
    Prepared {
        config,
        discoveries,
        settings,
        tls,
        connections_max: asked.min(capacity),
    }
}

/// Runs until a signal asks for the end.
///
/// # Errors
/// When something cannot be opened or bound; afterwards failures are handled where they happen.
pub(crate) async fn run(prepared: Prepared) -> anyhow::Result<()> {
    let Prepared {
        config,
        discoveries: [mut look_for_games, mut look_for_apis],
        settings,
        tls,
        connections_max,
    } = prepared;
    // First, so that a signal during the start is answered by a stop and not by a death.
    let mut shutdown = Shutdown::on_signals().context("handle signals")?;
    // Before the servers, whose metrics are registered with them.
    runtime::metrics::install().context("install the metrics")?;
    let (games, apis) = (Group::nobody(Kind::Games), Group::nobody(Kind::Apis));
    let more = membership(games.clone(), apis.clone());
    let health = runtime::admin::start_with(config.admin_listen, more)?;
    if look_for_games.asks_kubernetes() || look_for_apis.asks_kubernetes() {
        let kubernetes = kube::Client::try_default()
            .await
            .context("find the Kubernetes API: in a pod, or by KUBECONFIG")?;
        look_for_games.watch(&kubernetes);
        look_for_apis.watch(&kubernetes);
    }
    look_for_games.update(&games).await?;
    look_for_apis.update(&apis).await?;
    tokio::spawn(look_for_games.keep(games.clone()));
    tokio::spawn(look_for_apis.keep(apis.clone()));
    let proxy = Proxy::new(games.clone(), apis.clone(), settings);

    let drain = Duration::from_secs(config.drain_s.into());
    let options = Options {
        connections_max,
        shared: config.reuse_port,
        tls: tls.as_ref().map(Reloading::acceptor),
        drain: drain + GRACE,
    };
    let listener = runtime::http::bind(config.listen, config.reuse_port)
        .with_context(|| format!("listen on {} (--listen)", config.listen))?;
    let bound = listener.local_addr().context("read the bound address")?;
    let redirected = redirect(&config, &shutdown)?;
    if let Some(tls) = tls {
        tokio::spawn(tls.watch());
    }
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let workers = Workers::start(threads).context("start the threads of connections")?;
    let served = tokio::spawn(runtime::http::serve_on(
        workers,
        listener,
        proxy.clone(),
        options,
        shutdown.clone(),
    ));
    tracing::info!(%bound, games = games.now().all().len(), apis = apis.now().all().len(), "listening");
    tokio::select! {
        () = publish(&health, &games, &apis) => {}
        () = shutdown.asked() => {}
    }
    health.set_ready(false);
    let closed = proxy.close_tunnels(drain);
    served.await.context("the listener")?;
    closed.abort();
    if let Some(redirected) = redirected {
        redirected.await.context("the listener that redirects")?;
    }
    tracing::info!("stopped");
    Ok(())
}

fn redirect(config: &Config, shutdown: &Shutdown) -> anyhow::Result<Option<JoinHandle<()>>> {
    let Some(address) = config.redirect_listen else {
        return Ok(None);
    };
    let listener = runtime::http::bind(address, config.reuse_port)
        .with_context(|| format!("listen on {address} (--redirect-listen)"))?;
    let bound = listener.local_addr().context("read the bound address")?;
    tracing::info!(%bound, "redirecting to https");
    let options = Options {
        connections_max: REDIRECTED_AT_ONCE,
        shared: config.reuse_port,
        tls: None,
        drain: GRACE,
    };
    let serving = runtime::http::serve(listener, service_fn(to_https), options, shutdown.clone());
    Ok(Some(tokio::spawn(serving)))
}

/// Tells the metrics and the admin listener how things are. A proxy without servers is of no use to anybody.
async fn publish(health: &Health, games: &Group, apis: &Group) {
    loop {
        games.publish();
        apis.publish();
        health.set_ready(!(games.now().all().is_empty() || apis.now().all().is_empty()));
        tokio::time::sleep(PUBLISH_EVERY).await;
    }
}
