//! Connections between servers: questions, handovers, and clients that are passed on.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use bytes::Bytes;

use super::World;
use super::nodes::Node;
use crate::Millis;
use crate::chaos::Party;
use crate::coverage::Seen;
use crate::emission::Dialled;
use crate::mutation::Mutation;
use crate::queue::Event;
use crate::wire::{Inbox, Port, ServerEnd, Side, WireId};

/// Time of one way between two servers: two data centres of a country. Not shorter than a turn.
pub(super) const WAY_MS: (Millis, Millis) = (super::TURN_MS, 40);

/// A connection between two servers.
pub(super) struct Wire {
    ends: BTreeMap<Side, End>,
}

struct End {
    server: usize,
    run: u64,
    inbox: Inbox,
    /// When the last thing sent to it arrives.
    arrives_at: Millis,
    is_over: bool,
}

impl World {
    fn peer_way(&mut self, from: usize, to: usize) -> Millis {
        let at = self.now + self.net.between(WAY_MS.0, WAY_MS.1);
        self.through(Party::Server(from), Party::Server(to), at)
    }

    /// A server wants a connection to another one.
    pub(super) fn dials(&mut self, from: usize, address: &str, reply: Dialled) {
        let to = self
            .nodes
            .iter()
            .find(|node| Node::address(node.number) == address);
        let (Some(to), Some(run)) = (to, self.node(from).map(|node| node.run)) else {
            return;
        };
        let (to, is_silent) = (to.number, to.is_silent);
        self.coverage.saw(Seen::PeerAsked);
        let is_open = self
            .links
            .is_open(self.now, Party::Server(from), Party::Server(to));
        if is_silent || !is_open {
            self.unanswered.push((run, reply));
            return;
        }
        let at = self.peer_way(from, to);
        self.queue.plan(at, Event::Dials { from, run, to, reply });
    }

    pub(super) fn dial_arrives(&mut self, from: usize, run: u64, to: usize, reply: Dialled) {
        let at = self.peer_way(from, to);
        let Some(node) = self.nodes.get_mut(to) else {
            return;
        };
        if node.is_silent {
            self.unanswered.push((run, reply));
            return;
        }
        let Some(process) = &node.process else {
            let end = None;
            return self.queue.plan(at, Event::DialAnswered { run, end, reply });
        };
        self.wires_made += 1;
        let id = WireId(self.wires_made);
        let inbox = Inbox::default();
        let end = ServerEnd::new(Port::Peer(id, Side::Listener), inbox.clone(), process.emissions());
        process.accept_peer(end, SocketAddr::from(([10, 0, 0, 1], 40_000)));
        node.is_touched = true;
        let listener = End {
            server: to,
            run: node.run,
            inbox,
            arrives_at: 0,
            is_over: false,
        };
        let dialler = End {
            server: from,
            run,
            inbox: Inbox::default(),
            arrives_at: at,
            is_over: false,
        };
        let inbox = dialler.inbox.clone();
        let ends = BTreeMap::from([(Side::Listener, listener), (Side::Dialler, dialler)]);
        self.wires.insert(id, Wire { ends });
        let dialler = self.node(from).filter(|node| node.run == run);
        let dialler = dialler.and_then(|node| node.process.as_ref());
        let Some(emissions) = dialler.map(crate::process::Process::emissions) else {
            // Who dialled is dead.
            return self.end_peer(id, Side::Listener, at);
        };
        let end = ServerEnd::new(Port::Peer(id, Side::Dialler), inbox, emissions);
        let end = Some((id, end));
        self.queue.plan(at, Event::DialAnswered { run, end, reply });
    }

    pub(super) fn dial_answered(&mut self, run: u64, end: Option<(WireId, ServerEnd)>, reply: Dialled) {
        let Some(server) = self
            .nodes
            .iter()
            .find(|node| node.run == run && node.process.is_some())
            .map(|node| node.number)
        else {
            // Who dialled is dead.
            return;
        };
        let answer = match end {
            Some((_, end)) => Ok(Box::new(end) as Box<dyn game_server::Duplex>),
            None => Err(std::io::ErrorKind::ConnectionRefused.into()),
        };
        // An error means that its caller has given up: then the end is dropped, which closes the connection.
        let _given_up = reply.send(answer);
        self.touch(server);
    }

