//! Watches the machine while a run lasts: a thread that asks to be woken every few milliseconds and is told how late it
//! was, and the kernel's counters before and after.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Machine;
use crate::measure::Micros;
use crate::report::{Resources, Sample};
use crate::sys::strangers::{CoreTicks, Ours};
use crate::sys::{clock, cpu, process};

/// How often the thread asks to be woken, in milliseconds: 25 times a second cost 0.1 % of a core, and ten seconds of a run
/// give a percentile to go by.
const WAKE_EVERY_MS: u64 = 40;
/// Name of the generator among the processes that were sampled.
const OWN_NAME: &str = "generator";

/// Names of processes and their ids, read anew every second: a supervisor restarts some.
pub type Processes = Arc<dyn Fn() -> Vec<(String, u32)> + Send + Sync>;

/// The watch of one run. Dropping it without [`Monitor::finish`] stops it as well.
#[derive(Debug)]
pub struct Monitor {
    before: cpu::Counters,
    cores: Option<CoreTicks>,
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<Watched>>,
}

/// What the thread saw.
#[derive(Debug, Default)]
struct Watched {
    wake: Micros,
    resources: Resources,
    ours: Ours,
}

impl Monitor {
    /// Begins to watch, and to sample `processes` every second under the generator's own.
    ///
    /// # Errors
    /// No thread can be had.
    pub fn start(segment: u32, processes: Processes) -> io::Result<Self> {
        let (stop, stopped) = mpsc::sync_channel(1);
        let own = format!("{OWN_NAME} {segment}");
        let cores = CoreTicks::read();
        let mut watched = Watched::default();
        watched.ours.look(true);
        let thread = std::thread::Builder::new()
            .name("monitor".to_owned())
            .spawn(move || {
                let mut sampled_s = 0;
                loop {
                    let due = clock::now().plus_ms(WAKE_EVERY_MS);
                    match stopped.recv_timeout(Duration::from_millis(WAKE_EVERY_MS)) {
                        Err(RecvTimeoutError::Timeout) => watched.wake.record(clock::now().since(due)),
                        Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                    }
                    let unix_s = clock::unix_ms() / 1_000;
                    if unix_s != sampled_s {
                        sampled_s = unix_s;
                        watched.sample(unix_s, &own, &processes);
                    }
                }
                watched.sample(clock::unix_ms() / 1_000, &own, &processes);
                watched
            })?;
        Ok(Self {
            before: cpu::Counters::read(),
            cores,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Ends the watch; what the machine did, and what the processes used.
    #[must_use]
    pub fn finish(mut self) -> (Machine, Resources) {
        let after = cpu::Counters::read();
        let cores = self.cores.zip(CoreTicks::read());
        let Watched {
            wake,
            resources,
            ours,
        } = self.join().unwrap_or_default();
        let (all, busy) = cores.map_or((0, 0), |(then, now)| {
            (
                now.all.saturating_sub(then.all),
                now.busy.saturating_sub(then.busy),
            )
        });
        let mut unread = after.unread.clone();
        if cores.is_none() {
            unread.push("the cores' time (/proc/stat)".to_owned());
        }
        let busiest = after.busiest_since(&self.before);
        let machine = Machine {
            wake,
            ran_us: busiest.ran_us,
            waited_us: busiest.waited_us,
            turns: busiest.turns,
            throttled_periods: after
                .throttled_periods
                .saturating_sub(self.before.throttled_periods),
            limit_cores: after.limit_cores.or(self.before.limit_cores),
            cores: after.cores,
            ticks: after.ticks.saturating_sub(self.before.ticks),
            stolen_ticks: after.stolen_ticks.saturating_sub(self.before.stolen_ticks),
            core_ticks: all,
            stranger_ticks: busy.saturating_sub(ours.ticks()),
            unread,
        };
        (machine, resources)
    }

    fn join(&mut self) -> Option<Watched> {
        self.stop = None;
        self.thread.take()?.join().ok()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        let _outcome = self.join();
    }
}

impl Watched {
    fn sample(&mut self, unix_s: u64, own: &str, processes: &Processes) {
        let all = std::iter::once((own.to_owned(), std::process::id())).chain(processes());
        for (name, pid) in all {
            // A process that has just ended has no figures any more; the next second names its successor.
            if let Ok(usage) = process::usage(pid) {
                self.resources.enter(&name, unix_s, Sample::from(usage));
            }
        }
        self.ours.look(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_samples_the_generator_and_what_it_was_named() {
        let processes: Processes = Arc::new(|| {
            vec![
                ("also me".to_owned(), std::process::id()),
                ("nobody".to_owned(), u32::MAX),
            ]
        });
        let monitor = Monitor::start(3, processes).expect("thread");
        let (machine, resources) = monitor.finish();
        assert_eq!(resources.0.keys().collect::<Vec<_>>(), ["also me", "generator 3"]);
        assert!(machine.cores > 0 && machine.unread.is_empty(), "{machine:?}");
    }
}
