//! When things are due: tasks by their moment. Waiting for them is [`super::rhythm`]'s, doing them the engine's, which looks
//! here between the frames that it handles, too, so that nothing waits behind a burst, and records how late each task was
//! taken up.

use std::collections::BinaryHeap;

use crate::sys::clock::Stamp;

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
    /// Look whether the server has been silent for too long.
    Listen,
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
pub(super) struct Pacer {
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

impl Pacer {
    /// Schedules tasks and leaves `tasks` empty.
    pub(super) fn schedule(&mut self, tasks: &mut Vec<Due>) {
        for due in tasks.drain(..) {
            self.heap.push(Entry {
                due,
                order: self.scheduled,
            });
            self.scheduled += 1;
        }
    }

    /// When the next task is due.
    pub(super) fn next_at(&self) -> Option<Stamp> {
        self.heap.peek().map(|entry| entry.due.at)
    }

    /// The next task that is due at `now`.
    pub(super) fn pop_due(&mut self, now: Stamp) -> Option<Due> {
        if self.next_at()? > now {
            return None;
        }
        self.heap.pop().map(|entry| entry.due)
    }

    /// Forgets what connection `first` and those after it have to do.
    pub(super) fn forget_from(&mut self, first: u32) {
        self.heap.retain(|entry| entry.due.conn < first);
    }

    /// Tasks that were due at `moment` and are not taken up.
    pub(super) fn overdue(&self, moment: Stamp) -> u64 {
        crate::sys::count(self.heap.iter().filter(|entry| entry.due.at <= moment).count())
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
            let mut pacer = Pacer::default();
            let mut tasks: Vec<_> = (0..).zip(&moments).map(|(conn, &at)| due(at, conn)).collect();
            let mut expected: Vec<_> = tasks.iter().copied().filter(|d| d.at.0 <= now).collect();
            pacer.schedule(&mut tasks);
            prop_assert!(tasks.is_empty());
            prop_assert_eq!(pacer.overdue(Stamp(now)), crate::sys::count(expected.len()));
            let popped: Vec<_> = std::iter::from_fn(|| pacer.pop_due(Stamp(now))).collect();
            expected.sort_by_key(|d| (d.at, d.conn));
            prop_assert_eq!(popped, expected);
            prop_assert_eq!(pacer.overdue(Stamp(now)), 0);
            prop_assert!(pacer.next_at().is_none_or(|at| at.0 > now));
        }
    }
}
