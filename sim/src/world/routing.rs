//! How a client's connection finds its server: what the proxy asks, and what becomes of that.

use super::World;
use super::lines::Request;
use super::nodes::Node;
use crate::Millis;
use crate::chaos::Party;
use crate::coverage::Seen;
use crate::oracle::Invariant;
use crate::proxy::Verdict;
use crate::queue::{Event, Fails};
use crate::wire::{Heard, LineId};

/// Time of one way between the proxy and a server.
const WAY_MS: (Millis, Millis) = (1, 4);
/// How long the proxy waits for a connection.
const CONNECT_MS: Millis = 900;
/// How long it waits for the answer to a handshake, and to a call with a body.
const ANSWER_MS: Millis = 5_000;
const ANSWER_WITH_BODY_MS: Millis = 75_000;

impl World {
    /// A client's request is with the proxy.
    pub(super) fn begin_search(&mut self, id: LineId) {
        let announced = self.nodes.iter().filter(|node| node.is_announced);
        let members: Vec<(usize, String)> = announced
            .map(|node| (node.number, Node::name(node.number)))
            .collect();
        let Some(line) = self.lines.get_mut(&id) else {
            return;
        };
        let is_confused = self.now < self.wrong_hints_until;
        let search = self
            .proxy
            .search(self.now, line.request.code, &members, is_confused);
        line.search = Some(search);
        self.ask_next(id);
    }

    fn ask_next(&mut self, id: LineId) {
        let Some(search) = self.lines.get_mut(&id).and_then(|line| line.search.as_mut()) else {
            return;
        };
        let Some(server) = self.proxy.next(self.now, search) else {
            return self.turn_away(id, 502);
        };
        let attempt = search.attempt;
        if search.asks_too_many() {
            let detail = format!("the proxy asks for the {attempt}th time about line {}", id.0);
            return self.oracle.fail(Invariant::HopsBounded, detail);
        }
        let at = self.now + self.net.between(WAY_MS.0, WAY_MS.1);
        let is_silent = self.node(server).is_none_or(|node| node.is_silent);
        let event = if is_silent || !self.links.is_open(self.now, Party::Proxy, Party::Server(server)) {
            let why = Fails::Unreachable;
            (
                self.now + CONNECT_MS,
                Event::AskFails {
                    line: id,
                    attempt,
                    why,
                },
            )
        } else {
            (
                at,
                Event::Asks {
                    line: id,
                    attempt,
                    server,
                },
            )
        };
        self.queue.plan(event.0, event.1);
    }

    /// The proxy's connection reaches a server.
    pub(super) fn asks(&mut self, id: LineId, attempt: u64, server: usize) {
        let Some(search) = self.sought(id, attempt) else {
            return;
        };
        let headers = self.proxy.headers(search, Node::name);
        let back_at = self.now + self.net.between(WAY_MS.0, WAY_MS.1);
        if self.serve_line(id, server, &headers) {
            let why = Fails::Late;
            let is_create = self.lines.get(&id).is_some_and(|line| line.request.key.is_some());
            let patience_ms = if is_create { ANSWER_WITH_BODY_MS } else { ANSWER_MS };
            self.queue.plan(
                self.now + patience_ms,
                Event::AskFails {
                    line: id,
                    attempt,
                    why,
                },
            );
        } else {
            let why = Fails::Unreachable;
            self.queue.plan(
                back_at,
                Event::AskFails {
                    line: id,
                    attempt,
                    why,
                },
            );
        }
    }

    /// The search of a line, while it is at this attempt.
    fn sought(&self, id: LineId, attempt: u64) -> Option<&crate::proxy::Search> {
        let search = self.lines.get(&id)?.search.as_ref()?;
        (search.attempt == attempt).then_some(search)
    }

