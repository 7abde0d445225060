//! Striking the database server of a stack.

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

use super::service::Handle;
use super::{POSTGRES, Service, Stack};
use crate::scenario::storage::Database;

/// The database server of a stack.
#[derive(Debug, Clone)]
pub struct StruckDatabase(Handle);

impl Stack {
    /// Its database server; none when the APIs keep everything in a file.
    #[must_use]
    pub fn database(&self) -> Option<StruckDatabase> {
        self.service(POSTGRES).map(Service::handle).map(StruckDatabase)
    }
}

impl StruckDatabase {
    /// All of its processes: one that takes connections, and one that serves each of them.
    fn pids(&self) -> Result<Vec<i32>, String> {
        let server = self.0.pid().ok_or("the database server is down")?;
        let path = format!("/proc/{server}/task/{server}/children");
        let workers = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let all = workers.split_whitespace().map(str::parse);
        let own = i32::try_from(server).map_err(|_| "it has no id".to_owned())?;
        Ok(all.filter_map(Result::ok).chain([own]).collect())
    }
}

impl Database for StruckDatabase {
    /// By the signal at which it ends all of its processes and writes nothing. A kill of the first process alone would leave the others
    /// for a moment, in which it cannot be started again.
    fn kill(&self) -> Result<(), String> {
        match self.0.signal(Signal::SIGQUIT) {
            true => Ok(()),
            false => Err("the database server is down".to_owned()),
        }
    }

    fn freeze(&self, is_frozen: bool) -> Result<(), String> {
        let signal = match is_frozen {
            true => Signal::SIGSTOP,
            false => Signal::SIGCONT,
        };
        for pid in self.pids()? {
            // One that has ended since needs no signal.
            let _sent = signal::kill(Pid::from_raw(pid), signal);
        }
        Ok(())
    }
}
