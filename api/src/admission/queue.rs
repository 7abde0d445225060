//! The queue behind the permits: who waits, who is next, who has to go. No clock, no waiting.

use std::collections::VecDeque;

use tokio::sync::oneshot;

use super::Class;

/// While reads wait, at least one permit in so many goes to them: a dashboard that never comes makes its page ask again.
pub(super) const READ_EVERY: u32 = 16;

/// Free permits, or those who wait for one; never both.
pub(super) struct Queue {
    free: usize,
    permits: usize,
    waiting: [VecDeque<Waiting>; Class::ALL.len()],
    /// Permits handed to others since a read that waits could have had one.
    passed_reads: u32,
    tickets: u64,
}

struct Waiting {
    ticket: u64,
    call: oneshot::Sender<()>,
}

/// What came of entering.
pub(super) enum Entered {
    /// A permit was free, and is the caller's.
    Free,
    /// It waits until it is called, or the other end is gone: then its place was needed.
    Waits(u64, oneshot::Receiver<()>),
    /// There is no place.
    Full,
}

impl Queue {
    pub(super) fn new(permits: usize) -> Self {
        Self {
            free: permits,
            permits,
            waiting: Default::default(),
            passed_reads: 0,
            tickets: 0,
        }
    }

    pub(super) fn enter(&mut self, class: Class) -> Entered {
        if self.free > 0 {
            self.free -= 1;
            return Entered::Free;
        }
        let places = self.permits.saturating_add(class.room_beyond());
        if self.len() >= places && !self.make_place(class) {
            return Entered::Full;
        }
        let (call, called) = oneshot::channel();
        let ticket = self.tickets;
        self.tickets += 1;
        self.waiting[class.index()].push_back(Waiting { ticket, call });
        Entered::Waits(ticket, called)
    }

    /// The newest of the least urgent goes, if it is less urgent; but one read may always wait.
    fn make_place(&mut self, class: Class) -> bool {
        let reads = Class::Read.index();
        if class == Class::Read {
            return self.waiting[reads].is_empty();
        }
        let less_urgent = (class.index() + 1..=reads).rev();
        for index in less_urgent {
            let kept = usize::from(index == reads);
            if self.waiting[index].len() > kept {
                self.waiting[index].pop_back();
                return true;
            }
        }
        false
    }

    /// A permit came back: to whoever is next.
    pub(super) fn give_back(&mut self) {
        while let Some(next) = self.next() {
            // Nobody is there who left without saying so.
            if next.call.send(()).is_ok() {
                return;
            }
        }
        self.free += 1;
    }

    fn next(&mut self) -> Option<Waiting> {
        let reads = Class::Read.index();
        if self.waiting[reads].is_empty() {
            self.passed_reads = 0;
        } else if self.passed_reads >= READ_EVERY - 1 {
            self.passed_reads = 0;
            return self.waiting[reads].pop_front();
        }
        let class = self.waiting.iter().position(|class| !class.is_empty())?;
        if class == reads {
            self.passed_reads = 0;
        } else {
            self.passed_reads = self.passed_reads.saturating_add(1);
        }
        self.waiting[class].pop_front()
    }

    /// Takes somebody out who does not wait any longer; nothing happens when they are out already.
    pub(super) fn leave(&mut self, class: Class, ticket: u64) {
        self.waiting[class.index()].retain(|waiting| waiting.ticket != ticket);
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }

    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.free
    }
}
