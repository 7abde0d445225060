//! What clients do.

use bytes::Bytes;

use super::lines::Request;
use super::{World, draw_code};
use crate::class::{Act, Client, ClientId, Desk, News};
use crate::queue::Event;
use crate::wire;

impl World {
    /// A client opens its page; the students when the teacher has told the code.
    pub(super) fn arrive(&mut self, client: ClientId) {
        if let Some(at) = self.heard_at.get_mut(client.0) {
            *at = self.now;
        }
        self.with_client(client, |client, desk| match client {
            Client::Host(host) => host.arrive(desk),
            Client::Phone(phone) => phone.arrive(desk),
        });
    }

    /// Something happens to a client.
    pub(super) fn news(&mut self, client: ClientId, news: News) {
        let had_game = self.has_game();
        self.with_client(client, |client, desk| client.on(news, desk));
        if !had_game && self.has_game() {
            for phone in 1..self.clients.len() {
                let at = self.now + self.class_dice.between(20, 1_500);
                let client = ClientId(phone);
                self.queue.plan(at, Event::Arrive { client });
            }
        }
    }

    /// Whether the teacher knows that there is a game.
    pub(super) fn has_game(&self) -> bool {
        matches!(self.clients.first(), Some(Client::Host(host)) if host.has_game())
    }

    fn with_client(&mut self, id: ClientId, with: impl FnOnce(&mut Client, &mut Desk<'_>)) {
        let Some(client) = self.clients.get_mut(id.0) else {
            return;
        };
        let mut desk = Desk {
            now: self.now,
            dice: &mut self.class_dice,
            acts: Vec::new(),
        };
        with(client, &mut desk);
        for act in desk.acts {
            self.act(id, act);
        }
    }

    fn act(&mut self, client: ClientId, act: Act) {
        match act {
            Act::Connect => {
                self.oracle.reconnects(client);
                let (code, key) = (self.code, None);
                self.open_line(client, Request { code, key });
            }
            Act::Create { key } => {
                let (code, key) = (self.code, Some(key));
                self.open_line(client, Request { code, key });
            }
            Act::Say(frame) => {
                let text = frame.to_string();
                self.trace
                    .line(self.now, format_args!("client {} says {text}", client.0));
                self.oracle.said(client, &frame, &mut self.coverage);
                let bytes: Bytes = wire::text(&text);
                let answers = frame["q"].as_u64().filter(|_| frame["t"] == "answer");
                self.send(client, bytes, answers);
            }
            Act::Hangup => self.hang_up(client),
            Act::Wake { at, timer } => self.queue.plan(at, Event::Timer { client, timer }),
            Act::DrawCode => {
                self.code = draw_code(&mut self.class_dice);
                self.oracle.another_game();
            }
            Act::Deed(deed) => {
                self.trace
                    .line(self.now, format_args!("client {} {deed:?}", client.0));
                self.oracle.deed(client, deed);
            }
        }
    }
}
