//! `load run`: carries out a scenario between a verdict's watch and a record.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::Failure;
use super::topology::TopologyArgs;
use crate::client::{Target, Targets};
use crate::measure::FaultKind;
use crate::plan::{Pace, Plan, QUESTIONS};
use crate::report::{Console, Judgement, Record};
use crate::scenario::{ScenarioError, bigroom, idle};
use crate::stack::Stack;
use crate::sys::{clock, limits};
use crate::verdict::monitor::Processes;
use crate::verdict::{Monitor, Word};

/// Players of a room: what one game holds.
const ROOM_MAX: u32 = 500;

#[derive(Debug, Subcommand)]
pub(super) enum Scenario {
    /// One game of each size, all questions, every player on a real socket: bytes, fan-out, scores.
    Bigroom(BigroomArgs),
    /// Players who sit in lobbies: memory of the server per socket.
    Idle(IdleArgs),
}

#[derive(Debug, Args)]
pub(super) struct Common {
    /// Servers to run against, as http://HOST:PORT.
    #[arg(
        long,
        value_name = "URL",
        required_unless_present = "up",
        conflicts_with = "up"
    )]
    target: Option<Target>,
    /// Starts a server for this run.
    #[arg(long)]
    up: bool,
    #[command(flatten)]
    topology: TopologyArgs,
    /// Seed of the plan.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Directory for results.json.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct BigroomArgs {
    #[command(flatten)]
    common: Common,
    /// Players of each room, 1 to 500.
    #[arg(long, value_delimiter = ',', default_values_t = [50, 100, 250, 500],
          value_parser = clap::value_parser!(u32).range(1..=i64::from(ROOM_MAX)))]
    sizes: Vec<u32>,
    /// Questions of the reference quiz that are played.
    #[arg(long, default_value_t = QUESTIONS, value_parser = clap::value_parser!(u16).range(1..=i64::from(QUESTIONS)))]
    questions: u16,
    /// Answers after 0.1 to 1 s instead of 2 to 15 s, and everything else as much faster.
    #[arg(long)]
    fast: bool,
}

#[derive(Debug, Args)]
pub(super) struct IdleArgs {
    #[command(flatten)]
    common: Common,
    /// Sockets to hold.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=19_000))]
    sockets: u32,
    /// Players of each lobby, 1 to 500.
    #[arg(long, default_value_t = ROOM_MAX, value_parser = clap::value_parser!(u32).range(1..=i64::from(ROOM_MAX)))]
    per_game: u32,
    /// Process of the server, whose memory is read. [required with --target]
    #[arg(long, required_unless_present = "up", conflicts_with = "up")]
    pid: Option<u32>,
}

/// Runs a scenario; whether it passed.
pub(super) fn run(scenario: &Scenario, console: &mut Console) -> Result<bool, Failure> {
    let (common, plan) = match scenario {
        Scenario::Bigroom(args) => (&args.common, bigroom_plan(args)),
        Scenario::Idle(args) => (&args.common, idle_plan(args)),
    };
    let sockets = plan.sizes.iter().map(|&size| u64::from(size));
    let together = match scenario {
        Scenario::Bigroom(_) => sockets.max().unwrap_or(0),
        Scenario::Idle(_) => sockets.sum(),
    };
    limits::ensure_descriptors(together).map_err(|why| Failure::configuration(anyhow::anyhow!(why)))?;

    let begun = clock::unix_ms();
    let stack = match common.up {
        true => Some(common.topology.start(None)?),
        false => None,
    };
    let started = stack.as_ref().and_then(Stack::targets);
    let given = || common.target.clone().map(Targets::from);
    let Some(targets) = started.or_else(given) else {
        return Err(Failure::configuration(anyhow::anyhow!("give --target or --up")));
    };
    let server = stack.as_ref().and_then(|stack| stack.services().last()?.pid());
    let nobody: Processes = Arc::new(Vec::new);
    let processes = stack.as_ref().map_or(nobody, Stack::processes);
    let monitor = Monitor::start(plan.segment.index(), processes).map_err(Failure::unavailable)?;
    let played = match scenario {
        Scenario::Bigroom(_) => bigroom::run(&targets, &plan, console),
        Scenario::Idle(args) => {
            let pid = server.or(args.pid);
            let pid = pid.ok_or_else(|| Failure::configuration(anyhow::anyhow!("give --pid or --up")))?;
            idle::run(&targets, &plan, pid, idle::Timing::FULL, console)
        }
    };
    let outcome = match played {
        Ok(outcome) => outcome,
        Err(error) => return give_up(error, console),
    };
    let (machine, resources) = monitor.finish();
    let restarts = stack.as_ref().map_or(0, Stack::unexpected_restarts);
    let table = outcome.table.clone();
    let record = Record::of_run(outcome, &plan, begun, machine, resources, restarts);
    let judgement = Judgement::of(&record);
    judgement.print(&record, &table, console);
    if let Some(dir) = &common.out {
        let path = record.write(dir).map_err(Failure::unavailable)?;
        console.line(&format!("written to {}", path.display()));
    }
    Ok(judgement.is_good())
}

/// What ended a run that could not be carried out. When it was this machine's ports or descriptors, that is a verdict and
/// not a failure of the servers.
fn give_up(error: ScenarioError, console: &mut Console) -> Result<bool, Failure> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    let mut found = None;
    while let Some(error) = cause {
        found = found.or(error.downcast_ref().map(FaultKind::of_connect));
        cause = error.source();
    }
    let what = match found {
        Some(FaultKind::NoPort) => "a source port",
        Some(FaultKind::NoDescriptor) => "a descriptor",
        Some(_) | None => return Err(error.into()),
    };
    console.settle();
    console.line(&format!("verdict: {}", Word::Invalid));
    console.line(&format!(
        "  {}: {error} for want of {what}; nothing was measured",
        Word::Invalid
    ));
    Ok(false)
}

fn bigroom_plan(args: &BigroomArgs) -> Plan {
    Plan::new(
        args.common.seed,
        if args.fast { Pace::FAST } else { Pace::LESSON },
        args.questions,
        args.sizes.clone(),
    )
}

fn idle_plan(args: &IdleArgs) -> Plan {
    let full = args.sockets / args.per_game;
    let rest = args.sockets % args.per_game;
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
    use crate::cli::{Cli, Command};

    #[test]
    fn good_command_lines_become_plans() {
        let parse = |line: &str| Cli::try_parse_from(line.split(' ')).map(|cli| cli.command);
        let Ok(Command::Run(Scenario::Bigroom(args))) =
            parse("load run bigroom --up --sizes 8,16 --fast --seed 5")
        else {
            panic!("refused");
        };
        let plan = bigroom_plan(&args);
        assert_eq!(
            (plan.seed, plan.pace.name, plan.questions, plan.sizes),
            (5, "fast", 20, vec![8, 16])
        );
        let Ok(Command::Run(Scenario::Idle(args))) =
            parse("load run idle --target http://127.0.0.1:1 --pid 1 --sockets 1200")
        else {
            panic!("refused");
        };
        assert_eq!(idle_plan(&args).sizes, [500, 500, 200]);
    }
}
