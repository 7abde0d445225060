//! When things are due. A timer of the kernel, with microseconds, wakes the engine's poller; a poller's own time-out knows
//! milliseconds only, and a thread that says when something is due costs two switches of threads for every frame sent.
//!
//! The engine looks at the schedule between the frames that it handles, too, so that nothing waits behind a burst. The
//! pacer knows nothing of what it schedules; the engine records how late each task was taken up.

use std::collections::BinaryHeap;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::sys::clock::{self, Stamp};

/// What a connection has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Open the socket.
    Connect,
    /// Drop the socket without a word, and connect again later.
    Drop {
        /// How much later, in milliseconds.
        for_ms: u32,
    },
    /// Read nothing for a while.
    Freeze {
        /// How long, in milliseconds.
        for_ms: u32,
    },
    /// Read again.
    Thaw,
    /// A player answers a question.
    Answer {
        /// Question number, from 1.
        q: u16,
    },
    /// A player taps again what it has answered.
    TapAgain {
        /// Question number.
        q: u16,
    },
    /// Ask for a `pong`.
    Ping,
    /// A host opens the first question.
    Start,
    /// A host closes a question.
    Close {
        /// Question number.
        q: u16,
    },
    /// A host leaves the results of a question.
    Next {
        /// Question number.
        q: u16,
    },
    /// A host ends the playing.
    End,
    /// A host closes the game.
    Finish,
}

/// A task of a connection and its moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// When.
    pub at: Stamp,
    /// Which connection.
    pub conn: u32,
    /// What.
    pub task: Task,
}

/// Tasks by moment; equal moments in the order of scheduling.
#[derive(Debug, Default)]
struct Schedule {
    heap: BinaryHeap<Entry>,
    scheduled: u64,
}

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    due: Due,
    order: u64,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // A heap gives its greatest first, and the earliest is wanted.
        (other.due.at, other.order).cmp(&(self.due.at, self.order))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Schedule {
    fn push(&mut self, due: Due) {
        self.heap.push(Entry {
            due,
            order: self.scheduled,
        });
        self.scheduled += 1;
    }

    fn next_at(&self) -> Option<Stamp> {
        self.heap.peek().map(|entry| entry.due.at)
    }

    fn pop_due(&mut self, now: Stamp) -> Option<Due> {
        if self.next_at()? > now {
            return None;
        }
        self.heap.pop().map(|entry| entry.due)
    }
}

/// The schedule and the timer that wakes the poller for it.
#[derive(Debug)]
pub(super) struct Pacer {
    schedule: Schedule,
    timer: TimerFd,
    /// What the timer is set to; none when it has gone off or was never set.
    set_to: Option<Stamp>,
}

impl Pacer {
    /// A pacer that wakes the poller of `registry` with events of `token`.
    pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        registry.register(
            &mut SourceFd(&timer.as_fd().as_raw_fd()),
            token,
            Interest::READABLE,
        )?;
        Ok(Self {
            schedule: Schedule::default(),
            timer,
            set_to: None,
        })
    }

    /// Schedules tasks and leaves `tasks` empty.
    pub(super) fn schedule(&mut self, tasks: &mut Vec<Due>) {
        for due in tasks.drain(..) {
            self.schedule.push(due);
        }
    }

    /// The next task that is due at `now`.
    pub(super) fn pop_due(&mut self, now: Stamp) -> Option<Due> {
        self.schedule.pop_due(now)
    }

    /// Sets the timer to the next task, if it is not set to it; called before the poller waits.
    pub(super) fn set_timer(&mut self) -> io::Result<()> {
        let Some(next) = self.schedule.next_at() else {
            return Ok(());
        };
        let now = clock::now();
        // A timer set to the past moment of a task that was taken up meanwhile goes off once for nothing, which is cheaper
        // than setting it anew for every task that is taken up early.
        if self.set_to.is_some_and(|at| at <= next && at > now) {
            return Ok(());
        }
        // Zero would switch the timer off.
        let wait = next.until(now).max(Duration::from_nanos(1));
        self.timer.set(
            Expiration::OneShot(TimeSpec::from(wait)),
            TimerSetTimeFlags::empty(),
        )?;
        self.set_to = Some(next);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn due(at: u64, conn: u32) -> Due {
        Due {
            at: Stamp(at),
            conn,
            task: Task::Ping,
        }
    }

    proptest! {
        #[test]
        fn tasks_come_in_order_and_never_early(moments in prop::collection::vec(0u64..50, 0..60), now in 0u64..60) {
            let mut schedule = Schedule::default();
            for (conn, &at) in (0..).zip(&moments) {
                schedule.push(due(at, conn));
            }
            let popped: Vec<_> = std::iter::from_fn(|| schedule.pop_due(Stamp(now))).collect();
            let mut expected: Vec<_> = (0..).zip(&moments).map(|(conn, &at)| due(at, conn)).filter(|d| d.at.0 <= now).collect();
            expected.sort_by_key(|d| (d.at, d.conn));
            prop_assert_eq!(popped, expected);
        }
    }

    #[test]
    fn the_timer_wakes_the_poller_for_every_task() {
        let mut poll = mio::Poll::new().expect("poller");
        let mut pacer = Pacer::new(poll.registry(), Token(7)).expect("timer");
        let begin = clock::now();
        // The second is scheduled first and the third lies in the past: neither may be forgotten.
        for (ms, conn) in [(6, 2), (3, 1), (0, 0)] {
            let at = begin.plus_ms(ms);
            pacer.schedule(&mut vec![Due {
                at,
                conn,
                task: Task::Ping,
            }]);
        }
        let mut events = mio::Events::with_capacity(4);
        for conn in 0..3 {
            let due = loop {
                if let Some(due) = pacer.pop_due(clock::now()) {
                    break due;
                }
                pacer.set_timer().expect("set");
                poll.poll(&mut events, Some(Duration::from_secs(10)))
                    .expect("poll");
                assert!(!events.is_empty(), "nothing was due within ten seconds");
            };
            assert_eq!(due.conn, conn);
            assert!(clock::now() >= due.at);
        }
    }
}
