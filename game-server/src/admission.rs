//! How many sockets the server holds: a hard bound for everybody, and below it a soft one for new players, so that those who
//! come back find a place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use runtime::metrics::{self, Counter, Gauge};

/// Counts sockets.
#[derive(Debug)]
pub(crate) struct Admission {
    open: AtomicUsize,
    sockets_max: usize,
    soft_max: usize,
}

/// The place of one socket; dropping it frees the place.
#[derive(Debug)]
pub(crate) struct SocketPermit {
    admission: Arc<Admission>,
}

impl Admission {
    pub(crate) fn new(sockets_max: usize, reserve: usize) -> Self {
        Self {
            open: AtomicUsize::new(0),
            sockets_max,
            soft_max: sockets_max.saturating_sub(reserve),
        }
    }

    /// A place for a socket of whatever role, if there is one.
    pub(crate) fn admit(self: &Arc<Self>) -> Option<SocketPermit> {
        let taken = self.open.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| {
            (n < self.sockets_max).then_some(n + 1)
        });
        if taken.is_err() {
            metrics::inc(Counter::GameSocketsRefusedTotal);
            return None;
        }
        metrics::shift(Gauge::GameSockets, 1.0);
        Some(SocketPermit {
            admission: Arc::clone(self),
        })
    }

    /// Whether a socket that has its place already may become a new player.
    pub(crate) fn has_room_for_player(&self) -> bool {
        self.open() <= self.soft_max
    }

    /// Whether a join page may promise a place.
    pub(crate) fn has_room_for_socket(&self) -> bool {
        self.open() < self.soft_max
    }

    /// Sockets held.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }
}

impl Drop for SocketPermit {
    fn drop(&mut self) {
        self.admission.open.fetch_sub(1, Ordering::AcqRel);
        metrics::shift(Gauge::GameSockets, -1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_places_are_for_those_who_come_back() {
        let admission = Arc::new(Admission::new(3, 1));
        let first = admission.admit().unwrap();
        assert!(admission.has_room_for_player() && admission.has_room_for_socket());
        let second = admission.admit().unwrap();
        assert!(admission.has_room_for_player() && !admission.has_room_for_socket());
        let third = admission.admit().unwrap();
        assert!(!admission.has_room_for_player());
        assert!(admission.admit().is_none());
        drop((first, second, third));
        assert_eq!(admission.open(), 0);
    }
}
