//! What keeps live games, as the flags say, and bringing those back that a run before this one had.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use game_server::{GameLog, GameServer, Leases, MemoryLog, RedisConfig, RedisLog, Restoration, StoreId};
use runtime::files;
use uuid::Uuid;

use crate::cli::Config;

/// Bytes of a URL's file at most: far more than hosts and passwords have.
const URL_BYTES_MAX: u64 = 4 * 1024;
/// Bytes of certificates at most: the systems' own bundles have 0.2 MB.
const CERTIFICATES_BYTES_MAX: u64 = 1024 * 1024;
/// Pause before the list of games is asked for again, after Redis gave none: a failover takes some seconds.
const AGAIN: Duration = Duration::from_millis(500);

/// What keeps live games.
pub(crate) enum Store {
    /// This process's memory.
    Memory,
    /// Redis.
    Redis(RedisConfig),
}

/// An open one.
pub(crate) enum Opened {
    /// Nothing is left of a run before this one.
    Memory(MemoryLog),
    /// It connects by itself.
    Redis(RedisLog),
}

impl Store {
    /// Reads what the flags say of it.
    ///
    /// # Errors
    /// When a file cannot be read, or the URL names no Redis.
    pub(crate) fn prepare(config: &Config) -> anyhow::Result<Self> {
        let redis = match (&config.redis, &config.redis_file) {
            (Some(url), _) => {
                let redis = RedisConfig::parse(url).context("--redis")?;
                // Whoever may list processes sees flags.
                ensure!(
                    !redis.has_password(),
                    "--redis holds a password; put the URL into a file, and name that with --redis-file"
                );
                redis
            }
            (None, Some(file)) => {
                read_url(file).with_context(|| format!("--redis-file {}", file.display()))?
            }
            (None, None) => {
                ensure!(
                    config.redis_ca.is_none(),
                    "--redis-ca needs --redis or --redis-file"
                );
                return Ok(Self::Memory);
            }
        };
        let Some(file) = &config.redis_ca else {
            return Ok(Self::Redis(redis));
        };
        if !redis.has_tls() {
            bail!("--redis-ca needs a URL that begins with rediss");
        }
        let redis = files::read(file, CERTIFICATES_BYTES_MAX)
            .context("read it")
            .and_then(|pem| Ok(redis.trusting(&pem)?))
            .with_context(|| format!("--redis-ca {}", file.display()))?;
        Ok(Self::Redis(redis))
    }

    /// Opens it; Redis may be away.
    pub(crate) fn open(self) -> Opened {
        match self {
            Self::Memory => {
                tracing::warn!(
                    "no --redis is given: games live in memory only, and end when this process does"
                );
                let log = MemoryLog::new();
                // Not that of a run before this one, so that its games are known to be lost.
                log.come_back(StoreId::new(Uuid::new_v4().to_string()));
                Opened::Memory(log)
            }
            Self::Redis(config) => Opened::Redis(RedisLog::new(config)),
        }
    }
}

fn read_url(file: &Path) -> anyhow::Result<RedisConfig> {
    let text = files::read(file, URL_BYTES_MAX).context("read it")?;
    let url = std::str::from_utf8(&text).context("read it")?;
    Ok(RedisConfig::parse(url.trim())?)
}

impl Opened {
    /// As the game server sees it.
    pub(crate) fn log(&self) -> Arc<dyn GameLog> {
        match self {
            Self::Memory(log) => Arc::new(log.clone()),
            Self::Redis(log) => Arc::new(log.clone()),
        }
    }

    /// Where servers that share it find each other; none when only this process can reach it.
    pub(crate) fn leases(&self) -> Option<Arc<dyn Leases>> {
        match self {
            Self::Memory(_) => None,
            Self::Redis(log) => Some(Arc::new(log.clone())),
        }
    }

    /// Brings games back, however long Redis is away: a server that does not know its games would tell their players that there
    /// are none, and could start no new one either.
    pub(crate) async fn bring_back(&self, server: &GameServer) {
        let Self::Redis(log) = self else {
            return;
        };
        let mut store = log.store();
        tracing::info!("asking Redis for the games of the last run; not ready before that");
        loop {
            // An error means that nobody connects any more, which does not happen while there is a log; the pause below keeps
            // such a loop from spinning.
            let _connected = store.wait_for(Option::is_some).await;
            match server.restore_own().await {
                Ok(Restoration {
                    restored,
                    unreadable,
                    left,
                }) => {
                    tracing::info!(restored, unreadable, left, "games of the last run");
                    return;
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(error, "Redis does not list its games, asking again");
                }
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}
