//! What every scenario is told: which servers, which seed, where the record goes.

use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;

use super::Failure;
use super::topology::{TopologyArgs, Wanted};
use crate::client::{GAME_PREFIX, STORE_PREFIX, Target, Targets, Trust};
use crate::plan::Segment;
use crate::stack::{REDIS, Stack};
use crate::sys::redis::Redis;
use crate::verdict::monitor::{Process, Processes};

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("where").required(true).args(["up", "target", "servers"])))]
pub(super) struct Common {
    /// Servers to run against, as http://HOST:PORT or https://HOST:PORT; several are proxies, any of which will do.
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    pub(super) target: Vec<Target>,
    /// Game servers to address one by one; a class goes to the one that the hash of its code says.
    #[arg(long, value_name = "URL", value_delimiter = ',', requires = "api")]
    pub(super) servers: Vec<Target>,
    /// The API, with --servers.
    #[arg(long, value_name = "URL", requires = "servers")]
    pub(super) api: Option<Target>,
    /// Certificates to believe, as a PEM file, of servers that begin with https://.
    #[arg(long, value_name = "FILE", conflicts_with = "up")]
    pub(super) ca: Option<PathBuf>,
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
    ///
    /// # Errors
    /// Servers that speak TLS, and no certificates to believe.
    pub(super) fn targets(&self, stack: Option<&Stack>, in_turn: bool) -> Result<Targets, Failure> {
        let targets = match (stack, self.target.as_slice(), &self.api) {
            (Some(stack), _, _) if in_turn => stack.targets_in_turn(),
            (Some(stack), _, _) => stack.targets(),
            (None, [], Some(api)) => Some(Targets::direct(self.believed(&self.servers)?, api.clone())),
            (None, [], None) => None,
            (None, proxies, _) => {
                let proxies = self.believed(proxies)?;
                proxies
                    .first()
                    .cloned()
                    .map(|first| Targets::any_of(proxies, first))
            }
        };
        let targets = targets
            .ok_or_else(|| Failure::configuration(anyhow::anyhow!("give --target, --servers or --up")))?;
        Ok(targets.with_prefixes(&self.game_prefix, &self.store_prefix))
    }

    /// Servers, with the certificates to believe.
    fn believed(&self, servers: &[Target]) -> Result<Vec<Target>, Failure> {
        let Some(first) = servers.iter().find(|server| server.is_tls) else {
            return Ok(servers.to_vec());
        };
        let Some(file) = &self.ca else {
            return Err(Failure::configuration(anyhow::anyhow!(
                "{first} speaks TLS: give the certificates to believe (--ca FILE)"
            )));
        };
        let trust = Trust::read(file).with_context(|| format!("--ca {}", file.display()));
        let trust = trust.map_err(Failure::configuration)?;
        Ok(servers
            .iter()
            .map(|server| server.clone().trusting(&trust))
            .collect())
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
