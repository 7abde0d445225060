//! The teacher's laptop: starts the game, leads it to its end.

use serde_json::{Value, json};

use super::link::{Act, Deed, Link, Turn};
use super::{Desk, News};
use crate::Millis;
use crate::keys;

/// Plan: ask for the game.
const CREATE: u8 = 0;
/// Plan: the next click.
const CLICK: u8 = 1;
/// Time after which a click that did nothing is repeated.
const CLICK_AGAIN_MS: Millis = 3_000;
/// Time for the answer to a request.
const REQUEST_MS: Millis = 5_000;

/// The host.
#[derive(Debug)]
pub(crate) struct Host {
    link: Link,
    key: String,
    has_game: bool,
    phase: String,
    q: u64,
    seq: u64,
    is_done: bool,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self {
            link: Link::new(),
            key: "first".to_owned(),
            has_game: false,
            phase: String::new(),
            q: 0,
            seq: 0,
            is_done: false,
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether the game exists, as far as the teacher knows.
    pub(crate) fn has_game(&self) -> bool {
        self.has_game
    }

    /// Opens the page.
    pub(crate) fn arrive(&mut self, desk: &mut Desk<'_>) {
        self.create(desk);
    }

    fn create(&mut self, desk: &mut Desk<'_>) {
        desk.act(Act::Create {
            key: self.key.clone(),
        });
        self.link.plan(CREATE, REQUEST_MS, desk);
    }

    pub(crate) fn on(&mut self, news: News, desk: &mut Desk<'_>) {
        if !self.has_game {
            return self.on_opening(news, desk);
        }
        match self.link.on(news, desk) {
            Turn::Nothing => {}
            Turn::Introduce => {
                let token = keys::teacher_token();
                self.link.say(json!({ "t": "host", "token": token }), true, desk);
            }
            Turn::Frame(frame) => self.on_frame(&frame, desk),
            Turn::Stopped(code) => {
                self.is_done = true;
                desk.act(Act::Deed(Deed::Stopped { code }));
            }
            Turn::Rejoin => self.link.again(None, desk),
            Turn::Plan(CLICK) => self.click(desk),
            Turn::Plan(_) => {}
        }
    }

    fn on_opening(&mut self, news: News, desk: &mut Desk<'_>) {
        match news {
            News::Answer { status: 200 | 201 } => {
                self.has_game = true;
                self.link.drop_plan(CREATE);
                self.link.connect(desk);
            }
            News::Answer { status } => {
                if status == 409 {
                    desk.act(Act::DrawCode);
                }
                self.link.plan(CREATE, 500, desk);
            }
            News::Closed(_) => self.link.plan(CREATE, 500, desk),
            News::Timer(_) => {
                if let Turn::Plan(CREATE) = self.link.on(news, desk) {
                    desk.act(Act::Hangup);
                    self.create(desk);
                }
            }
            News::Open | News::Frame(_) | News::Reload => {}
        }
    }

    fn on_frame(&mut self, frame: &Value, desk: &mut Desk<'_>) {
        match frame["t"].as_str().unwrap_or_default() {
            "sync" => {
                let state = &frame["state"];
                self.seq = state["seq"].as_u64().unwrap_or_default();
                let phase = state["phase"].as_str().unwrap_or_default().to_owned();
                let q = state["question"]["q"].as_u64().or(state["reveal"]["q"].as_u64());
                self.enter(&phase, q.unwrap_or(self.q), desk);
            }
            t @ ("question" | "reveal" | "over") => {
                let seq = frame["seq"].as_u64().unwrap_or_default();
                if seq != self.seq + 1 {
                    desk.act(Act::Hangup);
                    return self.link.connect(desk);
                }
                self.seq = seq;
                let phase = match t {
                    "question" => "question",
                    "reveal" => "results",
                    _ => "podium",
                };
                let q = frame["q"].as_u64().unwrap_or(self.q);
                self.enter(phase, q, desk);
            }
            _ => {}
        }
    }

    fn enter(&mut self, phase: &str, q: u64, desk: &mut Desk<'_>) {
        phase.clone_into(&mut self.phase);
        self.q = q;
        let delay_ms = match phase {
            "lobby" => desk.dice.between(1_500, 4_000),
            "results" => desk.dice.between(300, 1_500),
            "podium" => desk.dice.between(500, 2_000),
            // Most questions close by themselves.
            "question" if desk.dice.chance(15) => desk.dice.between(500, 4_000),
            _ => return self.link.drop_plan(CLICK),
        };
        self.link.plan(CLICK, delay_ms, desk);
    }

    fn click(&mut self, desk: &mut Desk<'_>) {
        let q = self.q;
        let frame = match self.phase.as_str() {
            "lobby" => json!({ "t": "start" }),
            "question" if desk.dice.chance(30) => json!({ "t": "skip", "q": q }),
            "question" => json!({ "t": "close", "q": q }),
            "results" => json!({ "t": "next", "q": q }),
            "podium" => json!({ "t": "finish" }),
            _ => return,
        };
        self.link.say(frame, false, desk);
        self.link.plan(CLICK, CLICK_AGAIN_MS, desk);
    }
}
