//! When things are due. A thread of its own waits for the next moment and wakes the engine, because a timer that waits
//! behind received frames, or a runtime's with its millisecond wheel, would make the servers look slow.
//!
//! The pacer knows nothing of what it schedules; the engine records how late each task was taken up.

use std::collections::BinaryHeap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use mio::Waker;

use crate::sys::clock::{self, Stamp};

/// What a connection has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Open the socket.
    Connect,
    /// A player answers a question.
    Answer {
        /// Question number, from 1.
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

#[derive(Debug, Default)]
struct State {
    schedule: Schedule,
    fired: Vec<Due>,
    stopping: bool,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    waker: Waker,
}

impl Shared {
    /// A poisoned lock is taken over: the state is a heap and two flags, whole after every statement.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.lock();
        while !state.stopping {
            let now = clock::now();
            let State { schedule, fired, .. } = &mut *state;
            let before = fired.len();
            while let Some(due) = schedule.pop_due(now) {
                fired.push(due);
            }
            if fired.len() > before && self.waker.wake().is_err() {
                return;
            }
            let wait = schedule
                .next_at()
                .map_or(LONGEST_WAIT, |at| at.until(now).min(LONGEST_WAIT));
            if wait.is_zero() {
                continue;
            }
            state = self
                .changed
                .wait_timeout(state, wait)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

/// Without anything due the thread looks this often; scheduling wakes it anyway.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The thread and its schedule. Dropping it stops the thread.
#[derive(Debug)]
pub(super) struct Pacer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Pacer {
    /// Starts the thread; it wakes `waker` whenever something is due.
    pub(super) fn start(waker: Waker) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            waker,
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("pacer".to_owned())
            .spawn(move || of_thread.run())?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Schedules tasks and leaves `tasks` empty.
    pub(super) fn schedule(&self, tasks: &mut Vec<Due>) {
        if tasks.is_empty() {
            return;
        }
        let mut state = self.shared.lock();
        let before = state.schedule.next_at();
        for due in tasks.drain(..) {
            state.schedule.push(due);
        }
        let earlier = state.schedule.next_at() != before;
        drop(state);
        if earlier {
            self.shared.changed.notify_one();
        }
    }

    /// Moves the tasks that are due into `into`.
    pub(super) fn take_fired(&self, into: &mut Vec<Due>) {
        into.append(&mut self.shared.lock().fired);
    }
}

impl Drop for Pacer {
    fn drop(&mut self) {
        self.shared.lock().stopping = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A pacer that panicked has nothing left to stop.
            let _outcome = thread.join();
        }
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
    fn the_thread_wakes_the_poller_when_something_is_due() {
        let mut poll = mio::Poll::new().expect("poller");
        let waker = Waker::new(poll.registry(), mio::Token(7)).expect("waker");
        let pacer = Pacer::start(waker).expect("thread");
        let at = clock::now().plus_ms(5);
        pacer.schedule(&mut vec![Due {
            at,
            conn: 3,
            task: Task::Ping,
        }]);
        let mut fired = Vec::new();
        let mut events = mio::Events::with_capacity(4);
        while fired.is_empty() {
            poll.poll(&mut events, Some(Duration::from_secs(10)))
                .expect("poll");
            assert!(!events.is_empty(), "nothing was due within ten seconds");
            pacer.take_fired(&mut fired);
        }
        assert!(clock::now() >= at);
        assert_eq!(
            fired,
            [Due {
                at,
                conn: 3,
                task: Task::Ping
            }]
        );
    }
}
