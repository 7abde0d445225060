//! Which servers a command starts. What does not exist is refused with a word on what does.

use std::path::PathBuf;

use clap::Args;

use super::Failure;
use crate::stack::{Apis, Database, Pauses, Proxies, Stack, StackError, Store, Topology};

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
    /// [default: embedded, or what a scenario needs]
    #[arg(long, value_name = "STORE", value_parser = kind)]
    store: Option<Kind>,
    /// What has ended is started again after so many milliseconds, each time. [default: 200 at first, twice as long each
    /// time up to 6,000, forgiven after 12 s of life; kill: 200]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(0..=60_000))]
    restart_after: Option<u64>,
    /// Where APIs keep everything: sqlite, or postgres with --games, which starts the PostgreSQL that is installed. [default: sqlite, or
    /// what a scenario needs]
    #[arg(long, value_name = "DATABASE", value_parser = database)]
    database: Option<Database>,
    /// Proxies before them, up to 8; the members of a class are spread over them, and who comes back takes the next one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    proxies: u32,
    /// The proxies speak TLS with clients, with a certificate made for this run.
    #[arg(long)]
    tls: bool,
    /// Binary of the server in one process, `homeroom`. [default: beside this program]
    #[arg(long, value_name = "PATH", conflicts_with = "games")]
    bin: Option<PathBuf>,
    /// Directory with the binaries of separate processes, `game-server`, `api` and `ingress-proxy`. [default: this program's]
    #[arg(long, value_name = "DIR", conflicts_with = "bin")]
    bin_dir: Option<PathBuf>,
}

/// Where games are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Embedded,
    Redis,
}

/// What a command starts where nothing else is said.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// Game servers; none is one process that is everything.
    pub(super) games: Option<u32>,
    /// APIs; one when there is no number.
    pub(super) apis: Option<u32>,
    /// Where games are kept.
    pub(super) store: Kind,
    /// Between a process's end and its next start.
    pub(super) pauses: Pauses,
    /// Whether each game server has a network of its own, which can be cut.
    pub(super) networks: bool,
    /// How the APIs are set.
    pub(super) settings: Apis,
}

impl Wanted {
    /// One process, restarted after `pauses`.
    pub(super) fn one(pauses: Pauses) -> Self {
        Self {
            games: None,
            apis: None,
            store: Kind::Embedded,
            pauses,
            networks: false,
            settings: Apis::default(),
        }
    }
}

fn database(text: &str) -> Result<Database, String> {
    match text {
        "sqlite" => Ok(Database::Sqlite),
        "postgres" => Ok(Database::Postgres),
        other => Err(format!(
            "there is no database `{other}` to start here; there are `sqlite` and `postgres`"
        )),
    }
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
        self.store == Some(Kind::Redis) && self.games.is_some_and(|games| games > 1)
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

    /// Starts them, as `wanted` where nothing is said.
    pub(super) fn start(&self, wanted: Wanted) -> Result<Stack, Failure> {
        let topology = self.topology(&wanted)?;
        let topology = topology
            .with_proxies(Proxies {
                number: self.proxies,
                tls: self.tls,
            })
            .map_err(Failure::configuration)?;
        let mut settings = wanted.settings;
        settings.database = self.database.unwrap_or(settings.database);
        let topology = topology.with_apis(settings).map_err(Failure::configuration)?;
        let topology = match wanted.networks {
            true => topology.with_networks().map_err(Failure::configuration)?,
            false => topology,
        };
        let pauses = self.restart_after.map_or(wanted.pauses, Pauses::always);
        Ok(Stack::start(&topology, pauses)?)
    }

    fn topology(&self, wanted: &Wanted) -> Result<Topology, Failure> {
        let Self { bin, bin_dir, .. } = self;
        let store = self.store.unwrap_or(wanted.store);
        let kept = match store {
            Kind::Embedded => Store::Memory,
            Kind::Redis => Store::redis(),
        };
        let directory = bin_dir.clone().unwrap_or_else(Topology::default_directory);
        let apis = self.apis.or(wanted.apis).unwrap_or(1);
        match self.games.or(wanted.games.filter(|_| bin.is_none())) {
            Some(games) => Topology::separate(directory, games, apis, kept).map_err(Failure::configuration),
            None if store == Kind::Redis => Err(Failure::configuration(anyhow::anyhow!(
                "--store redis goes with game servers as processes of their own (--games N); homeroom keeps its games in a file"
            ))),
            None => Ok(Topology::One {
                binary: bin.clone().unwrap_or_else(|| directory.join("homeroom")),
            }),
        }
    }
}

impl From<StackError> for Failure {
    fn from(error: StackError) -> Self {
        match error {
            StackError::NoBinary { .. }
            | StackError::NoRedis { .. }
            | StackError::OldRedis { .. }
            | StackError::NoPostgres => Self::configuration(error),
            StackError::Start(_)
            | StackError::Target(_)
            | StackError::Database(_)
            | StackError::NotUp { .. } => Self::unavailable(error),
        }
    }
}
