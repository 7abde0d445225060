//! Paths between parties, and when they are cut.
//!
//! TCP sends again what a cut swallowed, so bytes of an open connection arrive when the path is back; a connection that is begun
//! during a cut is not answered.

use std::collections::BTreeMap;

use super::World;
use crate::Millis;
use crate::chaos::{Party, Target};
use crate::coverage::Seen;
use crate::queue::Event;

/// Time after a cut until a connection notices that the path is back, at most.
const AGAIN_MS: Millis = 400;

/// Until when each path is cut.
#[derive(Debug, Default)]
pub(super) struct Links(BTreeMap<(Party, Party), Millis>);

impl Links {
    fn key(a: Party, b: Party) -> (Party, Party) {
        (a.min(b), a.max(b))
    }

    /// Until when a path is cut; long ago for one that never was.
    pub(super) fn cut_until(&self, a: Party, b: Party) -> Millis {
        self.0.get(&Self::key(a, b)).copied().unwrap_or_default()
    }

    pub(super) fn is_open(&self, now: Millis, a: Party, b: Party) -> bool {
        self.cut_until(a, b) <= now
    }

    fn cut(&mut self, until: Millis, a: Party, b: Party) {
        let cut = self.0.entry(Self::key(a, b)).or_default();
        *cut = (*cut).max(until);
    }
}

impl World {
    /// When bytes that would arrive at `at` do so.
    pub(super) fn through(&mut self, a: Party, b: Party, at: Millis) -> Millis {
        if self.links.is_open(self.now, a, b) {
            return at;
        }
        let again_ms = self.net.between(1, AGAIN_MS);
        at.max(self.links.cut_until(a, b) + again_ms)
    }

    /// Cuts a server off.
    pub(super) fn cut(&mut self, a: Target, b: Party, lasts_ms: Millis) {
        let server = self.aimed_at(a);
        let until = self.now + lasts_ms;
        let others = (0..self.nodes.len()).map(Party::Server);
        let parties: Vec<Party> = match b {
            Party::Backstage => others.chain([Party::Store]).collect(),
            Party::Proxy | Party::Store | Party::Server(_) => vec![b],
        };
        let me = Party::Server(server);
        for party in parties.into_iter().filter(|party| *party != me) {
            self.coverage.saw(match party {
                Party::Proxy => Seen::CutFromProxy,
                Party::Store => Seen::CutFromStore,
                Party::Server(_) | Party::Backstage => Seen::CutFromServer,
            });
            self.links.cut(until, me, party);
            if party == Party::Store {
                self.queue.plan(until + 1, Event::Reaches { server });
            }
        }
        self.trouble(lasts_ms + AGAIN_MS);
    }

    /// Something is wrong for so long.
    pub(super) fn trouble(&mut self, lasts_ms: Millis) {
        self.trouble_until = self.trouble_until.max(self.now + lasts_ms);
    }
}
