//! Arguments of the scenarios in which classes play undisturbed, and their plans.

use clap::Args;

use super::common::Common;
use crate::client::Target;
use crate::plan::{Pace, Plan, QUESTIONS};
use crate::scenario::{idle, ramp, reconnect};

/// Players of a room: what one game holds.
const ROOM_MAX: u32 = 500;

#[derive(Debug, Args)]
pub(super) struct BigroomArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// Players of each room, 1 to 500. [default: 50,100,250,500, with --short 30,60]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=i64::from(ROOM_MAX)))]
    sizes: Vec<u32>,
    /// Questions of the reference quiz that are played. [default: 20, with --short 5]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=i64::from(QUESTIONS)))]
    questions: Option<u16>,
    /// Answers after 0.1 to 1 s instead of 2 to 15 s, and everything else as much faster.
    #[arg(long)]
    fast: bool,
    /// Small rooms, few questions and a fast pace: half a minute.
    #[arg(long)]
    short: bool,
}

#[derive(Debug, Args)]
pub(super) struct IdleArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// Sockets to hold. [default: 10000, with --short 1000]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=19_000))]
    sockets: Option<u32>,
    /// Sockets opened in a second. [default: 100, with --short 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=5_000))]
    connects_per_s: Option<u64>,
    /// Fewer sockets, held for a moment only: ten seconds.
    #[arg(long)]
    short: bool,
    /// Players of each lobby, 1 to 500.
    #[arg(long, default_value_t = ROOM_MAX, value_parser = clap::value_parser!(u32).range(1..=i64::from(ROOM_MAX)))]
    per_game: u32,
    /// Processes of the servers, whose memory is read, all that the sockets end at. [required with --target]
    #[arg(
        long,
        value_name = "PID",
        value_delimiter = ',',
        required_unless_present = "up",
        conflicts_with = "up"
    )]
    pub(super) pid: Vec<u32>,
}

#[derive(Debug, Args)]
pub(super) struct RampArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// Classes of 30 in the last stage. [default: 960, with --short 96]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(ramp::CLASSES_MAX)))]
    classes: Option<u32>,
    /// Stages, in equal steps up to all classes.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=i64::from(ramp::STAGES_MAX)))]
    stages: u32,
    /// About a minute at ten times the pace, instead of 27 minutes.
    #[arg(long)]
    short: bool,
    /// Each stage climbs for this long, in seconds, instead of 180, or 8 with --short; at least 31, or 3, since no class begins
    /// before its students have joined.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    climb: Option<u64>,
    /// Each stage holds for this long, in seconds, instead of 360, or 36 for all stages together with --short.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=36_000))]
    hold: Option<u64>,
    /// Every connection goes to the next game server, whoever has the game: what a balancer without stickiness does.
    #[arg(long)]
    pub(super) round_robin: bool,
    /// Admin addresses of all game servers, whose metrics tell how the games are spread behind a proxy.
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    pub(super) admin: Vec<Target>,
}

impl IdleArgs {
    pub(super) fn timing(&self) -> idle::Timing {
        let timing = if self.short {
            idle::Timing::SHORT
        } else {
            idle::Timing::FULL
        };
        idle::Timing {
            connects_per_s: self.connects_per_s.unwrap_or(timing.connects_per_s),
            ..timing
        }
    }
}

impl RampArgs {
    pub(super) fn stages(&self) -> ramp::Stages {
        let classes = self.classes.unwrap_or(if self.short { 96 } else { 960 });
        let mut stages = if self.short {
            ramp::Stages::short(classes, self.stages)
        } else {
            ramp::Stages::lesson(classes, self.stages)
        };
        stages.climb_ms = self.climb.map_or(stages.climb_ms, |s| s * 1_000);
        stages.hold_ms = self.hold.map_or(stages.hold_ms, |s| s * 1_000);
        stages
    }
}

#[derive(Debug, Args)]
pub(super) struct ReconnectArgs {
    #[command(flatten)]
    pub(super) common: Common,
    /// Classes of 30. [default: 300, with --short 30]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=600))]
    classes: Option<u32>,
    /// Fewer classes, in half the time.
    #[arg(long)]
    short: bool,
}

impl ReconnectArgs {
    pub(super) const fn timing(&self) -> reconnect::Timing {
        if self.short {
            reconnect::Timing::SHORT
        } else {
            reconnect::Timing::FULL
        }
    }
}

pub(super) fn reconnect_plan(args: &ReconnectArgs) -> Plan {
    let classes = args.classes.unwrap_or(if args.short { 30 } else { 300 });
    let sizes = vec![ramp::CLASS_SIZE; crate::sys::index(classes)];
    let pace = if args.short {
        reconnect::PACE_SHORT
    } else {
        reconnect::PACE
    };
    Plan::new(args.common.seed, pace, reconnect::QUESTIONS, sizes)
}

pub(super) fn bigroom_plan(args: &BigroomArgs) -> Plan {
    let (sizes, questions): (&[u32], u16) = if args.short {
        (&[30, 60], 5)
    } else {
        (&[50, 100, 250, 500], QUESTIONS)
    };
    let sizes = if args.sizes.is_empty() { sizes } else { &args.sizes };
    Plan::new(
        args.common.seed,
        if args.fast || args.short {
            Pace::FAST
        } else {
            Pace::LESSON
        },
        args.questions.unwrap_or(questions),
        sizes.to_vec(),
    )
}

pub(super) fn idle_plan(args: &IdleArgs) -> Plan {
    let sockets = args.sockets.unwrap_or(if args.short { 1_000 } else { 10_000 });
    let (full, rest) = (sockets / args.per_game, sockets % args.per_game);
    let sizes = (0..full)
        .map(|_| args.per_game)
        .chain((rest > 0).then_some(rest))
        .collect();
    Plan::new(args.common.seed, Pace::FAST, 0, sizes)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::scenario::Scenario;
    use crate::cli::{Cli, Command};

    #[test]
    fn good_command_lines_become_plans() {
        let parse = |line: &str| Cli::try_parse_from(line.split(' ')).map(|cli| cli.command);
        let run = |line: &str| match parse(line) {
            Ok(Command::Run(scenario)) => *scenario,
            other => panic!("{other:?}"),
        };
        let Scenario::Bigroom(args) = run("load run bigroom --up --sizes 8,16 --fast --seed 5") else {
            panic!("refused");
        };
        let plan = bigroom_plan(&args);
        assert_eq!(
            (plan.seed, plan.pace.name, plan.questions, plan.sizes),
            (5, "fast", 20, vec![8, 16])
        );
        let Scenario::Idle(args) = run("load run idle --target http://127.0.0.1:1 --pid 1 --sockets 1200")
        else {
            panic!("refused");
        };
        assert_eq!(idle_plan(&args).sizes, [500, 500, 200]);
        assert_eq!(args.timing().connects_per_s, 100);
        let Scenario::Bigroom(args) = run("load run bigroom --up --short") else {
            panic!("refused");
        };
        let plan = bigroom_plan(&args);
        assert_eq!(
            (plan.pace.name, plan.questions, plan.sizes),
            ("fast", 5, vec![30, 60])
        );
    }
}
