//! Connections of clients: opened by them, served by a process, cut by faults. How they find their server is [`routing`](super::routing).

use std::net::SocketAddr;

use bytes::Bytes;
use protocol::ids::GameCode;
use serde_json::{Value, json};

use super::World;
use crate::Millis;
use crate::api::QUIZ;
use crate::chaos::{Party, When};
use crate::class::{ClientId, News};
use crate::keys;
use crate::proxy::Search;
use crate::queue::Event;
use crate::wire::{self, Decoder, Heard, Inbox, LineId, Port, ServerEnd};

/// Time of one way between a client and the server: a school's wifi, and now and then a bad moment of it.
const WAY_MS: (Millis, Millis) = (1, 25);
const BAD_WAY_MS: (Millis, Millis) = (100, 600);
const BAD_WAY_PERCENT: u32 = 3;

/// A connection.
pub(super) struct Line {
    pub(super) client: ClientId,
    pub(super) request: Request,
    /// While the proxy looks for a server.
    pub(super) search: Option<Search>,
    /// The process that serves it.
    pub(super) leg: Option<Leg>,
    pub(super) decoder: Decoder,
    /// When the last thing sent arrives, each way: nothing overtakes.
    to_server_at: Millis,
    pub(super) to_client_at: Millis,
    /// Nothing gets through any more, and nobody is told.
    pub(super) is_cut: bool,
    /// The server said its last word on it.
    is_closed: bool,
}

/// What a client opens a connection for.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) code: GameCode,
    /// The key of a game that is to be created; none for a socket.
    pub(super) key: Option<String>,
}

impl Request {
    /// As bytes, with more lines of headers.
    fn bytes(&self, more: &str) -> Bytes {
        let code = self.code.to_string();
        match &self.key {
            None => wire::upgrade(&code, more),
            Some(key) => {
                let body = json!({ "quiz": { "id": QUIZ }, "key": key }).to_string();
                wire::create(&code, &keys::teacher_token(), &body, more)
            }
        }
    }
}

/// Where a connection ends.
#[derive(Clone)]
pub(super) struct Leg {
    pub(super) server: usize,
    pub(super) run: u64,
    attempt: u64,
    inbox: Inbox,
}

impl World {
    /// The connection that a client has now, unless it is cut.
    fn line(&self, client: ClientId) -> Option<LineId> {
        self.line_of.get(client.0).copied().flatten()
    }

    pub(super) fn way_ms(&mut self) -> Millis {
        let (from, to) = if self.net.chance(BAD_WAY_PERCENT) {
            BAD_WAY_MS
        } else {
            WAY_MS
        };
        self.net.between(from, to)
    }

    /// A client opens a connection for a request.
    pub(super) fn open_line(&mut self, client: ClientId, request: Request) {
        self.hang_up(client);
        self.lines_made += 1;
        let id = LineId(self.lines_made);
        // The handshake of TCP is one more way there and back.
        let at = self.now + self.way_ms() + self.way_ms() + self.way_ms();
        let is_offline = self
            .offline_until
            .get(client.0)
            .is_some_and(|until| *until > self.now);
        let line = Line {
            client,
            request,
            search: None,
            leg: None,
            decoder: Decoder::default(),
            to_server_at: at,
            to_client_at: at,
            is_cut: is_offline,
            is_closed: false,
        };
        self.lines.insert(id, line);
        if let Some(current) = self.line_of.get_mut(client.0) {
            *current = Some(id);
        }
        if !is_offline {
            self.queue.plan(at, Event::Connects { line: id });
        }
    }

    /// When what leaves a client now reaches the server of its line; none when nothing gets through.
    fn reaches_server(&mut self, id: LineId) -> Option<Millis> {
        let at = self.now + self.way_ms();
        let line = self.lines.get(&id).filter(|line| !line.is_cut)?;
        let (server, before) = (line.leg.as_ref().map(|leg| leg.server), line.to_server_at);
        let at = match server {
            Some(server) if !self.is_alone() => self.through(Party::Proxy, Party::Server(server), at),
            Some(_) | None => at,
        };
        Some(at.max(before))
    }

    /// A client sends bytes, which answer this question if they answer one.
    pub(super) fn send(&mut self, client: ClientId, bytes: Bytes, answers: Option<u64>) {
        let Some(id) = self.line(client) else {
            return;
        };
        let Some(at) = self.reaches_server(id) else {
            return;
        };
        if let Some(line) = self.lines.get_mut(&id) {
            line.to_server_at = at;
        }
        let arrives = Event::Arrives {
            line: id,
            bytes,
            answers,
        };
        self.queue.plan(at, arrives);
    }

    /// A client gives its connection up.
    pub(super) fn hang_up(&mut self, client: ClientId) {
        let Some(id) = self.line_of.get_mut(client.0).and_then(Option::take) else {
            return;
        };
        if let Some(at) = self.reaches_server(id) {
            self.queue.plan(at, Event::Ends { line: id });
        }
    }

