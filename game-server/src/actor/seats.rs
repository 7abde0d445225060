//! Which socket sits where in one game, and who has just lost its socket.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use game_core::PlayerId;
use protocol::close;
use protocol::player::ByeReason;
use tokio::time::Instant;

use crate::ambient::Ambient;
use crate::frames::player;
use crate::session::outbox::Outbox;

/// Host sockets of one game, and as many screens: laptop, phone remote, a reload of each that is not noticed yet.
pub(crate) const HOSTS_MAX: usize = 8;
/// Longest delay before clients of a game that moves come back, in milliseconds.
const MOVED_RETRY_MS_MAX: u32 = 300;

/// The sockets of one game. Each player has at most one.
#[derive(Debug)]
pub(crate) struct Seats {
    ambient: Ambient,
    players: BTreeMap<PlayerId, Arc<Outbox>>,
    hosts: Vec<Arc<Outbox>>,
    screens: Vec<Arc<Outbox>>,
    /// Players whose socket ended, until they count as away; in order of time.
    graces: BTreeSet<(Instant, PlayerId)>,
}

impl Seats {
    /// An empty room. `ambient` spreads those who are sent away over time.
    pub(crate) fn new(ambient: Ambient) -> Self {
        Self {
            ambient,
            players: BTreeMap::new(),
            hosts: Vec::new(),
            screens: Vec::new(),
            graces: BTreeSet::new(),
        }
    }

    /// Seats a player and returns the socket it had before, if that is another one.
    pub(crate) fn seat_player(&mut self, id: PlayerId, socket: &Arc<Outbox>) -> Option<Arc<Outbox>> {
        self.forget_grace(id);
        let before = self.players.insert(id, Arc::clone(socket))?;
        (!Arc::ptr_eq(&before, socket)).then_some(before)
    }

    /// Whether this socket is the player's present one.
    pub(crate) fn is_seated(&self, id: PlayerId, socket: &Arc<Outbox>) -> bool {
        self.players
            .get(&id)
            .is_some_and(|seated| Arc::ptr_eq(seated, socket))
    }

    /// A player's socket ended: it counts as away at `away_at` unless it comes back. Nothing happens, and false is returned, when
    /// another socket has its seat by now, or nobody.
    pub(crate) fn player_gone(&mut self, id: PlayerId, socket: &Arc<Outbox>, away_at: Instant) -> bool {
        let is_its = self.is_seated(id, socket);
        if is_its {
            self.players.remove(&id);
            self.graces.insert((away_at, id));
        }
        is_its
    }

    /// A player of a game that was taken up is expected: it counts as away at `away_at` unless it comes back.
    pub(crate) fn expect(&mut self, id: PlayerId, away_at: Instant) {
        self.graces.insert((away_at, id));
    }

    /// Takes a player's seat away for good.
    pub(crate) fn unseat_player(&mut self, id: PlayerId) -> Option<Arc<Outbox>> {
        self.forget_grace(id);
        self.players.remove(&id)
    }

    /// Players whose grace is over at `now`.
    pub(crate) fn take_away(&mut self, now: Instant) -> Vec<PlayerId> {
        let mut away = Vec::new();
        while let Some((at, id)) = self.graces.first().copied().filter(|(at, _)| *at <= now) {
            self.graces.remove(&(at, id));
            away.push(id);
        }
        away
    }

    /// When the next grace is over.
    pub(crate) fn next_away(&self) -> Option<Instant> {
        self.graces.first().map(|(at, _)| *at)
    }

    /// Seats a host or a screen; false when there are enough.
    pub(crate) fn seat_host(&mut self, socket: &Arc<Outbox>, screen: bool) -> bool {
        let seats = if screen {
            &mut self.screens
        } else {
            &mut self.hosts
        };
        // A seat whose socket is about to report its end is free already.
        seats.retain(|seated| !seated.has_ended());
        if seats.len() >= HOSTS_MAX {
            return false;
        }
        seats.push(Arc::clone(socket));
        true
    }

    pub(crate) fn host_gone(&mut self, socket: &Arc<Outbox>) {
        self.hosts.retain(|seated| !Arc::ptr_eq(seated, socket));
        self.screens.retain(|seated| !Arc::ptr_eq(seated, socket));
    }

    pub(crate) fn is_host(&self, socket: &Arc<Outbox>) -> bool {
        self.hosts.iter().any(|seated| Arc::ptr_eq(seated, socket))
    }

    pub(crate) fn has_host(&self) -> bool {
        !self.hosts.is_empty()
    }

    pub(crate) fn player(&self, id: PlayerId) -> Option<&Arc<Outbox>> {
        self.players.get(&id)
    }

    pub(crate) fn players(&self) -> impl Iterator<Item = &Arc<Outbox>> {
        self.players.values()
    }

    /// Hosts and screens.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &Arc<Outbox>> {
        self.hosts.iter().chain(&self.screens)
    }

    /// Empties the room.
    pub(crate) fn take_all(&mut self) -> Vec<Arc<Outbox>> {
        self.graces = BTreeSet::new();
        let players = std::mem::take(&mut self.players).into_values();
        let hosts = std::mem::take(&mut self.hosts);
        players
            .chain(hosts)
            .chain(std::mem::take(&mut self.screens))
            .collect()
    }

    fn forget_grace(&mut self, id: PlayerId) {
        self.graces.retain(|(_, other)| *other != id);
    }
}

/// `bye moved` with its jittered delay.
pub(crate) fn bye_moved(ambient: &Ambient) -> Utf8Bytes {
    let retry_ms = ambient.jitter_ms(0, MOVED_RETRY_MS_MAX);
    player::bye(ByeReason::Moved, Some(retry_ms))
}

impl Drop for Seats {
    /// Nobody waits in silence for a game whose actor is gone, for whatever reason.
    fn drop(&mut self) {
        for socket in self.take_all() {
            socket.close(Some(bye_moved(&self.ambient)), close::MOVED);
        }
    }
}
