//! Entry point: parses the command line, runs it, turns the outcome into an exit code.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match load::cli::Cli::try_parse() {
        Ok(cli) => load::cli::execute(&cli),
        Err(refused) => load::cli::refuse(&refused),
    }
}