    /// A client loses its connection without a word: neither side hears of it.
    pub(super) fn cut_off(&mut self, client: ClientId) {
        if let Some(line) = self.line(client).and_then(|id| self.lines.get_mut(&id)) {
            line.is_cut = true;
        }
    }

    /// A connection reaches the proxy, or the only server.
    pub(super) fn connects(&mut self, id: LineId) {
        if !self.is_alone() {
            return self.begin_search(id);
        }
        if !self.serve_line(id, 0, "") {
            // Refused at once.
            let at = self.now + self.way_ms();
            self.queue.plan(at, Event::HearsEnd { line: id });
        }
    }

    /// Has a server serve a line, if it takes connections.
    pub(super) fn serve_line(&mut self, id: LineId, server: usize, more: &str) -> bool {
        let Some(node) = self.nodes.get_mut(server).filter(|node| node.is_listening) else {
            return false;
        };
        let (Some(process), Some(line)) = (&node.process, self.lines.get_mut(&id)) else {
            return false;
        };
        let inbox = Inbox::default();
        let attempt = line.search.as_ref().map_or(0, |search| search.attempt);
        let end = ServerEnd::new(Port::Client(id, attempt), inbox.clone(), process.emissions());
        process.accept(end, SocketAddr::from(([192, 0, 2, 1], 50_000)));
        node.is_touched = true;
        inbox.arrive(line.request.bytes(more));
        line.leg = Some(Leg {
            server,
            run: node.run,
            attempt,
            inbox,
        });
        line.decoder = Decoder::default();
        self.trace.line(
            self.now,
            format_args!("connects {} line {} to {server}", line.client.0, id.0),
        );
        true
    }

    /// The process that serves a line, if it is alive and anything gets there.
    fn leg(&self, id: LineId) -> Option<Leg> {
        let line = self.lines.get(&id).filter(|line| !line.is_cut)?;
        let leg = line.leg.as_ref()?;
        self.is_alive(leg.server, leg.run).then(|| leg.clone())
    }

    pub(super) fn arrives(&mut self, id: LineId, bytes: Bytes, answers: Option<u64>) {
        let Some(leg) = self.leg(id) else {
            return;
        };
        self.trace
            .line(self.now, format_args!("arrives line {} {} B", id.0, bytes.len()));
        leg.inbox.arrive(bytes);
        self.touch(leg.server);
        let stands_still = self.node(leg.server).is_none_or(|node| node.running().is_none());
        if let Some(q) = answers.filter(|_| !stands_still) {
            self.oracle.answer_arrives(self.now, id, q, leg.run);
        }
        self.count_down_to_kill(leg.server);
    }

    pub(super) fn ends(&mut self, id: LineId) {
        if let Some(line) = self.lines.get_mut(&id) {
            // Whom the proxy still asks for it, nobody listens to.
            line.search = None;
        }
        if let Some(leg) = self.leg(id) {
            leg.inbox.end();
            self.touch(leg.server);
        }
    }

    /// Closes the way to a server that is not the one, so that another one can be asked.
    pub(super) fn leave_server(&mut self, id: LineId) {
        let Some(leg) = self.lines.get_mut(&id).and_then(|line| line.leg.take()) else {
            return;
        };
        self.oracle.line_over(id);
        if self.is_alive(leg.server, leg.run) {
            leg.inbox.end();
            self.touch(leg.server);
        }
    }

    /// A server writes. What it says is judged now and heard later.
    pub(super) fn server_wrote(&mut self, id: LineId, attempt: u64, run: u64, bytes: &[u8]) {
        let at = self.now + self.way_ms();
        let Some(server) = self.server_of(id, attempt) else {
            return;
        };
        let at = if self.is_alone() {
            at
        } else {
            self.through(Party::Proxy, Party::Server(server), at)
        };
        let Some(line) = self.lines.get_mut(&id) else {
            return;
        };
        line.to_client_at = line.to_client_at.max(at);
        let (at, client, is_cut) = (line.to_client_at, line.client, line.is_cut);
        let is_current = self.line_of.get(client.0) == Some(&Some(id));
        for heard in line.decoder.feed(bytes) {
            let is_sought = self.lines.get(&id).is_some_and(|line| line.search.is_some());
            if is_sought && matches!(heard, Heard::Status { .. }) {
                self.tells_proxy(id, heard);
                continue;
            }
            if let Heard::Close(code) = heard {
                self.oracle.line_closes(id, code, run);
            }
            if let Heard::Text(text) = &heard {
                self.trace
                    .line(self.now, format_args!("says {} {text}", client.0));
                let Ok(frame) = serde_json::from_str::<Value>(text) else {
                    continue;
                };
                self.oracle.emitted(id, &frame, run, &mut self.coverage);
                if frame["t"] == "ack" && frame["saved"] == true {
                    self.kill_if(server, When::AckSent);
                }
            }
            if !is_cut && is_current {
                self.queue.plan(at, Event::Hears { line: id, heard });
            }
            if !self.is_alive(server, run) {
                return;
            }
        }
    }

