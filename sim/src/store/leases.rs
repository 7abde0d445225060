//! The leases that a store keeps, by the world's time: a store has a clock of its own, which no server's pause holds up.

use std::collections::BTreeMap;

use game_server::{LEASE_TIME, Lease, Member, Renewed, ServerId};
use uuid::Uuid;

use crate::Millis;

/// Everybody who ever took a lease and was not forgotten.
#[derive(Debug, Default)]
pub(super) struct LeaseBook(BTreeMap<(String, Uuid), (Lease, Millis)>);

impl LeaseBook {
    pub(super) fn renew(&mut self, now: Millis, lease: Lease) -> Renewed {
        let lasts_ms = u64::try_from(LEASE_TIME.as_millis()).unwrap_or(u64::MAX);
        let until = now.saturating_add(lasts_ms);
        let before = self.0.insert(key(&lease.server), (lease, until));
        Renewed::of(before.is_some_and(|(_, until)| until > now))
    }

    pub(super) fn members(&self, now: Millis) -> Vec<Member> {
        let member = |(lease, until): &(Lease, Millis)| Member {
            lease: lease.clone(),
            is_leased: *until > now,
        };
        self.0.values().map(member).collect()
    }

    /// All leases are of long ago; who had one is still known.
    pub(super) fn run_out(&mut self) {
        for (_, until) in self.0.values_mut() {
            *until = 0;
        }
    }

    pub(super) fn forget(&mut self, server: &ServerId) {
        self.0.remove(&key(server));
    }
}

fn key(server: &ServerId) -> (String, Uuid) {
    (server.name.clone(), server.incarnation)
}
