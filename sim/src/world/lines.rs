//! Connections: opened by clients, served by the process, cut by faults.

use std::net::SocketAddr;

use bytes::Bytes;
use serde_json::Value;

use super::World;
use crate::Millis;
use crate::chaos::When;
use crate::class::{ClientId, News};
use crate::coverage::Seen;
use crate::queue::Event;
use crate::wire::{self, Decoder, Heard, Inbox, LineId, ServerEnd};

/// Time of one way between a client and the server: a school's wifi, and now and then a bad moment of it.
const WAY_MS: (Millis, Millis) = (1, 25);
const BAD_WAY_MS: (Millis, Millis) = (100, 600);
const BAD_WAY_PERCENT: u32 = 3;

/// A connection.
pub(super) struct Line {
    client: ClientId,
    /// The process that serves it.
    incarnation: u64,
    inbox: Inbox,
    decoder: Decoder,
    /// When the last thing sent arrives, each way: nothing overtakes.
    to_server_at: Millis,
    to_client_at: Millis,
    /// Nothing gets through any more, and nobody is told.
    is_cut: bool,
    /// The server said its last word on it.
    is_closed: bool,
}

impl World {
    /// The connection that a client has now, unless it is cut.
    fn line(&self, client: ClientId) -> Option<LineId> {
        self.line_of.get(client.0).copied().flatten()
    }

    fn way_ms(&mut self) -> Millis {
        let (from, to) = if self.net.chance(BAD_WAY_PERCENT) {
            BAD_WAY_MS
        } else {
            WAY_MS
        };
        self.net.between(from, to)
    }

    /// A client opens a connection and sends `bytes` on it.
    pub(super) fn open_line(&mut self, client: ClientId, bytes: Bytes) {
        self.hang_up(client);
        self.lines_made += 1;
        let id = LineId(self.lines_made);
        // The handshake of TCP is one more way there and back.
        let at = self.now + self.way_ms() + self.way_ms() + self.way_ms();
        let line = Line {
            client,
            incarnation: 0,
            inbox: Inbox::default(),
            decoder: Decoder::default(),
            to_server_at: at,
            to_client_at: at,
            is_cut: false,
            is_closed: false,
        };
        self.lines.insert(id, line);
        if let Some(current) = self.line_of.get_mut(client.0) {
            *current = Some(id);
        }
        self.queue.plan(at, Event::Connects { line: id, bytes });
    }

    /// A client sends bytes, which answer this question if they answer one.
    pub(super) fn send(&mut self, client: ClientId, bytes: Bytes, answers: Option<u64>) {
        let way_ms = self.way_ms();
        let Some(id) = self.line(client) else {
            return;
        };
        if let Some(line) = self.lines.get_mut(&id).filter(|line| !line.is_cut) {
            line.to_server_at = line.to_server_at.max(self.now + way_ms);
            let at = line.to_server_at;
            self.queue.plan(
                at,
                Event::Arrives {
                    line: id,
                    bytes,
                    answers,
                },
            );
        }
    }

    /// A client gives its connection up.
    pub(super) fn hang_up(&mut self, client: ClientId) {
        let way_ms = self.way_ms();
        let Some(id) = self.line_of.get_mut(client.0).and_then(Option::take) else {
            return;
        };
        if let Some(line) = self.lines.get_mut(&id).filter(|line| !line.is_cut) {
            let at = line.to_server_at.max(self.now + way_ms);
            self.queue.plan(at, Event::Ends { line: id });
        }
    }

    /// A client loses its connection without a word: neither side hears of it.
    pub(super) fn cut_off(&mut self, client: ClientId) {
        if let Some(line) = self.line(client).and_then(|id| self.lines.get_mut(&id)) {
            line.is_cut = true;
        }
    }

    pub(super) fn connects(&mut self, id: LineId, bytes: Bytes) {
        let way_ms = self.way_ms();
        let Some(line) = self.lines.get_mut(&id) else {
            return;
        };
        let Some(process) = self.process.as_ref().filter(|_| self.is_listening) else {
            // Refused at once.
            let at = self.now + way_ms;
            return self.queue.plan(at, Event::HearsEnd { line: id });
        };
        line.incarnation = self.incarnations;
        let end = ServerEnd::new(id, line.inbox.clone(), process.emissions());
        let peer = SocketAddr::from(([192, 0, 2, 1], 50_000));
        process.accept(end, peer);
        line.inbox.arrive(bytes);
        self.trace
            .line(self.now, format_args!("connects {} line {}", line.client.0, id.0));
    }

