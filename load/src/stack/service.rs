//! One process and who looks after it: a thread that probes it every second, kills it after three misses and starts it
//! again whenever it has ended, with a growing pause. That is what a cluster does with a container.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;

use nix::sys::signal::{self, Signal};
use nix::unistd::Pid;

use super::commands::Program;
use super::probe::Probe;
use crate::sys::clock::{self, Stamp};
use crate::sys::end::End;

/// A process that lives is probed this often, in milliseconds.
const PROBE_EVERY_MS: u64 = 1_000;
/// Probes missed in a row until it is killed.
const MISSES_MAX: u32 = 3;
/// Probes begin this long after a start, in milliseconds; a start that takes longer than the misses after it is no start.
const FIRST_PROBE_MS: u64 = 3_000;
/// How often a keeper that waits for nothing else looks whether it has to stop, in milliseconds.
const LOOK_MS: u64 = 20;
/// How often it does so while its process lives, in milliseconds. The end of the process wakes it at once; a wake-up every 20 ms of
/// three keepers was an eighth of all that a generator of 10,000 players used.
const LIVING_LOOK_MS: u64 = 200;
/// A process that was asked to stop is killed after this time, in milliseconds.
const STOP_MS_MAX: u64 = 10_000;
/// Restarts remembered: at the shortest pause an hour of them.
const RESTARTS_MAX: usize = 10_000;

/// Pauses before a process is started again, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pauses {
    /// The first; each one after it is twice as long.
    pub first_ms: u64,
    /// The longest.
    pub longest_ms: u64,
    /// A process that has lived this long is forgiven its past.
    pub forgiven_ms: u64,
}

impl Pauses {
    /// As a cluster does it, fifty times as fast: Kubernetes begins at 10 s, goes to five minutes and forgives after ten,
    /// for which a run has no patience.
    pub const CLUSTER: Self = Self {
        first_ms: 200,
        longest_ms: 6_000,
        forgiven_ms: 12_000,
    };

    /// The same pause each time, for who kills processes that did nothing wrong.
    #[must_use]
    pub const fn always(ms: u64) -> Self {
        Self {
            first_ms: ms,
            longest_ms: ms,
            forgiven_ms: 0,
        }
    }
}

/// Why a process was started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It had ended.
    Ended,
    /// It had missed its probes and was killed.
    Silent,
}

/// One restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restart {
    /// When the process was found dead.
    pub at: Stamp,
    /// Why.
    pub cause: Cause,
    /// Whether it was asked for, by a signal through [`Handle::signal`].
    pub expected: bool,
}

#[derive(Debug, Default)]
struct State {
    pid: Option<u32>,
    expected: u32,
    restarts: Vec<Restart>,
    stopping: bool,
    held: bool,
}

/// What others may know of a process, and do to it.
#[derive(Debug, Clone)]
pub struct Handle {
    program: Arc<Program>,
    state: Arc<Mutex<State>>,
}

/// A process that is looked after. Dropping it stops the process.
#[derive(Debug)]
pub struct Service {
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Handle {
    /// A poisoned lock is taken over: the state is whole after every statement.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The process's name, as a pod's.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.program.name
    }

    /// Where clients reach it.
    #[must_use]
    pub fn address(&self) -> String {
        self.program.address()
    }

    /// What it says of itself beside what the system says of it; nothing of most, and nothing while it is down.
    #[must_use]
    pub fn figures(&self) -> BTreeMap<String, u64> {
        match &self.program.probe {
            Probe::Http(_) | Probe::Postgres(..) => BTreeMap::new(),
            Probe::Redis(redis) => redis.figures().unwrap_or_default(),
        }
    }

    /// Makes a store's writes wait for `ms` milliseconds, and says whether it is one.
    ///
    /// # Errors
    /// It did not take that.
    pub fn hold_writes(&self, ms: u64) -> io::Result<bool> {
        match &self.program.probe {
            Probe::Http(_) | Probe::Postgres(..) => Ok(false),
            Probe::Redis(redis) => redis.hold_writes(ms).map(|()| true),
        }
    }

    /// Its id; none while it is down.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.lock().pid
    }

    /// Whether it runs and says that it takes work.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.pid().is_some() && self.program.probe.is_ready()
    }

    /// Sends a signal; the restart that follows one that ends the process, or stops it, is an expected one. Whether
    /// there was a process.
    pub fn signal(&self, signal: Signal) -> bool {
        let mut state = self.lock();
        let Some(pid) = state.pid.and_then(|pid| i32::try_from(pid).ok()) else {
            return false;
        };
        if matches!(
            signal,
            Signal::SIGKILL | Signal::SIGTERM | Signal::SIGINT | Signal::SIGQUIT | Signal::SIGSTOP
        ) {
            state.expected += 1;
        } else if signal == Signal::SIGCONT {
            state.expected = state.expected.saturating_sub(1);
        }
        signal::kill(Pid::from_raw(pid), signal).is_ok()
    }

    /// While it is held, nobody probes the process, and nobody starts it again when it has ended.
    pub fn hold(&self, held: bool) {
        self.lock().held = held;
    }

    fn is_held(&self) -> bool {
        self.lock().held
    }

    /// All restarts so far.
    #[must_use]
    pub fn restarts(&self) -> Vec<Restart> {
        self.lock().restarts.clone()
    }

    fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    fn note_restart(&self, cause: Cause) {
        let mut state = self.lock();
        state.pid = None;
        let expected = state.expected > 0;
        state.expected = state.expected.saturating_sub(1);
        if state.restarts.len() < RESTARTS_MAX {
            let at = clock::now();
            state.restarts.push(Restart { at, cause, expected });
        }
    }
}

