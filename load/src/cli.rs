//! The command line: what can be asked for, checked before anything runs.
//!
//! Exit codes: 0 passed, 1 a bar was missed or something was wrong, 64 bad configuration, 69 the run could not be
//! carried out.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::client::Target;
use crate::plan::{Pace, Plan, QUESTIONS};
use crate::report::{Console, Outcome, Results};
use crate::scenario::{ScenarioError, bigroom, idle};
use crate::stack::{self, Stack, StackError};
use crate::sys::{clock, limits, signals};

/// Exit code: a bar was missed or something was wrong.
const FAILED: u8 = 1;
/// Exit code: bad configuration (`EX_USAGE`).
const BAD_CONFIGURATION: u8 = 64;
/// Exit code: the run could not be carried out (`EX_UNAVAILABLE`).
const UNAVAILABLE: u8 = 69;
/// `load up` looks this often whether it has to stop, in milliseconds.
const LOOK_MS: u64 = 100;
/// Players of a room: what one game holds.
const ROOM_MAX: u32 = 500;

/// Load harness of Homeroom: plays whole classes over the public protocol and judges what it saw.
#[derive(Debug, Parser)]
#[command(name = "load", version, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Starts a server of its own, prints its address, stops it on ctrl-c.
    Up(UpArgs),
    /// Runs a scenario.
    #[command(subcommand)]
    Run(Scenario),
}

#[derive(Debug, Args)]
struct UpArgs {
    /// Binary of the one-process server. [default: homeroom beside this program]
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Scenario {
    /// One game of each size, all questions, every player on a real socket: bytes, fan-out, scores.
    Bigroom(BigroomArgs),
    /// Players who sit in lobbies: memory of the server per socket.
    Idle(IdleArgs),
}

#[derive(Debug, Args)]
struct Common {
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
    /// Binary for --up. [default: homeroom beside this program]
    #[arg(long, value_name = "PATH", requires = "up")]
    bin: Option<PathBuf>,
    /// Seed of the plan.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Directory for results.json.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct BigroomArgs {
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
struct IdleArgs {
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

/// Tells why the command line was refused, or prints the help that was asked for.
#[must_use]
pub fn refuse(refused: &clap::Error) -> ExitCode {
    // Nothing is left to be done when even that cannot be printed.
    let _outcome = refused.print();
    if refused.use_stderr() {
        ExitCode::from(BAD_CONFIGURATION)
    } else {
        ExitCode::SUCCESS
    }
}

/// Does what was asked for.
#[must_use]
pub fn execute(cli: &Cli) -> ExitCode {
    let mut console = Console::new();
    if let Err(error) = signals::take_over() {
        console.complain(&format!("load: signals: {error}"));
        return ExitCode::from(UNAVAILABLE);
    }
    let outcome = match &cli.command {
        Command::Up(args) => up(args, &mut console),
        Command::Run(scenario) => run(scenario, &mut console),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FAILED),
        Err(failure) => {
            console.complain(&format!("load: {:#}", failure.why));
            ExitCode::from(failure.code)
        }
    }
}

/// Why nothing was measured.
struct Failure {
    code: u8,
    why: anyhow::Error,
}

impl Failure {
    fn configuration(why: impl Into<anyhow::Error>) -> Self {
        Self {
            code: BAD_CONFIGURATION,
            why: why.into(),
        }
    }

    fn unavailable(why: impl Into<anyhow::Error>) -> Self {
        Self {
            code: UNAVAILABLE,
            why: why.into(),
        }
    }
}

impl From<StackError> for Failure {
    fn from(error: StackError) -> Self {
        match error {
            StackError::NoBinary(_) => Self::configuration(error),
            StackError::Start(_) | StackError::Target(_) | StackError::NotUp(_) => Self::unavailable(error),
        }
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::unavailable(error)
    }
}

fn up(args: &UpArgs, console: &mut Console) -> Result<bool, Failure> {
    let mut stack = Stack::start(&args.bin.clone().unwrap_or_else(stack::default_binary))?;
    console.line(&format!(
        "{} (process {}); ctrl-c stops it",
        stack.target(),
        stack.pid()
    ));
    while stack.is_running() && !signals::stop_requested() {
        clock::pause_ms(LOOK_MS);
    }
    Ok(signals::stop_requested())
}

fn run(scenario: &Scenario, console: &mut Console) -> Result<bool, Failure> {
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
    let mut stack = match common.up {
        true => Some(Stack::start(
            &common.bin.clone().unwrap_or_else(stack::default_binary),
        )?),
        false => None,
    };
    let Some(target) = stack
        .as_ref()
        .map(Stack::target)
        .or(common.target.as_ref())
        .cloned()
    else {
        return Err(Failure::configuration(anyhow::anyhow!("give --target or --up")));
    };
    let outcome: Outcome = match scenario {
        Scenario::Bigroom(_) => bigroom::run(&target, &plan, console)?,
        Scenario::Idle(args) => {
            let pid = stack.as_ref().map(Stack::pid).or(args.pid);
            let pid = pid.ok_or_else(|| Failure::configuration(anyhow::anyhow!("give --pid or --up")))?;
            idle::run(&target, &plan, pid, idle::Timing::FULL, console)?
        }
    };
    if stack.as_mut().is_some_and(|s| !s.is_running()) {
        return Err(Failure::unavailable(anyhow::anyhow!(
            "the server ended during the run"
        )));
    }
    let results = Results::new(outcome, &plan, begun);
    results.print(console);
    if let Some(dir) = &common.out {
        let path = results.write(dir).map_err(Failure::unavailable)?;
        console.line(&format!("written to {}", path.display()));
    }
    Ok(results.passed())
}

fn bigroom_plan(args: &BigroomArgs) -> Plan {
    Plan {
        seed: args.common.seed,
        pace: if args.fast { Pace::FAST } else { Pace::LESSON },
        questions: args.questions,
        sizes: args.sizes.clone(),
    }
}

fn idle_plan(args: &IdleArgs) -> Plan {
    let full = args.sockets / args.per_game;
    let rest = args.sockets % args.per_game;
    let sizes = (0..full)
        .map(|_| args.per_game)
        .chain((rest > 0).then_some(rest))
        .collect();
    Plan {
        seed: args.common.seed,
        pace: Pace::FAST,
        questions: 0,
        sizes,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn bad_command_lines_are_refused() {
        for line in [
            "load run bigroom",
            "load run bigroom --up --target http://127.0.0.1:1",
            "load run bigroom --up --sizes 501",
            "load run bigroom --up --sizes 0",
            "load run bigroom --up --questions 21",
            "load run bigroom --target https://127.0.0.1",
            "load run idle --target http://127.0.0.1:1",
            "load run idle --up --pid 3",
            "load run nine",
        ] {
            assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }

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
