//! A network namespace of a run's own, in which it may make and cut networks.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Begins this very program anew in a network namespace of its own, with the same arguments and `flag` after them, which tells it
/// that it is there. Needs root. Returns only when that could not be done.
#[must_use]
pub fn begin_anew(flag: &str) -> io::Error {
    let own = match std::env::current_exe() {
        Ok(own) => own,
        Err(error) => return error,
    };
    Command::new("unshare")
        .args(["--net", "--"])
        .arg(own)
        .args(std::env::args_os().skip(1))
        .arg(flag)
        .exec()
}
