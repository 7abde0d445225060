//! Which Redis is meant, and what API processes agree on in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use api::{LocalShared, RedisShared, Shared, SharedRedis, SharedRedisError};
use runtime::files;
use thiserror::Error;

use crate::database::Database;

/// Bytes of a file with an address at most.
const FILE_BYTES_MAX: u64 = 4 * 1024;

/// Why a Redis cannot be used. Never repeats the address.
#[derive(Debug, Error)]
pub(crate) enum RedisError {
    /// It is no address.
    #[error("{flag} {why}")]
    Url {
        /// The flag.
        flag: &'static str,
        /// What is wrong with it.
        why: SharedRedisError,
    },
    /// Arguments and environment are seen by others.
    #[error(
        "--redis holds a password, which others can see: put the URL into a file, and name it by --redis-file"
    )]
    Password,
    /// The file cannot be read.
    #[error("--redis-file {path} cannot be read: {why}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
}

/// The Redis that is meant, if any.
///
/// # Errors
/// When it cannot be read, or is none.
pub(crate) fn read(url: Option<&str>, file: Option<&Path>) -> Result<Option<SharedRedis>, RedisError> {
    if let Some(file) = file {
        let text = files::read(file, FILE_BYTES_MAX).map_err(|why| RedisError::Unreadable {
            path: file.to_owned(),
            why,
        })?;
        let text = String::from_utf8_lossy(&text);
        return parse("--redis-file", text.trim()).map(Some);
    }
    match url.map(|url| parse("--redis", url)).transpose()? {
        Some(redis) if redis.has_password() => Err(RedisError::Password),
        redis => Ok(redis),
    }
}

fn parse(flag: &'static str, url: &str) -> Result<SharedRedis, RedisError> {
    SharedRedis::parse(url).map_err(|why| RedisError::Url { flag, why })
}

/// What the processes at this database agree on. Whoever is alone at a SQLite file agrees with itself.
pub(crate) fn open(database: &Database, redis: Option<&SharedRedis>) -> Arc<dyn Shared> {
    match (redis, database) {
        (Some(redis), _) => {
            tracing::info!(%redis, "agreeing with other processes");
            Arc::new(RedisShared::connect(redis))
        }
        (None, Database::Sqlite(_)) => Arc::new(LocalShared::alone()),
        (None, Database::Postgres(_)) => {
            tracing::warn!(
                "without --redis each process counts a teacher's calls for itself, and answers nothing from memory"
            );
            Arc::new(LocalShared::one_of_several())
        }
    }
}
