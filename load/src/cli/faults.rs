//! Arguments of the scenarios that strike, stop and add processes, and what those processes have to be.

use clap::Args;

use super::Failure;
use super::common::Common;
use crate::plan::{Plan, Segment};
use crate::scenario::kill::{self, Blow};
use crate::scenario::scale;
use crate::sys::namespace;

/// Processes of a rolling restart at most: proxies, APIs and game servers.
const ROUNDS_MAX: i64 = 50;

#[derive(Debug, Args)]
pub(super) struct KillArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// Kills. [default: 50, with --short 5; with --freeze and --cut 10 and 2]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(kill::KILLS_MAX)))]
    kills: Option<u32>,
    /// Classes of 30 that play at the same time. [default: 64, with --short 16]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=300))]
    classes: Option<u32>,
    /// Fewer kills and classes.
    #[arg(long)]
    short: bool,
    /// A killed game server is started again only when everybody is back at another one.
    #[arg(long, conflicts_with_all = ["freeze", "cut"])]
    no_restart: bool,
    /// Game servers are stopped for 10 s and continued (SIGSTOP, SIGCONT) instead of being killed.
    #[arg(long, conflicts_with = "cut")]
    freeze: bool,
    /// The network of a game server drops every packet until everybody is back at another one. Needs root and iproute2; all of it
    /// happens in network namespaces of the run's own.
    #[arg(long)]
    pub(super) cut: bool,
    /// This process is in such a namespace already.
    #[arg(long, hide = true, requires = "cut")]
    in_own_network: bool,
}

/// [`KillArgs::in_own_network`] as a flag.
const IN_OWN_NETWORK: &str = "--in-own-network";

#[derive(Debug, Args)]
pub(super) struct RollingArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// Times that each process is restarted. [default: 5, with --short 1]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=ROUNDS_MAX))]
    rounds: Option<u32>,
    /// Classes of 30 that play at the same time. [default: 60, with --short 12]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=300))]
    classes: Option<u32>,
    /// One round with fewer classes.
    #[arg(long)]
    short: bool,
}

#[derive(Debug, Args)]
pub(super) struct ScaleArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// Times that a server comes and goes. [default: 3, with --short 1]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(scale::CYCLES_MAX)))]
    cycles: Option<u32>,
    /// Classes of 30 that play at the same time. [default: 60, with --short 16]
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=300))]
    classes: Option<u32>,
    /// Once, with fewer classes.
    #[arg(long)]
    short: bool,
}

/// Over this time the classes of a short run begin, in milliseconds; otherwise most of its blows would meet lobbies.
const SPREAD_SHORT_MS: u64 = 6_000;

impl KillArgs {
    pub(super) const fn blow(&self) -> Blow {
        match (self.no_restart, self.freeze, self.cut) {
            (true, _, _) => Blow::KillForGood,
            (_, true, _) => Blow::Freeze,
            (_, _, true) => Blow::Cut,
            (false, false, false) => Blow::Kill,
        }
    }

    /// Goes where networks may be made and cut.
    pub(super) fn enter_own_network(&self) -> Result<(), Failure> {
        if !self.cut || self.in_own_network {
            return Ok(());
        }
        let why = anyhow::Error::from(namespace::begin_anew(IN_OWN_NETWORK));
        let what = "--cut needs a network namespace of its own (root, unshare)";
        Err(Failure::configuration(why.context(what)))
    }

    pub(super) fn timing(&self) -> kill::Timing {
        let blow = self.blow();
        let kills = match (blow.is_silent(), self.short) {
            (false, false) => 50,
            (false, true) => 5,
            (true, false) => 10,
            (true, true) => 2,
        };
        let classes = if self.short { 16 } else { 64 };
        let timing = kill::Timing::full(blow, self.kills.unwrap_or(kills), self.classes.unwrap_or(classes));
        kill::Timing {
            spread_ms: if self.short {
                SPREAD_SHORT_MS
            } else {
                timing.spread_ms
            },
            ..timing
        }
    }

    pub(super) fn plan(&self) -> Plan {
        kill_plan(self.timing(), &self.common)
    }

    /// Why this cannot be done with the processes that were asked for.
    pub(super) fn objection(&self) -> Option<&'static str> {
        let common = &self.common;
        if let Some(why) = alone(common) {
            return Some(why);
        }
        if self.blow() != Blow::Kill && !common.is_cluster() {
            return Some(
                "games of a server that is gone are taken over by another one that shares its store: give --games 2 --store redis",
            );
        }
        None
    }
}

impl RollingArgs {
    /// `processes` are restarted in turn.
    pub(super) fn timing(&self) -> kill::Timing {
        let (rounds, classes) = if self.short { (1, 12) } else { (5, 60) };
        let restarts = self
            .rounds
            .unwrap_or(rounds)
            .saturating_mul(self.common.processes());
        let timing = kill::Timing::full(Blow::Stop, restarts, self.classes.unwrap_or(classes));
        kill::Timing {
            spread_ms: if self.short {
                SPREAD_SHORT_MS
            } else {
                timing.spread_ms
            },
            ..timing
        }
    }

    pub(super) fn plan(&self) -> Plan {
        kill_plan(self.timing(), &self.common)
    }

    pub(super) fn objection(&self) -> Option<&'static str> {
        let common = &self.common;
        let several = common.is_cluster() && common.has_proxies(2);
        alone(common).or((!several).then_some(
            "every process needs another one that stands in for it: give --games 2 --apis 2 --proxies 2 --store redis",
        ))
    }
}

impl ScaleArgs {
    pub(super) fn timing(&self) -> scale::Timing {
        let (cycles, classes, spread_ms) = match self.short {
            true => (1, 16, 2_000),
            false => (3, 60, 6_000),
        };
        scale::Timing {
            cycles: self.cycles.unwrap_or(cycles),
            classes: self.classes.unwrap_or(classes),
            spread_ms,
            calm_ms: scale::CALM_MS,
        }
    }

    pub(super) fn plan(&self) -> Plan {
        let seed = self.common.seed();
        self.timing()
            .plan(seed, scale::CLASS_SIZE, scale::PACE, scale::QUESTIONS)
    }

    pub(super) fn objection(&self) -> Option<&'static str> {
        let common = &self.common;
        let several = common.is_cluster() && common.has_proxies(1);
        alone(common).or((!several).then_some(
            "somebody has to find the server that comes: give --games 2 --proxies 1 --store redis, or more of them",
        ))
    }
}

fn kill_plan(timing: kill::Timing, common: &Common) -> Plan {
    timing.plan(common.seed(), kill::CLASS_SIZE, kill::PACE, kill::QUESTIONS)
}

/// Why it cannot be done by a part of the processes, or with servers that are there.
fn alone(common: &Common) -> Option<&'static str> {
    if common.segment() != Segment::WHOLE {
        return Some(
            "this scenario is one process's: it has to know what was in flight; --segment goes with ramp and reconnect",
        );
    }
    (!common.is_up()).then_some(
        "this scenario starts the servers that it kills, stops or adds: give --up, and --bin or --bin-dir for other binaries",
    )
}
