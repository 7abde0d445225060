//! From a configuration to a running API and back to the prompt.

use std::fmt::Display;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use api::config::{PERMITS_DEFAULT, permits_over};
use api::store::TimelinesOf;
use api::{Api, Keys, SharedRedis, SmtpMailer};
use axum::Router;
use runtime::config::refuse;
use runtime::http::Options;
use runtime::lifecycle::Shutdown;
use runtime::secret::Secret;
use runtime::{descriptors, files, telemetry};
use tokio::net::TcpListener;

use crate::cli::{DatabaseArgs, LogArgs, Migrate, Serve, Timeline};
use crate::database::{Database, with_replica};
use crate::{sharing, watch};

/// Where the API stands beside the pages; gateways pass the prefix on.
const STORE: &str = "/store";
/// Client connections held at once: a proxy's pools, or the browsers of a school's staff room.
pub(crate) const CONNECTIONS_MAX: usize = 4_000;
/// Connections of game servers held at once; each server keeps at most eight unused ones.
pub(crate) const INTERNAL_CONNECTIONS_MAX: usize = 500;
/// How long requests in flight may go on after a stop was asked for; systems kill after 30 s.
const DRAIN: Duration = Duration::from_secs(10);
/// How long a call waits for a connection when a measurement has switched admission off: what sqlx does unless it is told otherwise.
const UNADMITTED_ACQUIRE_MAX: Duration = Duration::from_secs(30);

/// A configuration that has been checked as far as it can be without binding anything.
pub(crate) struct Prepared {
    config: Serve,
    database: Database,
    redis: Option<SharedRedis>,
    mailer: Option<SmtpMailer>,
    keys: Keys,
    secrets: Vec<Secret>,
}

/// Checks everything that can be wrong before anything binds; a refusal is one line and exit code 64.
pub(crate) fn prepare(config: Serve) -> Prepared {
    let database = start(&config.log, &config.database);
    let database = with_replica(
        database,
        config.replica.as_deref(),
        config.replica_file.as_deref(),
    )
    .unwrap_or_else(|error| refuse(error));
    let redis = sharing::read(config.redis.as_deref(), config.redis_file.as_deref())
        .unwrap_or_else(|error| refuse(error));
    let mailer = config.mail.options().read().unwrap_or_else(|error| refuse(error));
    let secrets = config
        .service_token_files
        .iter()
        .map(|path| Secret::read(path).unwrap_or_else(|error| refuse(error)))
        .collect();
    let keys = Keys::load_or_create(&config.keys_file)
        .unwrap_or_else(|error| refuse(format!("{:#}", anyhow::Error::from(error))));
    if let Some(path) = &config.jwks_out {
        let written = serde_json::to_vec(&keys.jwks())
            .map_err(anyhow::Error::from)
            .and_then(|jwks| Ok(files::replace(path, &jwks)?));
        if let Err(error) = written {
            refuse(format!(
                "cannot write the public keys to {}: {error:#}",
                path.display()
            ));
        }
    }
    Prepared {
        config,
        database,
        redis,
        mailer,
        keys,
        secrets,
    }
}

/// Starts logging and finds out which database is meant.
pub(crate) fn start(log: &LogArgs, database: &DatabaseArgs) -> Database {
    if let Err(why) = telemetry::init(log.log_format, &log.log) {
        refuse(why);
    }
    database.read().unwrap_or_else(|error| refuse(error))
}

/// Brings the database to this release.
///
/// # Errors
/// When it cannot be opened or migrated.
pub(crate) async fn migrate(config: &Migrate) -> anyhow::Result<()> {
    let database = start(&config.log, &config.database);
    database.migrate().await?;
    tracing::info!("the database is of this release");
    Ok(())
}