    pub(super) fn arrives(&mut self, id: LineId, bytes: Bytes, answers: Option<u64>) {
        if let Some(line) = self
            .lines
            .get(&id)
            .filter(|line| !line.is_cut && self.is_served(line))
        {
            self.trace.line(
                self.now,
                format_args!("arrives {} {} B", line.client.0, bytes.len()),
            );
            line.inbox.arrive(bytes);
            if let Some(q) = answers {
                self.oracle.answer_arrives(self.now, id, q);
            }
            self.count_down_to_kill();
        }
    }

    pub(super) fn ends(&mut self, id: LineId) {
        if let Some(line) = self
            .lines
            .get(&id)
            .filter(|line| !line.is_cut && self.is_served(line))
        {
            line.inbox.end();
        }
    }

    fn is_served(&self, line: &Line) -> bool {
        self.process.is_some() && line.incarnation == self.incarnations
    }

    /// The server writes. What it says is judged now and heard later.
    pub(super) fn server_wrote(&mut self, id: LineId, bytes: &[u8]) {
        let way_ms = self.way_ms();
        let Some(line) = self.lines.get_mut(&id) else {
            return;
        };
        line.to_client_at = line.to_client_at.max(self.now + way_ms);
        let (at, client, is_cut) = (line.to_client_at, line.client, line.is_cut);
        let is_current = self.line_of.get(client.0) == Some(&Some(id));
        for heard in line.decoder.feed(bytes) {
            if let Heard::Close(_) = heard {
                self.oracle.line_closes(id);
            }
            if let Heard::Text(text) = &heard {
                self.trace
                    .line(self.now, format_args!("says {} {text}", client.0));
                let Ok(frame) = serde_json::from_str::<Value>(text) else {
                    continue;
                };
                self.oracle.emitted(id, client, &frame, &mut self.coverage);
                if frame["t"] == "ack" && frame["saved"] == true {
                    self.kill_if(When::AckSent);
                }
            }
            if !is_cut && is_current {
                self.queue.plan(at, Event::Hears { line: id, heard });
            }
            if self.process.is_none() {
                return;
            }
        }
    }

    pub(super) fn server_hung_up(&mut self, id: LineId) {
        let way_ms = self.way_ms();
        if let Some(line) = self
            .lines
            .get_mut(&id)
            .filter(|line| !line.is_cut && !line.is_closed)
        {
            line.is_closed = true;
            line.to_client_at = line.to_client_at.max(self.now + way_ms);
            let at = line.to_client_at;
            self.queue.plan(at, Event::HearsEnd { line: id });
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
            Heard::Status { status, body } => {
                self.trace
                    .line(self.now, format_args!("answer {} {status} {body}", client.0));
                self.drop_line(client);
                self.news(client, News::Answer { status });
            }
            Heard::Text(text) => {
                if let Ok(frame) = serde_json::from_str::<Value>(&text) {
                    self.trace
                        .line(self.now, format_args!("hears {} {}", client.0, frame["t"]));
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

    pub(super) fn hears_end(&mut self, id: LineId) {
        if let Some(client) = self.listener(id) {
            self.trace
                .line(self.now, format_args!("closed {} without a word", client.0));
            self.hang_up(client);
            self.news(client, News::Closed(None));
        }
    }

    fn drop_line(&mut self, client: ClientId) {
        self.hang_up(client);
    }

    /// The server's machine has closed all its connections, or it is gone and they hang.
    pub(super) fn lose_lines(&mut self) {
        let is_silent = self.fault_dice.chance(15);
        // What the kernel holds still goes out, or is lost with it.
        let keeps_tail = self.fault_dice.chance(50);
        if !keeps_tail || is_silent {
            self.queue.extract(|event| matches!(event, Event::Hears { .. }));
        }
        let incarnation = self.incarnations;
        let ids: Vec<_> = self
            .lines
            .iter()
            .filter(|(_, line)| line.incarnation == incarnation && !line.is_cut && !line.is_closed)
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            let way_ms = self.way_ms();
            self.oracle.line_over(id);
            if let Some(line) = self.lines.get_mut(&id) {
                line.is_closed = true;
                let at = line.to_client_at.max(self.now + way_ms);
                if is_silent {
                    line.is_cut = true;
                } else {
                    self.queue.plan(at, Event::HearsEnd { line: id });
                }
            }
        }
    }

    /// Whether an answer is on its way to the server.
    pub(super) fn count_kill(&mut self) {
        self.coverage.saw(Seen::Kill);
        if self.oracle.has_answers_in_flight() {
            self.coverage.saw(Seen::KillWithAnswersInFlight);
        }
    }
}
