//! A program under this one: servers that were started for a run must not outlive it, even when it is killed and can stop nobody.
//! The kernel sees to that, when the program itself has asked for it; so each is started through this command, which asks
//! and then becomes the program, under the same process id.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Args;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::getppid;

use super::UNAVAILABLE;
use crate::report::Console;
use crate::stack;

/// Name of the command.
pub(super) const NAME: &str = "under";

#[derive(Debug, Args)]
pub(super) struct UnderArgs {
    /// Who asks.
    parent: i32,
    /// What to become.
    program: PathBuf,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// From now on servers are started through this program.
pub(super) fn offer() {
    if let Ok(own) = std::env::current_exe() {
        stack::start_under(own, NAME);
    }
}

/// Returns only when there is no such program, or nobody to be under. Signals are as they were: what it becomes would have
/// them ignored.
pub(super) fn become_program(args: &UnderArgs, console: &mut Console) -> ExitCode {
    let watched = prctl::set_pdeathsig(Signal::SIGKILL);
    // Who asked may have ended before the kernel was told to watch.
    let is_orphan = getppid().as_raw() != args.parent;
    let why = match watched {
        Ok(()) if is_orphan => "who asked for it has ended".to_owned(),
        Ok(()) => Command::new(&args.program)
            .args(&args.arguments)
            .exec()
            .to_string(),
        Err(error) => error.to_string(),
    };
    console.complain(&format!("load: {}: {why}", args.program.display()));
    ExitCode::from(UNAVAILABLE)
}
