//! What is known of who has the game, and what is judged of it: from the calls that servers make and the answers that they get.

use std::collections::BTreeMap;

use game_server::{Asserted, ClaimId, Claimed, Created, LogError, Owner, Stored, Written};

use super::World;
use super::lines::Line;
use super::links::Links;
use super::nodes::Node;
use super::storage::About;
use crate::Millis;
use crate::chaos::Party;
use crate::coverage::Seen;
use crate::oracle::Invariant;
use crate::store::{Ask, Said};
use crate::wire::LineId;

/// Between a server's question to another one and its claim: reading the owner record, asking everybody, reading the game, each at most
/// as long as a caller waits.
const ASKED_BEFORE_MS: Millis = 6_000;
/// While nothing is wrong, a client hears of its game after this time: a silence is noticed after 12 s, a lease ends after 5 s, an
/// attempt to connect is given up after 10 s.
const BACK_IN_PLAY_MS: Millis = 30_000;
/// After a cut, bytes of a tunnel take so long at most, the time to close included.
const TUNNEL_MS: Millis = 1_000;

/// Connections that end at one server and are served by another.
struct Far<'a> {
    now: Millis,
    lines: &'a BTreeMap<LineId, Line>,
    links: &'a Links,
    nodes: &'a [Node],
}

impl Far<'_> {
    /// Whether the last word of the process `run` may not have reached the server at which `line` ends: the path between the two is cut,
    /// or was a moment ago, or that server stands still. Or the client is out of reach, and the owner has given its end of the tunnel up
    /// for dead long ago.
    fn is_out_of_reach(&self, line: LineId, run: u64) -> bool {
        let Some(line) = self.lines.get(&line) else {
            return false;
        };
        let Some(leg) = &line.leg else {
            return false;
        };
        let owner = self.nodes.iter().find(|node| node.run == run);
        let (Some(near), Some(owner)) = (self.nodes.get(leg.server), owner) else {
            return false;
        };
        let path = (Party::Server(near.number), Party::Server(owner.number));
        let hindered_until = self.links.cut_until(path.0, path.1).max(near.hindered_at);
        leg.run != run && (line.is_cut || near.pause.is_some() || hindered_until + TUNNEL_MS > self.now)
    }
}

impl World {
    /// A server is about to call the store.
    pub(super) fn calls_about(&mut self, server: usize, ask: &Ask) {
        let Some(node) = self.node_mut(server) else {
            return;
        };
        match ask {
            Ask::Renew(lease) => node.id = Some(lease.server.clone()),
            Ask::Release(..) => {
                node.holds = None;
                self.coverage.saw(Seen::GivenBack);
            }
            Ask::Remove(..) => node.holds = None,
            Ask::Create(..)
            | Ask::Claim(..)
            | Ask::Assert(..)
            | Ask::Append(..)
            | Ask::Snapshot(..)
            | Ask::Tail(_)
            | Ask::Load(_)
            | Ask::Games
            | Ask::Members
            | Ask::Forget(_) => {}
        }
    }

    /// A server is about to hear what became of its call.
    pub(super) fn learns(
        &mut self,
        server: usize,
        about: About,
        sent_at: Millis,
        answer: &Result<Said, LogError>,
    ) {
        let now = self.now;
        let Some(node) = self.nodes.get_mut(server) else {
            return;
        };
        let run = node.run;
        let held = node.holds;
        match (about, answer) {
            (
                About::Held(claim),
                Ok(
                    Said::Written(Written::Saved)
                    | Said::Created(Created::New)
                    | Said::Asserted(Asserted::Yes(_)),
                ),
            ) => {
                if held.is_none_or(|(before, _)| before != claim) && node.stops.is_none() {
                    node.holds = Some((claim, now));
                }
                if matches!(answer, Ok(Said::Asserted(_))) {
                    self.oracle.claims(run);
                }
                self.oracle.hears_kept(claim);
            }
            (About::Held(_), Ok(Said::Written(Written::Fenced) | Said::Asserted(Asserted::Fenced))) => {
                self.fenced(server, run);
            }
            (About::Claim, Ok(Said::Claimed(Claimed::Yes(owner)))) => {
                self.oracle.claims(run);
                self.oracle.hears_kept(owner.claim);
            }
            (About::Claim, Ok(Said::Claimed(Claimed::Beaten(_)))) => self.coverage.saw(Seen::Beaten),
            (About::Tail, Ok(Said::Tail(Some(tail)))) => {
                // A record from before the store went back says nothing.
                let is_present = tail.store == self.store.run();
                let is_lost = is_present
                    && held.is_some_and(|(claim, since)| since < sent_at && claim != tail.owner.claim);
                if is_lost {
                    self.fenced(server, run);
                }
            }
            (About::Held(_) | About::Claim | About::Tail | About::Other, _) => {}
        }
    }