    /// The server of a line, if it is still that attempt's.
    fn server_of(&self, id: LineId, attempt: u64) -> Option<usize> {
        let leg = self.lines.get(&id)?.leg.as_ref()?;
        (leg.attempt == attempt).then_some(leg.server)
    }

    pub(super) fn server_hung_up(&mut self, id: LineId, attempt: u64) {
        let at = self.now + self.way_ms();
        let Some(server) = self.server_of(id, attempt) else {
            return;
        };
        let is_sought = self.lines.get(&id).is_some_and(|line| line.search.is_some());
        let at = if self.is_alone() {
            at
        } else {
            self.through(Party::Proxy, Party::Server(server), at)
        };
        if is_sought {
            self.hangs_up_on_proxy(id, at);
        } else if let Some(line) = self
            .lines
            .get_mut(&id)
            .filter(|line| !line.is_cut && !line.is_closed)
        {
            line.is_closed = true;
            line.to_client_at = line.to_client_at.max(at);
            self.queue.plan(line.to_client_at, Event::HearsEnd { line: id });
        }
        self.oracle.line_over(id);
    }

    /// The client of a line, if the line is still the one it listens to.
    fn listener(&self, id: LineId) -> Option<ClientId> {
        let line = self.lines.get(&id).filter(|line| !line.is_cut)?;
        (self.line(line.client) == Some(id)).then_some(line.client)
    }

    pub(super) fn hears(&mut self, id: LineId, heard: Heard) {
        let Some(client) = self.listener(id) else {
            return;
        };
        match heard {
            Heard::Status { status: 101, .. } => self.news(client, News::Open),
            Heard::Status { status, body, .. } => {
                self.trace
                    .line(self.now, format_args!("answer {} {status} {body}", client.0));
                self.hang_up(client);
                let is_create = self.lines.get(&id).is_some_and(|line| line.request.key.is_some());
                if is_create {
                    self.has_heard(client);
                    self.news(client, News::Answer { status });
                } else {
                    // A page is told nothing of a socket that does not open but that.
                    self.news(client, News::Closed(None));
                }
            }
            Heard::Text(text) => {
                if let Ok(frame) = serde_json::from_str::<Value>(&text) {
                    self.trace
                        .line(self.now, format_args!("hears {} {}", client.0, frame["t"]));
                    self.has_heard(client);
                    self.oracle.heard(client, &frame, &mut self.coverage);
                    self.news(client, News::Frame(frame));
                }
            }
            Heard::Ping => self.send(client, wire::pong(), None),
            Heard::Close(code) => {
                self.trace
                    .line(self.now, format_args!("closed {} {code:?}", client.0));
                self.send(client, wire::close(), None);
                self.hang_up(client);
                self.news(client, News::Closed(code));
            }
        }
    }

    fn has_heard(&mut self, client: ClientId) {
        if let Some(at) = self.heard_at.get_mut(client.0) {
            *at = self.now;
        }
    }

    pub(super) fn hears_end(&mut self, id: LineId) {
        if let Some(client) = self.listener(id) {
            self.trace
                .line(self.now, format_args!("closed {} without a word", client.0));
            self.hang_up(client);
            self.news(client, News::Closed(None));
        }
    }

    /// A server's machine has closed all its connections, or it is gone and they hang.
    pub(super) fn lose_lines(&mut self, run: u64, is_silent: bool, keeps_tail: bool) {
        let is_of = |line: &Line| line.leg.as_ref().is_some_and(|leg| leg.run == run);
        if !keeps_tail {
            let lines = &self.lines;
            self.queue.extract(|event| {
                matches!(event, Event::Hears { line, .. } | Event::Told { line, .. } if lines.get(line).is_some_and(is_of))
            });
        }
        let ids: Vec<_> = self
            .lines
            .iter()
            .filter(|(_, line)| is_of(line) && !line.is_cut && !line.is_closed)
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            let at = self.now + self.way_ms();
            self.oracle.line_over(id);
            let is_sought = self.lines.get(&id).is_some_and(|line| line.search.is_some());
            if is_sought {
                if !is_silent {
                    self.hangs_up_on_proxy(id, at);
                }
            } else if let Some(line) = self.lines.get_mut(&id) {
                line.is_closed = true;
                if is_silent {
                    line.is_cut = true;
                } else {
                    let at = line.to_client_at.max(at);
                    self.queue.plan(at, Event::HearsEnd { line: id });
                }
            }
        }
    }
}
