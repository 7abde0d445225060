//! A network namespace of a run's own, in which it may make and cut networks.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Set in a process that is in a namespace of its own.
const MARK: &str = "HOMEROOM_LOAD_NETWORK";

/// Begins this very program anew in a network namespace of its own, unless it is in one. Needs root.
///
/// # Errors
/// It could not be begun; else this does not return, or only where it was begun.
pub fn enter() -> io::Result<()> {
    if std::env::var_os(MARK).is_some() {
        return Ok(());
    }
    let own = std::env::current_exe()?;
    let error = Command::new("unshare")
        .args(["--net", "--"])
        .arg(own)
        .args(std::env::args_os().skip(1))
        .env(MARK, "1")
        .exec();
    Err(error)
}