impl Service {
    /// Starts `program`, whose output goes to `log`, and looks after it.
    ///
    /// # Errors
    /// The first start failed, or no thread can be had.
    pub(super) fn start(program: Program, log: &Path, pauses: Pauses) -> io::Result<Self> {
        let handle = Handle {
            program: Arc::new(program),
            state: Arc::default(),
        };
        let keeper = Keeper {
            handle: handle.clone(),
            log: log.to_owned(),
            pauses,
        };
        // The thread that looks after the process starts it: the kernel ends a process with the thread that started it.
        let (started, is_started) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name(format!("keep {}", handle.name()))
            .spawn(move || match spawn(&keeper.handle, &keeper.log) {
                Ok(child) => {
                    let _waited_for = started.send(Ok(()));
                    keeper.keep(child);
                }
                Err(error) => {
                    let _waited_for = started.send(Err(error));
                }
            })?;
        is_started
            .recv()
            .map_err(|_| io::Error::other("its keeper has failed"))??;
        Ok(Self {
            handle,
            thread: Some(thread),
        })
    }

    /// For whoever outlives this.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl std::ops::Deref for Service {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.handle.lock().stopping = true;
        if let Some(thread) = self.thread.take() {
            // A keeper that panicked has nothing left to stop.
            let _outcome = thread.join();
        }
    }
}

fn spawn(handle: &Handle, log: &Path) -> io::Result<Child> {
    let out = File::options().create(true).append(true).open(log)?;
    let also_out = out.try_clone()?;
    let mut state = handle.lock();
    let child = handle
        .program
        .command()
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(also_out)
        .spawn()?;
    state.pid = Some(child.id());
    Ok(child)
}

/// The thread of a service.
struct Keeper {
    handle: Handle,
    log: PathBuf,
    pauses: Pauses,
}

impl Keeper {
    fn keep(&self, mut child: Child) {
        let mut pause_ms = self.pauses.first_ms;
        loop {
            let started = clock::now();
            let Some(cause) = self.watch(&mut child, started) else {
                return stop(&mut child);
            };
            self.handle.note_restart(cause);
            if clock::now().since(started) > self.pauses.forgiven_ms * 1_000 {
                pause_ms = self.pauses.first_ms;
            }
            let Some(next) = self.restart(&mut pause_ms) else {
                return;
            };
            child = next;
        }
    }

    /// Until the process has ended or was killed for its silence; none when all of it has to stop.
    fn watch(&self, child: &mut Child, started: Stamp) -> Option<Cause> {
        let mut probe_at = started.plus_ms(FIRST_PROBE_MS);
        let mut misses = 0;
        let end = End::of(child);
        loop {
            if self.handle.is_stopping() {
                return None;
            }
            if !matches!(child.try_wait(), Ok(None)) {
                return Some(Cause::Ended);
            }
            if self.handle.is_held() {
                (probe_at, misses) = (clock::now().plus_ms(PROBE_EVERY_MS), 0);
            } else if clock::now() >= probe_at {
                probe_at = clock::now().plus_ms(PROBE_EVERY_MS);
                misses = match self.handle.program.probe.is_missed() {
                    true => misses + 1,
                    false => 0,
                };
                if misses >= MISSES_MAX {
                    // An error means that it has just ended.
                    let _killed = child.kill();
                    let _reaped = child.wait();
                    return Some(Cause::Silent);
                }
            }
            end.wait_ms(LIVING_LOOK_MS);
        }
    }

    /// Starts the process again after the pause; none when all of it has to stop.
    fn restart(&self, pause_ms: &mut u64) -> Option<Child> {
        loop {
            let at = clock::now().plus_ms(*pause_ms);
            *pause_ms = (*pause_ms * 2).min(self.pauses.longest_ms);
            while clock::now() < at || self.handle.is_held() {
                if self.handle.is_stopping() {
                    return None;
                }
                clock::pause_ms(LOOK_MS);
            }
            if let Ok(child) = spawn(&self.handle, &self.log) {
                return Some(child);
            }
        }
    }
}

fn stop(child: &mut Child) {
    if let Ok(pid) = i32::try_from(child.id())
        && matches!(child.try_wait(), Ok(None))
    {
        // A stopped process does not take SIGTERM before it goes on; errors mean that it has just ended.
        let _outcome = signal::kill(Pid::from_raw(pid), Signal::SIGTERM);
        let _outcome = signal::kill(Pid::from_raw(pid), Signal::SIGCONT);
    }
    let limit = clock::now().plus_ms(STOP_MS_MAX);
    while matches!(child.try_wait(), Ok(None)) && clock::now() < limit {
        clock::pause_ms(LOOK_MS);
    }
    let _killed = child.kill();
    let _reaped = child.wait();
}

#[cfg(test)]
mod tests;
