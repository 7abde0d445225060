//! Starts the servers under test as children, waits until they answer, stops them.

use std::fs::{self, File};
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;
use thiserror::Error;

use crate::client::{Http, Target, TargetError};
use crate::sys::{clock, signals};

/// A server answers within this time of its start or has failed, in milliseconds. Migrations are part of it.
const START_MS_MAX: u64 = 30_000;
/// A server that was asked to stop is killed after this time, in milliseconds.
const STOP_MS_MAX: u64 = 10_000;
/// How often a child is looked at, in milliseconds.
const LOOK_MS: u64 = 20;
/// A code that no game has; asking for it shows that the game server is there.
const PROBE: &str = "/game/status?g=222222";
/// Lines of the log shown when a start fails.
const LOG_LINES: usize = 15;

/// Why there is no stack.
#[derive(Debug, Error)]
pub enum StackError {
    /// The binary is missing.
    #[error("{0} does not exist; build it with: cargo build --release -p homeroom")]
    NoBinary(PathBuf),
    /// Temporary directory, log, port or process could not be had.
    #[error("start failed")]
    Start(#[source] io::Error),
    /// The address is no target.
    #[error("address is no target")]
    Target(#[source] TargetError),
    /// The server ended, or never answered.
    #[error("the server did not come up; its last words:\n{0}")]
    NotUp(String),
}

/// A running `homeroom` with a data directory of its own. Dropping it stops the process and removes the data.
#[derive(Debug)]
pub struct Stack {
    child: Child,
    target: Target,
    // Held for its drop.
    _data: tempfile::TempDir,
}

/// Where `homeroom` is when nobody says: beside this very binary.
#[must_use]
pub fn default_binary() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.with_file_name("homeroom")
}

impl Stack {
    /// Starts `binary` on a free port and waits until it answers.
    ///
    /// # Errors
    /// No binary, no process, or no answer in time.
    pub fn start(binary: &Path) -> Result<Self, StackError> {
        if !binary.is_file() {
            return Err(StackError::NoBinary(binary.to_owned()));
        }
        let data = tempfile::Builder::new()
            .prefix("homeroom-load-")
            .tempdir()
            .map_err(StackError::Start)?;
        let port = free_port().map_err(StackError::Start)?;
        let log = data.path().join("server.log");
        let out = File::create(&log).map_err(StackError::Start)?;
        let also_out = out.try_clone().map_err(StackError::Start)?;
        let address = format!("127.0.0.1:{port}");
        let child = Command::new(binary)
            .args(["--listen", &address, "--data-dir"])
            .arg(data.path().join("data"))
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(also_out)
            .spawn()
            .map_err(StackError::Start)?;
        let target = format!("http://{address}").parse().map_err(StackError::Target)?;
        let mut stack = Self {
            child,
            target,
            _data: data,
        };
        stack.wait_up(&log)?;
        Ok(stack)
    }

    /// Where it listens.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    fn wait_up(&mut self, log: &Path) -> Result<(), StackError> {
        let http = Http::new(self.target.clone());
        let limit = clock::now().plus_ms(START_MS_MAX);
        while self.is_running() && clock::now() < limit && !signals::stop_requested() {
            if http.get(PROBE, None).is_ok_and(|response| response.status < 500) {
                return Ok(());
            }
            clock::pause_ms(LOOK_MS);
        }
        let text = fs::read_to_string(log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        Err(StackError::NotUp(
            lines[lines.len().saturating_sub(LOG_LINES)..].join("\n"),
        ))
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.child.id())
            && self.is_running()
        {
            // An error means that the process has just ended.
            let _outcome = signal::kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let limit = clock::now().plus_ms(STOP_MS_MAX);
        while self.is_running() && clock::now() < limit {
            clock::pause_ms(LOOK_MS);
        }
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// A port that was free a moment ago.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_binary_says_how_to_build_it() {
        let error = Stack::start(Path::new("/nonexistent/homeroom")).expect_err("no such file");
        assert!(error.to_string().contains("cargo build --release -p homeroom"));
    }

    #[test]
    fn a_server_that_ends_at_once_is_told_with_its_last_words() {
        let error = Stack::start(Path::new("/bin/false")).expect_err("no server");
        assert!(matches!(error, StackError::NotUp(_)), "{error}");
    }
}
