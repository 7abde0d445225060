//! The command line: what can be asked for, checked before anything runs.
//!
//! Exit codes: 0 passed, 1 a bar was missed or something was wrong, 64 bad configuration, 69 the run could not be
//! carried out.

mod api;
mod classes;
mod common;
mod faults;
mod floor;
mod records;
mod run;
mod scenario;
mod topology;
mod under;
mod up;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::report::Console;
use crate::scenario::ScenarioError;
use crate::sys::signals;

/// Exit code: a bar was missed or something was wrong.
const FAILED: u8 = 1;
/// Exit code: bad configuration (`EX_USAGE`).
const BAD_CONFIGURATION: u8 = 64;
/// Exit code: the run could not be carried out (`EX_UNAVAILABLE`).
const UNAVAILABLE: u8 = 69;

/// Load harness of Homeroom: plays whole classes over the public protocol and judges what it saw.
#[derive(Debug, Parser)]
#[command(name = "load", version, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Starts servers as processes of their own, prints their addresses, restarts them as a cluster would, stops them on
    /// ctrl-c.
    Up(up::UpArgs),
    /// Runs a scenario.
    #[command(subcommand)]
    Run(Box<scenario::Scenario>),
    /// Measures the least that the machine takes to write one frame to every socket.
    Floor(floor::FloorArgs),
    /// Puts the segments of one run together and judges them, in any order.
    Merge(records::MergeArgs),
    /// Becomes a program that the kernel kills when the process that asked for it ends, however that ends.
    #[command(hide = true, name = under::NAME)]
    Under(under::UnderArgs),
    /// Writes results as Markdown, verdict first, a baseline beside them.
    Report(records::ReportArgs),
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
    if let Command::Under(args) = &cli.command {
        return under::become_program(args, &mut console);
    }
    under::offer();
    if let Err(error) = signals::take_over() {
        console.complain(&format!("load: signals: {error}"));
        return ExitCode::from(UNAVAILABLE);
    }
    let outcome = match &cli.command {
        Command::Up(args) => up::up(args, &mut console),
        Command::Run(scenario) => run::run(scenario, &mut console),
        Command::Floor(args) => floor::floor(args, &mut console),
        Command::Merge(args) => records::merge(args, &mut console),
        // Nothing of this program is left of it by now.
        Command::Under(_) => Ok(true),
        Command::Report(args) => records::report(args, &mut console),
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

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::unavailable(error)
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
            "load run bigroom --target ftp://127.0.0.1",
            "load run idle --target http://127.0.0.1:1",
            "load run idle --up --pid 3",
            "load run nine",
            "load run overload --target http://127.0.0.1:1 --servers http://127.0.0.1:2",
            "load run kill --up --cut --freeze",
            "load run scale --up --classes 1",
            "load run rolling --up --rounds 0",
            "load merge",
            "load report --baseline x",
            "load up --proxies two",
            "load up --store valkey",
            "load up --games 2 --bin homeroom",
            "load up --topology ring",
            "load floor --sockets 0",
        ] {
            assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }
}