    /// A server answers the proxy's request.
    pub(super) fn tells_proxy(&mut self, id: LineId, heard: Heard) {
        let way_ms = self.net.between(WAY_MS.0, WAY_MS.1);
        let client_ms = self.way_ms();
        let Some(line) = self.lines.get(&id) else {
            return;
        };
        let (Some(search), Some(leg)) = (&line.search, &line.leg) else {
            return;
        };
        let (attempt, server) = (search.attempt, leg.server);
        let at = self.through(Party::Proxy, Party::Server(server), self.now + way_ms);
        if let Some(line) = self.lines.get_mut(&id) {
            // What the server says after it comes after it.
            line.to_client_at = line.to_client_at.max(at + client_ms);
        }
        self.queue.plan(
            at,
            Event::Told {
                line: id,
                attempt,
                heard,
            },
        );
    }

    /// A server closes the proxy's connection, maybe without an answer.
    pub(super) fn hangs_up_on_proxy(&mut self, id: LineId, at: Millis) {
        if let Some(search) = self.lines.get(&id).and_then(|line| line.search.as_ref()) {
            let (attempt, why) = (search.attempt, Fails::Broken);
            self.queue.plan(
                at,
                Event::AskFails {
                    line: id,
                    attempt,
                    why,
                },
            );
        }
    }

    pub(super) fn told(&mut self, id: LineId, attempt: u64, heard: Heard) {
        if self.sought(id, attempt).is_none() {
            return;
        }
        let Heard::Status { status, owner, .. } = &heard else {
            return;
        };
        let status = *status;
        if status == 421 {
            self.coverage.saw(Seen::Misdirected);
        }
        let owner = owner.as_deref().and_then(|name| self.hinted(id, name));
        let Some(search) = self.lines.get_mut(&id).and_then(|line| line.search.as_mut()) else {
            return;
        };
        match self.proxy.settles(search, status, owner) {
            Verdict::Settled => {
                if let Some(line) = self.lines.get_mut(&id) {
                    line.search = None;
                    let at = line.to_client_at;
                    self.queue.plan(at, Event::Hears { line: id, heard });
                }
            }
            Verdict::Next => {
                self.leave_server(id);
                self.ask_next(id);
            }
            Verdict::Moving => {
                self.leave_server(id);
                self.turn_away(id, 503);
            }
        }
    }

    /// The server that a 421 names, or a wrong one while hints are wrong: neither the owner nor who names it.
    fn hinted(&mut self, id: LineId, name: &str) -> Option<usize> {
        let owner = self
            .nodes
            .iter()
            .position(|node| node.is_announced && Node::name(node.number) == name)?;
        if self.now >= self.wrong_hints_until {
            return Some(owner);
        }
        self.coverage.saw(Seen::WrongHint);
        let asked = self.lines.get(&id)?.leg.as_ref()?.server;
        let mut others = self.nodes.iter().filter(|node| {
            node.is_announced && node.process.is_some() && node.number != owner && node.number != asked
        });
        Some(others.next().map_or(owner, |node| node.number))
    }

    pub(super) fn ask_fails(&mut self, id: LineId, attempt: u64, why: Fails) {
        if self.sought(id, attempt).is_none() {
            return;
        }
        self.trace
            .line(self.now, format_args!("line {} attempt {attempt}: {why:?}", id.0));
        self.leave_server(id);
        let Some(line) = self.lines.get_mut(&id) else {
            return;
        };
        let Some(search) = line.search.as_mut() else {
            return;
        };
        self.proxy.unreachable(search);
        let Request { key, .. } = &line.request;
        // A handshake changes nothing, so another server may have it.
        match why {
            Fails::Unreachable => self.ask_next(id),
            Fails::Broken if key.is_none() => self.ask_next(id),
            Fails::Broken => self.turn_away(id, 502),
            Fails::Late => self.turn_away(id, 504),
        }
    }

    /// The proxy has no server for a client.
    fn turn_away(&mut self, id: LineId, status: u16) {
        let at = self.now + self.way_ms();
        if let Some(line) = self.lines.get_mut(&id) {
            line.search = None;
            line.to_client_at = line.to_client_at.max(at);
            let heard = Heard::Status {
                status,
                body: String::new(),
                owner: None,
            };
            self.queue
                .plan(line.to_client_at, Event::Hears { line: id, heard });
        }
    }
}