/// Prints what happened to the games that were played under a code, those that ended last first.
///
/// # Errors
/// When there is no such game, the database is not there, or cannot be opened or read, or standard output is closed.
pub(crate) async fn timeline(config: &Timeline) -> anyhow::Result<()> {
    let database = start(&config.log, &config.database);
    database.must_exist()?;
    let store = database.open(1, None).await?;
    let timelines = store.timelines(None, TimelinesOf::Code(config.code)).await;
    store.close().await;
    let timelines = timelines?;
    anyhow::ensure!(
        !timelines.is_empty(),
        "no game that was played under {code} is kept here; of one that is in play, a game server tells: game-server timeline {code}",
        code = config.code
    );
    let mut out = std::io::stdout().lock();
    for timeline in timelines {
        serde_json::to_writer_pretty(&mut out, &timeline)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Serves until a signal asks for the end.
///
/// # Errors
/// When something cannot be opened or bound; afterwards failures are handled where they happen.
pub(crate) async fn serve(prepared: Prepared) -> anyhow::Result<()> {
    let Prepared {
        config,
        database,
        redis,
        mailer,
        keys,
        secrets,
    } = prepared;
    // First, so that a signal during the start is answered by a stop and not by a death.
    let mut shutdown = Shutdown::on_signals().context("handle signals")?;
    let health = runtime::admin::start(config.admin_listen)?;
    let shared = sharing::open(&database, redis.as_ref());
    let permits = match &database {
        _ if config.measure_without_admission => u32::MAX,
        Database::Sqlite(_) => PERMITS_DEFAULT,
        Database::Postgres(_) => permits_over(config.database_connections),
    };
    warn_of_measuring(&config);
    let patience = config.measure_without_admission.then_some(UNADMITTED_ACQUIRE_MAX);
    let store = database.open(config.database_connections, patience).await?;
    let api = Api::open(api_config(&config, permits), Arc::clone(&store), keys).sharing(shared);
    let api = api.mailing_by(mailer, config.public_url.as_deref());
    let site = Router::new().nest(STORE, api.router()).merge(api::web_router());

    let public = bind("--listen", config.listen)?;
    let internal = bind("--internal-listen", config.internal_listen)?;
    let (public_bound, internal_bound) = (public.local_addr()?, internal.local_addr()?);
    let capacity = descriptors::client_capacity()?;
    let internal_max = INTERNAL_CONNECTIONS_MAX.min(capacity / 2);
    let options = |connections_max| Options {
        connections_max,
        shared: false,
        tls: None,
        drain: DRAIN,
    };
    let served = tokio::spawn(runtime::http::serve(
        public,
        site,
        options(CONNECTIONS_MAX.min(capacity - internal_max)),
        shutdown.clone(),
    ));
    let served_internally = tokio::spawn(runtime::http::serve(
        internal,
        api.internal_router(&secrets),
        options(internal_max),
        shutdown.clone(),
    ));
    health.set_ready(true);
    let watched = tokio::spawn(watch::database(
        Arc::clone(&store),
        health.clone(),
        shutdown.clone(),
    ));
    tracing::info!(bound = %public_bound, internal = %internal_bound, "listening");

    shutdown.asked().await;
    // It ends at the same signal, and has then said that this process is not ready.
    watched.await.context("the watch over the database")?;
    served.await.context("the listener")?;
    served_internally.await.context("the internal listener")?;
    store.close().await;
    tracing::info!("stopped");
    Ok(())
}

fn api_config(config: &Serve, permits: u32) -> api::Config {
    let https = config
        .public_url
        .as_ref()
        .is_some_and(|url| url.starts_with("https://"));
    api::Config {
        public_url_is_https: https,
        mount_prefix: STORE.to_owned(),
        origins: config.public_url.iter().cloned().collect(),
        permits,
        teacher_requests_max: config.teacher_requests_max,
        teacher_games_max: config.teacher_games_max,
        address_sign_ins_max: config.address_sign_ins_max,
        trusted_proxies: config.trust_forwarded.clone(),
        call_delay: Duration::from_millis(config.measure_call_delay_ms.unwrap_or(0)),
    }
}

/// What only measurements ask for must not stay unnoticed in service.
fn warn_of_measuring(config: &Serve) {
    if config.measure_without_admission {
        tracing::warn!(
            "--measure-without-admission: nothing keeps this process from collapsing under load; for measurements only"
        );
    }
    if let Some(delay_ms) = config.measure_call_delay_ms {
        tracing::warn!(
            delay_ms,
            "--measure-call-delay-ms: every call is made slow; for measurements only"
        );
    }
}

fn bind(flag: impl Display, address: std::net::SocketAddr) -> anyhow::Result<TcpListener> {
    runtime::http::bind(address, false).with_context(|| format!("listen on {address} ({flag})"))
}
