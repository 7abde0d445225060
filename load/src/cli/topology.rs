//! Which servers a command starts. What does not exist is refused with a word on what does.

use std::path::PathBuf;

use clap::Args;

use super::Failure;
use crate::stack::{Pauses, Stack, StackError, Store, Topology};

/// Servers to start.
#[derive(Debug, Args)]
pub(super) struct TopologyArgs {
    /// Game servers, 1 to 16, as processes of their own.
    #[arg(long, value_name = "N")]
    games: Option<u32>,
    /// APIs beside them, 1 to 8. [default: 1]
    #[arg(long, value_name = "N", requires = "games")]
    apis: Option<u32>,
    /// Where games are kept: embedded, or redis with --games, which starts the redis-server that is installed.
    #[arg(long, value_name = "STORE", default_value = "embedded", value_parser = kind)]
    store: Kind,
    /// What has ended is started again after so many milliseconds, each time. [default: 200 at first, twice as long each
    /// time up to 6,000, forgiven after 12 s of life; kill: 200]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(0..=60_000))]
    restart_after: Option<u64>,
    /// Proxies before them, up to 8; the members of a class are spread over them, and who comes back takes the next one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    proxies: u32,
    /// Binary of the server in one process, `homeroom`. [default: beside this program]
    #[arg(long, value_name = "PATH", conflicts_with = "games")]
    bin: Option<PathBuf>,
    /// Directory with the binaries of separate processes, `game-server`, `api` and `ingress-proxy`. [default: this program's]
    #[arg(long, value_name = "DIR", conflicts_with = "bin")]
    bin_dir: Option<PathBuf>,
}

/// Where games are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Embedded,
    Redis,
}

fn kind(text: &str) -> Result<Kind, String> {
    match text {
        "embedded" => Ok(Kind::Embedded),
        "redis" => Ok(Kind::Redis),
        other => Err(format!(
            "there is no store `{other}` to start here; there are `embedded`, a file of `homeroom` or the memory of each game server, and \
             `redis`"
        )),
    }
}

impl TopologyArgs {
    /// Whether there are several game servers that share a store.
    pub(super) fn is_cluster(&self) -> bool {
        self.store == Kind::Redis && self.games.is_some_and(|games| games > 1)
    }

    /// Proxies.
    pub(super) const fn proxies(&self) -> u32 {
        self.proxies
    }

    /// Processes but the store.
    pub(super) fn processes(&self) -> u32 {
        self.games
            .map_or(1, |games| games + self.apis.unwrap_or(1) + self.proxies)
    }

    /// Starts them: `games` game servers when nothing is said, one process when that is none; `pauses` likewise. With `networks`
    /// each game server has one of its own, which can be cut.
    pub(super) fn start(&self, games: Option<u32>, pauses: Pauses, networks: bool) -> Result<Stack, Failure> {
        let Self {
            store,
            proxies,
            bin,
            bin_dir,
            ..
        } = self;
        let kept = match store {
            Kind::Embedded => Store::Memory,
            Kind::Redis => Store::redis(),
        };
        let directory = bin_dir.clone().unwrap_or_else(Topology::default_directory);
        let topology = match self.games.or(games.filter(|_| bin.is_none())) {
            Some(games) => Topology::separate(directory, games, self.apis.unwrap_or(1), kept)
                .map_err(Failure::configuration)?,
            None if *store == Kind::Redis => {
                return Err(Failure::configuration(anyhow::anyhow!(
                    "--store redis goes with game servers as processes of their own (--games N); homeroom keeps its games in a file"
                )));
            }
            None => Topology::One {
                binary: bin.clone().unwrap_or_else(|| directory.join("homeroom")),
            },
        };
        let topology = topology.with_proxies(*proxies).map_err(Failure::configuration)?;
        let topology = match networks {
            true => topology.with_networks().map_err(Failure::configuration)?,
            false => topology,
        };
        let pauses = self.restart_after.map_or(pauses, Pauses::always);
        Ok(Stack::start(&topology, pauses)?)
    }
}

impl From<StackError> for Failure {
    fn from(error: StackError) -> Self {
        match error {
            StackError::NoBinary { .. } | StackError::NoRedis { .. } | StackError::OldRedis { .. } => {
                Self::configuration(error)
            }
            StackError::Start(_) | StackError::Target(_) | StackError::NotUp { .. } => {
                Self::unavailable(error)
            }
        }
    }
}