    /// A server learns that the game is another one's.
    fn fenced(&mut self, server: usize, run: u64) {
        if let Some(node) = self.node_mut(server) {
            node.holds = None;
        }
        self.coverage.saw(Seen::Fenced);
        self.oracle.fenced(self.now, run);
    }

    /// A claim is kept. Nobody may claim what its owner has and would have said so.
    pub(super) fn claimed(&mut self, server: usize, run: u64, sent_at: Millis, before: Option<&Stored>) {
        let Some(owner) = before.map(|before| &before.owner) else {
            return;
        };
        self.coverage.saw(Seen::Takeover);
        if self.oracle.is_question_open() {
            self.coverage.saw(Seen::TakeoverOfOpenQuestion);
        }
        let is_nobody_here = self.oracle.is_nobody_here() && self.is_class_gone();
        if is_nobody_here {
            self.coverage.saw(Seen::OrphanTaken);
        }
        let Some(other) = owner.server.as_ref().and_then(|id| self.run_of(id)) else {
            return;
        };
        if other.run == run {
            return;
        }
        let asked_at = sent_at.saturating_sub(ASKED_BEFORE_MS);
        let (me, it) = (Party::Server(server), Party::Server(other.number));
        let held_it = |claim: ClaimId| {
            other
                .holds
                .is_some_and(|(held, since)| held == claim && since < asked_at)
        };
        let would_answer = other.pause.is_none()
            && other.stops.is_none()
            && other.hindered_at < asked_at
            && self.links.cut_until(me, it) < asked_at
            && self.links.cut_until(it, Party::Store) < asked_at;
        if held_it(owner.claim) && would_answer {
            let detail = format!("server {server} claims what server {} has", other.number);
            self.oracle.fail(Invariant::ClaimsOnlyTheGone, detail);
        }
    }

    /// A game is written again, whatever the store knew of it. Of those who have it the one with the highest epoch may, and somebody who
    /// does not have it only when nobody lives who knows more.
    pub(super) fn asserted(&mut self, server: usize, run: u64, sent_at: Millis, owner: &Owner) {
        let Some(latest) = self.oracle.latest_claim().filter(|latest| *latest != owner.claim) else {
            return;
        };
        let asked_at = sent_at.saturating_sub(ASKED_BEFORE_MS);
        let Some(holder) = self.holder_of(latest).and_then(|number| self.node(number)) else {
            return;
        };
        if holder.run == run {
            return;
        }
        let (me, it) = (Party::Server(server), Party::Server(holder.number));
        let is_well = holder.pause.is_none()
            && holder.stops.is_none()
            && holder.hindered_at < asked_at
            && self.links.cut_until(me, it) < asked_at
            && self.links.cut_until(it, Party::Store) < asked_at;
        if is_well {
            let detail = format!(
                "server {server} writes again what server {} has, and knows less of it",
                holder.number
            );
            self.oracle.fail(Invariant::ClaimsOnlyTheGone, detail);
        }
    }

    /// After every step.
    pub(super) fn judge(&mut self) {
        self.class_may_be_gone();
        let far = Far {
            now: self.now,
            lines: &self.lines,
            links: &self.links,
            nodes: &self.nodes,
        };
        self.oracle
            .step(self.now, &|line, run| far.is_out_of_reach(line, run));
        if !self.is_alone() {
            self.judge_play();
        }
    }

    /// While nothing is wrong, nobody is left alone.
    fn judge_play(&mut self) {
        let since = |client: usize| self.heard_at.get(client).copied().unwrap_or_default();
        let late = self.clients.iter().enumerate().find(|(number, client)| {
            let here = client.is_here() && !client.is_done();
            here && since(*number).max(self.trouble_until) + BACK_IN_PLAY_MS < self.now
        });
        if let Some((number, _)) = late {
            let detail = format!(
                "client {number} has heard of its game last at {} ms, and nothing is wrong since {} ms",
                since(number),
                self.trouble_until
            );
            self.oracle.fail(Invariant::BackInPlay, detail);
        }
    }
}
