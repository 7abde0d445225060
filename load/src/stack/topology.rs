//! Which processes a stack has.

use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

use super::StackError;
use super::commands;

/// Game servers at most: each takes a share of the machine's two cores and ports.
const GAMES_MAX: u32 = 16;
/// APIs at most.
const APIS_MAX: u32 = 8;
/// Proxies at most.
const PROXIES_MAX: u32 = 8;
/// Oldest Redis: the first with functions.
const REDIS_VERSION_MIN: u32 = 7;

/// The processes of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topology {
    /// Everything in one process, `homeroom`.
    One {
        /// Its binary.
        binary: PathBuf,
    },
    /// Game servers and APIs as processes of their own.
    Separate {
        /// Where their binaries are.
        directory: PathBuf,
        /// Game servers.
        games: u32,
        /// APIs; the first is the one that clients are sent to when there is no proxy.
        apis: u32,
        /// Proxies before all of them; none, and clients are sent to the servers themselves.
        proxies: Proxies,
        /// Where the game servers keep their games.
        store: Store,
        /// Each game server has a network of its own, which can be cut.
        networks: bool,
        /// How the APIs are set.
        settings: Apis,
    },
}

/// The proxies of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Proxies {
    /// How many.
    pub number: u32,
    /// They speak TLS with clients.
    pub tls: bool,
}

/// The APIs' settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Apis {
    /// Where they keep everything.
    pub database: Database,
    /// Flags beside those that every one has.
    pub flags: Vec<String>,
    /// From this one on, by number, they agree by the Redis of the live games, if there is one; none does it otherwise.
    pub agree_from: Option<u32>,
}

/// Where APIs keep everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Database {
    /// A file.
    #[default]
    Sqlite,
    /// A PostgreSQL server, which is started with them.
    Postgres,
}

impl Apis {
    /// Whether API `number` agrees with others.
    pub(super) fn agrees(&self, number: u32) -> bool {
        self.agree_from.is_some_and(|from| number >= from)
    }
}

/// Where game servers keep their games.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Store {
    /// In their memory.
    Memory,
    /// In a Redis.
    Redis {
        /// Its binary; a bare name is looked for where the system's programs are.
        binary: PathBuf,
    },
}

impl Store {
    /// The Redis that is installed.
    #[must_use]
    pub fn redis() -> Self {
        Self::Redis {
            binary: PathBuf::from("redis-server"),
        }
    }

    /// A Redis must be there, and know the functions that game servers keep in it.
    fn check(&self) -> Result<(), StackError> {
        let Self::Redis { binary } = self else {
            return Ok(());
        };
        let path = || binary.clone();
        let asked = Command::new(binary).arg("--version").output();
        let output = asked.map_err(|source| StackError::NoRedis { path: path(), source })?;
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        match version(&words) {
            Some(found) if found >= REDIS_VERSION_MIN => Ok(()),
            Some(_) | None => Err(StackError::OldRedis {
                path: path(),
                words: words.trim().to_owned(),
            }),
        }
    }
}

/// The version in `Redis server v=7.2.4 sha=…`.
fn version(words: &str) -> Option<u32> {
    let (_, after) = words.split_once(" v=")?;
    after.split('.').next()?.parse().ok()
}

/// Why a topology is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// Too few or too many processes.
    #[error("{what} may be 1 to {max}")]
    Number {
        /// Of which.
        what: &'static str,
        /// The most.
        max: u32,
    },
    /// Proxies before the one process.
    #[error("--proxies needs separate processes behind it (--games N)")]
    NothingToProxy,
    /// TLS without proxies.
    #[error("--tls is what proxies speak (--proxies N)")]
    NothingForTls,
    /// Settings of APIs, and everything in one process.
    #[error("a database server and settings of APIs go with separate processes only (--games N)")]
    NoApis,
    /// A network to cut, and nobody beyond it.
    #[error("a network can be cut between separate processes only (--games N)")]
    NothingToCut,
}

impl Topology {
    /// `games` game servers and `apis` APIs with binaries in `directory`, games in `store`.
    ///
    /// # Errors
    /// Too few or too many of them.
    pub fn separate(directory: PathBuf, games: u32, apis: u32, store: Store) -> Result<Self, TopologyError> {
        for (what, number, max) in [("--games", games, GAMES_MAX), ("--apis", apis, APIS_MAX)] {
            if !(1..=max).contains(&number) {
                return Err(TopologyError::Number { what, max });
            }
        }
        Ok(Self::Separate {
            directory,
            games,
            apis,
            proxies: Proxies::default(),
            store,
            networks: false,
            settings: Apis::default(),
        })
    }

    /// The same with a network for each game server.
    ///
    /// # Errors
    /// Everything is in one process.
    pub fn with_networks(mut self) -> Result<Self, TopologyError> {
        match &mut self {
            Self::Separate { networks, .. } => *networks = true,
            Self::One { .. } => return Err(TopologyError::NothingToCut),
        }
        Ok(self)
    }

    /// The same with APIs that are set like this.
    ///
    /// # Errors
    /// Everything is in one process.
    pub fn with_apis(mut self, apis: Apis) -> Result<Self, TopologyError> {
        match &mut self {
            Self::Separate { settings, .. } => *settings = apis,
            Self::One { .. } if apis == Apis::default() => {}
            Self::One { .. } => return Err(TopologyError::NoApis),
        }
        Ok(self)
    }

    /// The same with proxies before it.
    ///
    /// # Errors
    /// Too many of them, none that could speak TLS, or everything is in one process.
    pub fn with_proxies(mut self, wanted: Proxies) -> Result<Self, TopologyError> {
        match &mut self {
            _ if wanted.tls && wanted.number == 0 => return Err(TopologyError::NothingForTls),
            Self::Separate { proxies, .. } if wanted.number <= PROXIES_MAX => *proxies = wanted,
            Self::Separate { .. } => {
                return Err(TopologyError::Number {
                    what: "--proxies",
                    max: PROXIES_MAX,
                });
            }
            Self::One { .. } if wanted.number == 0 => {}
            Self::One { .. } => return Err(TopologyError::NothingToProxy),
        }
        Ok(self)
    }

    /// Where binaries are when nobody says: beside this very one.
    #[must_use]
    pub fn default_directory() -> PathBuf {
        let own = std::env::current_exe().unwrap_or_default();
        own.parent().map(Path::to_owned).unwrap_or_default()
    }

    pub(super) fn check_binaries(&self) -> Result<(), StackError> {
        let binaries = match self {
            Self::One { binary } => vec![(binary.clone(), "homeroom")],
            Self::Separate {
                directory, proxies, ..
            } => [commands::API, commands::GAME, commands::PROXY]
                .into_iter()
                .filter(|package| *package != commands::PROXY || proxies.number > 0)
                .map(|package| (directory.join(package), package))
                .collect(),
        };
        match binaries.into_iter().find(|(path, _)| !path.is_file()) {
            Some((path, package)) => Err(StackError::NoBinary { path, package }),
            None => match self {
                Self::One { .. } => Ok(()),
                Self::Separate { store, .. } => store.check(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redis_tells_its_version() {
        let words = "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=62c3\n";
        assert_eq!(version(words), Some(7));
        assert_eq!(version("a shell"), None);
    }
}
