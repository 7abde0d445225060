//! Watches the machine while a run lasts: a thread that asks to be woken every few milliseconds and is told how late it
//! was, and the kernel's counters before and after.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Machine;
use crate::measure::Micros;
use crate::report::{Resources, Sample};
use crate::sys::clock::WallOffset;
use crate::sys::strangers::{CoreTicks, Ours};
use crate::sys::{clock, cpu, process};

/// How often the thread asks to be woken, in milliseconds: 25 times a second cost 0.1 % of a core, and ten seconds of a run
/// give a percentile to go by.
const WAKE_EVERY_MS: u64 = 40;
/// Less than this between two looks is no step of the wall clock, in microseconds: slewing makes 20 µs of it, and the two
/// clocks cannot be read at the same moment.
const STEP_US_MIN: u64 = 5_000;
/// Wakings that are recorded as slept through at once: a minute of standing still is as bad as an hour.
const SLEPT_THROUGH_MAX: u64 = 1_500;
/// Name of the generator among the processes that were sampled.
const OWN_NAME: &str = "generator";

/// A process of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its name in results.
    pub name: String,
    /// Its id; none while it is down, and of one on another machine.
    pub pid: Option<u32>,
    /// What it says of itself, a store for example.
    pub figures: BTreeMap<String, u64>,
}

/// The processes of a run, read anew every second: a supervisor restarts some.
pub type Processes = Arc<dyn Fn() -> Vec<Process> + Send + Sync>;

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
    clock_stepped_us: u64,
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
                let mut wall = WallOffset::precise();
                loop {
                    let due = clock::now().plus_ms(WAKE_EVERY_MS);
                    match stopped.recv_timeout(Duration::from_millis(WAKE_EVERY_MS)) {
                        Err(RecvTimeoutError::Timeout) => watched.woken(clock::now().since(due)),
                        Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                    }
                    wall = watched.look_at_wall_clock(wall, WallOffset::precise());
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
        let watched = self.join();
        let is_watched = watched.is_some();
        let Watched {
            wake,
            clock_stepped_us,
            resources,
            ours,
        } = watched.unwrap_or_default();
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
        if !is_watched {
            unread.push("the time of a waiting thread (the watch has failed)".to_owned());
        }
        let busiest = after.busiest_since(&self.before);
        let machine = Machine {
            wake,
            clock_stepped_us,
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
    /// A waking that came `late_us` late. Who was not woken missed every waking that was due meanwhile, and each of them would
    /// have been late.
    fn woken(&mut self, late_us: u64) {
        self.wake.record(late_us);
        let every_us = WAKE_EVERY_MS * 1_000;
        for missed in 1..=(late_us / every_us).min(SLEPT_THROUGH_MAX) {
            self.wake.record(late_us - missed * every_us);
        }
    }

    /// Adds what the wall clock was set by between two looks at it; the later one.
    fn look_at_wall_clock(&mut self, before: WallOffset, now: WallOffset) -> WallOffset {
        let step_us = now.apart_us(before);
        if step_us >= STEP_US_MIN {
            self.clock_stepped_us = self.clock_stepped_us.saturating_add(step_us);
        }
        now
    }

    fn sample(&mut self, unix_s: u64, own: &str, processes: &Processes) {
        let own = Process {
            name: own.to_owned(),
            pid: Some(std::process::id()),
            figures: BTreeMap::new(),
        };
        for Process { name, pid, figures } in std::iter::once(own).chain(processes()) {
            // A process that has just ended has no figures any more; the next second names its successor.
            let used = pid.and_then(|pid| process::usage(pid).ok());
            if used.is_none() && figures.is_empty() {
                continue;
            }
            let sample = Sample {
                more: figures,
                ..used.map_or_else(Sample::default, Sample::from)
            };
            self.resources.enter(&name, unix_s, sample);
        }
        self.ours.look(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakings_that_were_slept_through_were_late_as_well() {
        let mut watched = Watched::default();
        (0..9_925).for_each(|_| watched.woken(100));
        watched.woken(3_000_000);
        assert_eq!(watched.wake.count(), 9_926 + 75);
        assert!(watched.wake.percentile_ms(99.5) > 900.0, "{:?}", watched.wake);
    }

    #[test]
    fn a_wall_clock_that_is_set_is_seen_and_one_that_is_slewed_is_not() {
        let mut watched = Watched::default();
        let start = WallOffset::of_us(50_000_000);
        let slewed = watched.look_at_wall_clock(start, WallOffset::of_us(50_000_900));
        assert_eq!(watched.clock_stepped_us, 0);
        let back = watched.look_at_wall_clock(slewed, WallOffset::of_us(47_000_900));
        let _there = watched.look_at_wall_clock(back, slewed);
        assert_eq!(
            watched.clock_stepped_us, 6_000_000,
            "there and back are two steps"
        );
        assert!(WallOffset::precise().apart_us(WallOffset::precise()) < STEP_US_MIN);
    }

    #[test]
    fn a_watch_samples_the_generator_and_what_it_was_named() {
        let processes: Processes = Arc::new(|| {
            let process = |name: &str, pid, figures| Process {
                name: name.to_owned(),
                pid,
                figures,
            };
            vec![
                process("also me", Some(std::process::id()), BTreeMap::new()),
                process("nobody", Some(u32::MAX), BTreeMap::new()),
                process("far", None, BTreeMap::from([("bytes".to_owned(), 7)])),
            ]
        });
        let monitor = Monitor::start(3, processes).expect("thread");
        let (machine, resources) = monitor.finish();
        assert_eq!(
            resources.0.keys().collect::<Vec<_>>(),
            ["also me", "far", "generator 3"]
        );
        let far = resources.0["far"].values().next().expect("a sample");
        assert_eq!((far.more["bytes"], far.rss_kib), (7, 0));
        assert!(machine.cores > 0 && machine.unread.is_empty(), "{machine:?}");
    }
}
