//! A look from outside at a run that may never end: a server that runs on while no time goes by cannot be stopped from within.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::Millis;
use crate::oracle::Invariant;
use crate::run::{Play, replay_command};

/// Real time that one step of a run may take: a step is microseconds of work, and a machine can be busy.
const STEP_MAX: Duration = Duration::from_secs(60);

/// What a run shows of its progress.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    beats: AtomicU64,
    now: AtomicU64,
    is_over: AtomicBool,
}

impl Watch {
    /// A step begins.
    pub(crate) fn beat(&self, now: Millis) {
        self.now.store(now, Ordering::Relaxed);
        self.beats.fetch_add(1, Ordering::Relaxed);
    }

    /// Watches over a run from a thread of its own.
    pub(crate) fn over(self: &Arc<Self>, play: Play) -> JoinHandle<()> {
        let watch = Arc::clone(self);
        std::thread::spawn(move || {
            let mut seen = u64::MAX;
            while !watch.is_over.load(Ordering::Relaxed) {
                let beats = watch.beats.load(Ordering::Relaxed);
                if beats == seen {
                    watch.give_up(play);
                }
                seen = beats;
                std::thread::park_timeout(STEP_MAX);
            }
        })
    }

    /// Ends the watch.
    pub(crate) fn end(&self, watcher: JoinHandle<()>) {
        self.is_over.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        // It only counts.
        let _ended = watcher.join();
    }

    /// Says what is known and ends the process: the thread that runs without end has the rest.
    fn give_up(&self, play: Play) -> ! {
        let (seed, now) = (play.seed, self.now.load(Ordering::Relaxed));
        // Nobody may listen.
        let _written = writeln!(
            std::io::stderr(),
            "seed {seed} breaks {} at {now} ms; again: {}",
            Invariant::ComesToRest,
            replay_command(play)
        );
        std::process::abort()
    }
}
