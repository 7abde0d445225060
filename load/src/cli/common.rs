//! What every scenario is told: which servers, which seed, where the record goes.

use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;

use super::Failure;
use super::topology::{TopologyArgs, Wanted};
use crate::client::{GAME_PREFIX, STORE_PREFIX, Target, Targets};
use crate::plan::Segment;
use crate::stack::{REDIS, Stack};
use crate::sys::redis::Redis;
use crate::verdict::monitor::{Process, Processes};

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("where").required(true).args(["up", "target", "servers"])))]
pub(super) struct Common {
    /// Servers to run against, as http://HOST:PORT.
    #[arg(long, value_name = "URL")]
    pub(super) target: Option<Target>,
    /// Game servers to address one by one; a class goes to the one that the hash of its code says.
    #[arg(long, value_name = "URL", value_delimiter = ',', requires = "api")]
    pub(super) servers: Vec<Target>,
    /// The API, with --servers.
    #[arg(long, value_name = "URL", requires = "servers")]
    pub(super) api: Option<Target>,
    /// The Redis of these servers, as redis://HOST:PORT, whose bytes and commands are sampled; of several segments one is
    /// told.
    #[arg(long, value_name = "URL", conflicts_with = "up")]
    pub(super) redis: Option<String>,
    /// Before the paths of the game servers.
    #[arg(long, value_name = "PATH", default_value = GAME_PREFIX)]
    pub(super) game_prefix: String,
    /// Before the paths of the API.
    #[arg(long, value_name = "PATH", default_value = STORE_PREFIX)]
    pub(super) store_prefix: String,
    /// Starts a server for this run.
    #[arg(long)]
    pub(super) up: bool,
    #[command(flatten)]
    pub(super) topology: TopologyArgs,
    /// Seed of the plan.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// The part of the classes that this process plays, as PART/PARTS.
    #[arg(long, value_name = "PART/PARTS", default_value_t = Segment::WHOLE)]
    pub(super) segment: Segment,
    /// Directory for results.json.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
}

impl Common {
    pub(super) const fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) const fn segment(&self) -> Segment {
        self.segment
    }

    pub(super) const fn is_up(&self) -> bool {
        self.up
    }

    /// Whether several game servers that share a store are started.
    pub(super) fn is_cluster(&self) -> bool {
        self.topology.is_cluster()
    }

    /// Whether at least so many proxies are started.
    pub(super) const fn has_proxies(&self, number: u32) -> bool {
        self.topology.proxies() >= number
    }

    /// Processes that are started, but the store.
    pub(super) fn processes(&self) -> u32 {
        self.topology.processes()
    }

    /// Starts the servers, `wanted` where nothing is said; none when there are some.
    pub(super) fn start(&self, wanted: Wanted) -> Result<Option<Stack>, Failure> {
        self.up.then(|| self.topology.start(wanted)).transpose()
    }

    /// Where clients are to go; `in_turn` for game servers, whoever has the game.
    pub(super) fn targets(&self, stack: Option<&Stack>, in_turn: bool) -> Option<Targets> {
        let targets = match (stack, &self.target, &self.api) {
            (Some(stack), _, _) if in_turn => stack.targets_in_turn()?,
            (Some(stack), _, _) => stack.targets()?,
            (None, Some(target), _) => Targets::from(target.clone()),
            (None, None, Some(api)) => Targets::direct(self.servers.clone(), api.clone()),
            (None, None, None) => return None,
        };
        Some(targets.with_prefixes(&self.game_prefix, &self.store_prefix))
    }

    /// What is sampled beside the generator, and whether a store is among it.
    pub(super) fn sampled(&self, stack: Option<&Stack>) -> Result<(Processes, bool), Failure> {
        if let Some(stack) = stack {
            return Ok((stack.processes(), !stack.stores().is_empty()));
        }
        let Some(url) = &self.redis else {
            return Ok((Arc::new(Vec::new), false));
        };
        let redis =
            redis_at(url).map_err(|why| Failure::configuration(why.context(format!("--redis {url}"))))?;
        let sampled = move || {
            vec![Process {
                name: REDIS.to_owned(),
                pid: None,
                figures: redis.figures().unwrap_or_default(),
            }]
        };
        Ok((Arc::new(sampled), true))
    }
}

/// The Redis at a URL, which must tell its figures.
fn redis_at(url: &str) -> anyhow::Result<Redis> {
    let place = url
        .strip_prefix("redis://")
        .context("it must begin with redis://")?;
    let mut addresses = place
        .trim_end_matches('/')
        .to_socket_addrs()
        .context("it must be HOST:PORT")?;
    let redis = Redis::at(addresses.next().context("nobody has that name")?);
    redis.figures().context("it does not tell its figures")?;
    Ok(redis)
}
