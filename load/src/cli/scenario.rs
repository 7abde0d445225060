//! Which scenarios there are, and what each needs before it can begin.

use clap::Subcommand;

use super::api::ApiScenario;
use super::classes::{
    BigroomArgs, IdleArgs, RampArgs, ReconnectArgs, bigroom_plan, idle_plan, reconnect_plan,
};
use super::common::Common;
use super::faults::{KillArgs, RollingArgs, ScaleArgs};
use super::topology::Wanted;
use crate::plan::{Plan, Segment};
use crate::scenario::{kill, ramp, scale};
use crate::stack::Pauses;

#[derive(Debug, Subcommand)]
pub(super) enum Scenario {
    /// One game of each size, all questions, every player on a real socket: bytes, fan-out, scores.
    Bigroom(BigroomArgs),
    /// Players who sit in lobbies: memory of the server per socket.
    Idle(IdleArgs),
    /// Classes in stages: fan-out while they play, messages a second, games by server.
    Ramp(RampArgs),
    /// Every socket drops in an open question and comes back at once.
    Reconnect(ReconnectArgs),
    /// Game servers are killed at random instants while classes play, or frozen, or cut off: nothing that was acked as saved may be
    /// lost.
    Kill(KillArgs),
    /// Every process but the store is restarted by SIGTERM while classes play, one after the other, five times.
    Rolling(RollingArgs),
    /// One game server more and one less while classes play: who is disconnected.
    Scale(ScaleArgs),
    #[command(flatten)]
    Api(ApiScenario),
}

impl Scenario {
    pub(super) fn common(&self) -> &Common {
        match self {
            Self::Bigroom(args) => &args.common,
            Self::Idle(args) => &args.common,
            Self::Ramp(args) => &args.common,
            Self::Reconnect(args) => &args.common,
            Self::Kill(args) => &args.common,
            Self::Rolling(args) => &args.common,
            Self::Scale(args) => &args.common,
            Self::Api(scenario) => scenario.common(),
        }
    }

    pub(super) fn plan(&self) -> Plan {
        let plan = match self {
            Self::Bigroom(args) => bigroom_plan(args),
            Self::Idle(args) => idle_plan(args),
            Self::Ramp(args) => args.stages().plan(args.common.seed),
            Self::Reconnect(args) => reconnect_plan(args),
            Self::Kill(args) => args.plan(),
            Self::Rolling(args) => args.plan(),
            Self::Scale(args) => args.plan(),
            Self::Api(scenario) => scenario.definition().plan,
        };
        Plan {
            segment: self.common().segment,
            ..plan
        }
    }

    /// Whether networks are to be cut.
    const fn cuts(&self) -> bool {
        match self {
            Self::Kill(args) => args.cut,
            Self::Bigroom(_) | Self::Idle(_) | Self::Ramp(_) | Self::Reconnect(_) => false,
            Self::Rolling(_) | Self::Scale(_) | Self::Api(_) => false,
        }
    }

    /// Whether connections go to the next game server, whoever has the game.
    pub(super) const fn goes_in_turn(&self) -> bool {
        match self {
            Self::Ramp(args) => args.round_robin,
            Self::Bigroom(_) | Self::Idle(_) | Self::Reconnect(_) => false,
            Self::Kill(_) | Self::Rolling(_) | Self::Scale(_) | Self::Api(_) => false,
        }
    }

    /// The servers to start where nothing is said.
    pub(super) fn wanted(&self) -> Wanted {
        let pauses = match self {
            Self::Api(scenario) => return scenario.definition().servers,
            // Its kills are nobody's fault, and what they cost games is no matter of a supervisor's patience.
            Self::Kill(_) | Self::Rolling(_) | Self::Scale(_) => Pauses::always(200),
            Self::Bigroom(_) | Self::Idle(_) | Self::Ramp(_) | Self::Reconnect(_) => Pauses::CLUSTER,
        };
        Wanted {
            networks: self.cuts(),
            ..Wanted::one(pauses)
        }
    }

    /// Sockets that are open at the same time.
    pub(super) fn sockets(&self, plan: &Plan) -> u64 {
        match self {
            Self::Bigroom(_) => plan.sizes.iter().copied().max().map_or(0, u64::from),
            Self::Idle(_) | Self::Ramp(_) | Self::Reconnect(_) => ramp::sockets(plan),
            Self::Kill(args) => kill::sockets(args.timing()),
            Self::Rolling(args) => kill::sockets(args.timing()),
            Self::Scale(args) => scale::sockets(args.timing()),
            Self::Api(scenario) => scenario.definition().sockets,
        }
    }

    /// Why this cannot be done by a part of the processes, or with servers that are there.
    pub(super) fn objection(&self) -> Option<&'static str> {
        let common = self.common();
        match self {
            Self::Bigroom(_) | Self::Idle(_) if common.segment != Segment::WHOLE => {
                Some("this scenario is one process's; --segment goes with ramp and reconnect")
            }
            Self::Ramp(args) if args.round_robin && !(common.up && common.is_cluster()) => Some(
                "only game servers that share a store pass on what is not theirs: give --up --games 2 --store redis with --round-robin",
            ),
            Self::Ramp(args) if args.round_robin && common.has_proxies(1) => {
                Some("a proxy keeps classes together, which --round-robin does without: leave --proxies out")
            }
            Self::Ramp(args) if !args.stages().begins() => Some(
                "no class can begin before its students have joined: give --climb at least 31 seconds, or 3 with --short",
            ),
            Self::Kill(args) => args.objection(),
            Self::Rolling(args) => args.objection(),
            Self::Scale(args) => args.objection(),
            Self::Api(scenario) => scenario.objection(),
            Self::Bigroom(_) | Self::Idle(_) | Self::Ramp(_) | Self::Reconnect(_) => None,
        }
    }
}
