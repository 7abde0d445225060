//! `load up`: servers to play against by hand.

use std::path::PathBuf;

use clap::Args;

use super::Failure;
use crate::report::Console;
use crate::stack::{self, Stack};
use crate::sys::{clock, signals};

/// `load up` looks this often whether it has to stop, in milliseconds.
const LOOK_MS: u64 = 100;

#[derive(Debug, Args)]
pub(super) struct UpArgs {
    /// Binary of the one-process server. [default: homeroom beside this program]
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
}

/// Runs until a signal asks for the end.
pub(super) fn up(args: &UpArgs, console: &mut Console) -> Result<bool, Failure> {
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