    /// A server writes to another one.
    pub(super) fn peer_wrote(&mut self, id: WireId, side: Side, bytes: Bytes) {
        let Some((from, to)) = self.servers_of(id, side) else {
            return;
        };
        let bytes = self.falsified(bytes);
        let at = self.peer_way(from, to);
        let side = side.other();
        if let Some(end) = self.wires.get_mut(&id).and_then(|wire| wire.ends.get_mut(&side)) {
            end.arrives_at = end.arrives_at.max(at);
            self.queue.plan(
                end.arrives_at,
                Event::PeerArrives {
                    wire: id,
                    side,
                    bytes,
                },
            );
        }
    }

    pub(super) fn peer_hung_up(&mut self, id: WireId, side: Side) {
        let Some((from, to)) = self.servers_of(id, side) else {
            return;
        };
        let at = self.peer_way(from, to);
        self.end_peer(id, side.other(), at);
    }

    fn end_peer(&mut self, id: WireId, side: Side, at: Millis) {
        if let Some(end) = self.wires.get_mut(&id).and_then(|wire| wire.ends.get_mut(&side)) {
            let at = end.arrives_at.max(at);
            if !std::mem::replace(&mut end.is_over, true) {
                self.queue.plan(at, Event::PeerEnds { wire: id, side });
            }
        }
    }

    /// The server at that end of a connection, and the one at the other end.
    fn servers_of(&self, id: WireId, side: Side) -> Option<(usize, usize)> {
        let wire = self.wires.get(&id)?;
        Some((wire.ends.get(&side)?.server, wire.ends.get(&side.other())?.server))
    }

    pub(super) fn peer_arrives(&mut self, id: WireId, side: Side, bytes: Bytes) {
        if let Some(end) = self.wires.get(&id).and_then(|wire| wire.ends.get(&side))
            && self.is_alive(end.server, end.run)
        {
            let server = end.server;
            end.inbox.arrive(bytes);
            self.touch(server);
        }
    }

    pub(super) fn peer_ends(&mut self, id: WireId, side: Side) {
        if let Some(end) = self.wires.get(&id).and_then(|wire| wire.ends.get(&side)) {
            let server = end.server;
            end.inbox.end();
            self.touch(server);
        }
    }

    /// A process is gone: the other end of its connections hears of it, unless its machine is gone as well.
    pub(super) fn lose_wires(&mut self, run: u64, is_silent: bool) {
        let lost: Vec<(WireId, Side)> = self
            .wires
            .iter()
            .flat_map(|(id, wire)| wire.ends.iter().map(|(side, end)| (*id, *side, end.run)))
            .filter(|(.., of)| *of == run)
            .map(|(id, side, _)| (id, side))
            .collect();
        for (id, side) in lost {
            if !is_silent {
                self.peer_hung_up(id, side);
            }
        }
        let gone: Vec<WireId> = self
            .wires
            .iter()
            .filter(|(_, wire)| wire.ends.values().all(|end| !self.is_alive(end.server, end.run)))
            .map(|(id, _)| *id)
            .collect();
        for id in gone {
            self.wires.remove(&id);
        }
    }

    /// A question about the game, turned into one about a game that nobody has.
    fn falsified(&self, bytes: Bytes) -> Bytes {
        const QUESTION: &[u8] = b"GET /peer/game?g=";
        if self.mutation != Some(Mutation::ClaimWhileOwnerAnswers) || !bytes.starts_with(QUESTION) {
            return bytes;
        }
        let mut bytes = bytes.to_vec();
        // Another first letter of the code makes another game of it.
        if let Some(letter) = bytes.get_mut(QUESTION.len()) {
            *letter = if *letter == b'2' { b'3' } else { b'2' };
        }
        bytes.into()
    }
}
