//! A student's phone.

use serde_json::{Value, json};

use super::link::{Act, Deed, Link, Turn};
use super::{Desk, News};
use crate::Millis;

/// Plan: the student decides on an answer.
const ANSWER: u8 = 0;
/// Plan: the button is tapped again.
const TAP_AGAIN: u8 = 1;
/// Plan: another name.
const RENAME: u8 = 2;

/// The answer on its way.
#[derive(Debug, Clone)]
struct Slot {
    q: u16,
    choices: Vec<u8>,
    is_multiple: bool,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Sending,
    Accepted,
    Saved,
    Refused,
}

/// A phone.
#[derive(Debug)]
pub(crate) struct Phone {
    link: Link,
    name: String,
    names: u32,
    token: Option<String>,
    player: Option<u32>,
    seq: u64,
    epoch: u64,
    slots: Vec<Slot>,
    /// The open question, as shown.
    open: Option<Value>,
    /// The last question that was thought about.
    thought: u16,
    is_here: bool,
    is_done: bool,
}

impl Phone {
    pub(crate) fn new(number: usize) -> Self {
        Self {
            link: Link::new(),
            name: format!("Student {number}"),
            names: 0,
            token: None,
            player: None,
            seq: 0,
            epoch: 0,
            slots: Vec::new(),
            open: None,
            thought: 0,
            is_here: false,
            is_done: false,
        }
    }

    pub(crate) fn is_here(&self) -> bool {
        self.is_here
    }

    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Opens the page.
    pub(crate) fn arrive(&mut self, desk: &mut Desk<'_>) {
        self.is_here = true;
        self.link.connect(desk);
    }

    pub(crate) fn on(&mut self, news: News, desk: &mut Desk<'_>) {
        match self.link.on(news, desk) {
            Turn::Nothing => {}
            Turn::Introduce => self.introduce(desk),
            Turn::Frame(frame) => self.on_frame(&frame, desk),
            Turn::Stopped(code) => {
                self.is_done = true;
                desk.act(Act::Deed(Deed::Stopped { code }));
            }
            Turn::Rejoin => {
                self.token = None;
                self.link.again(None, desk);
            }
            Turn::Plan(ANSWER) => self.decide(desk),
            Turn::Plan(TAP_AGAIN) => self.send(self.slots.len().saturating_sub(1), desk),
            Turn::Plan(RENAME) => {
                let name = format!("{}!", self.name);
                self.link.say(json!({ "t": "rename", "name": name }), false, desk);
            }
            Turn::Plan(_) => {}
        }
    }

    fn introduce(&mut self, desk: &mut Desk<'_>) {
        let first = match &self.token {
            Some(token) => json!({ "t": "resume", "token": token, "seq": self.seq }),
            None => json!({ "t": "join", "name": self.join_name() }),
        };
        self.link.say(first, true, desk);
    }

    /// Whoever was cut off between the join and its `welcome` may be in the game already, under a name that is taken now.
    fn join_name(&self) -> String {
        match self.names {
            0 => self.name.clone(),
            names => format!("{} {names}", self.name),
        }
    }

    fn on_frame(&mut self, frame: &Value, desk: &mut Desk<'_>) {
        match frame["t"].as_str().unwrap_or_default() {
            "welcome" => {
                self.token = frame["token"].as_str().map(str::to_owned);
                let player = frame["id"].as_u64().and_then(|id| u32::try_from(id).ok());
                desk.act(Act::Deed(Deed::Joined {
                    player: player.unwrap_or_default(),
                }));
                if std::mem::replace(&mut self.player, player) != player {
                    self.start_over(desk);
                }
                self.on_state(&frame["state"], desk);
            }
            "sync" => self.on_state(&frame["state"], desk),
            "question" if self.follows(frame, desk) => self.on_question(frame, desk),
            "result" | "over" if self.follows(frame, desk) => {
                self.open = None;
            }
            "ack" => self.on_ack(frame),
            "error" => self.on_error(frame, desk),
            _ => {}
        }
    }

    /// It is another player now, since its joining was lost: the answer on the screen is given once more, by that player.
    fn start_over(&mut self, desk: &mut Desk<'_>) {
        self.slots.retain(|slot| slot.stage != Stage::Refused);
        for slot in &mut self.slots {
            slot.stage = Stage::Sending;
            desk.act(Act::Deed(Deed::Answered {
                q: slot.q,
                choices: slot.choices.clone(),
            }));
        }
    }

    /// Whoever sees a gap opens its socket anew.
    fn follows(&mut self, frame: &Value, desk: &mut Desk<'_>) -> bool {
        let seq = frame["seq"].as_u64().unwrap_or_default();
        if seq != self.seq + 1 {
            desk.act(Act::Hangup);
            self.link.connect(desk);
            return false;
        }
        self.seq = seq;
        true
    }

    fn on_state(&mut self, state: &Value, desk: &mut Desk<'_>) {
        self.seq = state["seq"].as_u64().unwrap_or_default();
        self.epoch = state["epoch"].as_u64().unwrap_or_default();
        self.open = None;
        if state["phase"] == "question" {
            self.on_question(&state["question"], desk);
        } else if state["phase"] == "lobby" && desk.dice.chance(10) {
            let delay_ms = desk.dice.between(100, 2_000);
            self.link.plan(RENAME, delay_ms, desk);
        }
        for index in 0..self.slots.len() {
            self.send(index, desk);
        }
    }

    fn on_question(&mut self, question: &Value, desk: &mut Desk<'_>) {
        let q = question["q"]
            .as_u64()
            .and_then(|q| u16::try_from(q).ok())
            .unwrap_or_default();
        let left_ms = question["left"]
            .as_u64()
            .or(question["ms"].as_u64())
            .unwrap_or(5_000);
        self.open = Some(question.clone());
        if self.thought >= q {
            return;
        }
        self.thought = q;
        // Most answer in good time, some at once, some too late, some never.
        let delay_ms: Millis = match desk.dice.weighted(&[20, 60, 12, 8]) {
            0 => desk.dice.between(1, 400),
            1 => desk.dice.between(400, left_ms),
            2 => left_ms.saturating_sub(100) + desk.dice.between(0, 300),
            _ => return,
        };
        self.link.plan(ANSWER, delay_ms, desk);
    }

    fn decide(&mut self, desk: &mut Desk<'_>) {
        let Some(question) = self.open.clone() else {
            return;
        };
        let q = question["q"]
            .as_u64()
            .and_then(|q| u16::try_from(q).ok())
            .unwrap_or_default();
        if self.slots.iter().any(|slot| slot.q == q) {
            return;
        }
        let count = question["choices"].as_array().map_or(2, Vec::len);
        let is_multiple = question["kind"] == "multiple";
        let first = u8::try_from(desk.dice.below(count)).unwrap_or_default();
        let mut choices = vec![first];
        if is_multiple {
            let more = (0..)
                .take(count)
                .filter(|choice| *choice != first && desk.dice.chance(40));
            choices.extend(more);
            choices.sort_unstable();
        }
        desk.act(Act::Deed(Deed::Answered {
            q,
            choices: choices.clone(),
        }));
        self.slots.push(Slot {
            q,
            choices,
            is_multiple,
            stage: Stage::Sending,
        });
        self.send(self.slots.len() - 1, desk);
        if desk.dice.chance(15) {
            let delay_ms = desk.dice.between(0, 300);
            self.link.plan(TAP_AGAIN, delay_ms, desk);
        }
    }

    /// Sends an answer, again if need be, unless it is settled.
    fn send(&mut self, index: usize, desk: &mut Desk<'_>) {
        let Some(slot) = self.slots.get(index) else {
            return;
        };
        if matches!(slot.stage, Stage::Saved | Stage::Refused) {
            return;
        }
        let frame = match slot.choices.as_slice() {
            [choice] if !slot.is_multiple => json!({ "t": "answer", "q": slot.q, "choice": choice }),
            choices => json!({ "t": "answer", "q": slot.q, "choices": choices }),
        };
        self.link.say(frame, true, desk);
    }

    fn on_ack(&mut self, frame: &Value) {
        let q = frame["q"].as_u64();
        if let Some(slot) = self.slots.iter_mut().find(|slot| Some(u64::from(slot.q)) == q)
            && slot.stage != Stage::Saved
        {
            let is_saved = frame["saved"] == true;
            slot.stage = if is_saved { Stage::Saved } else { Stage::Accepted };
        }
    }

    fn on_error(&mut self, frame: &Value, desk: &mut Desk<'_>) {
        let code = frame["code"].as_str().unwrap_or_default();
        if let Some(q) = frame["q"].as_u64() {
            let slot = self.slots.iter_mut().find(|slot| u64::from(slot.q) == q);
            if let Some(slot) = slot {
                // Busy passes; what was accepted stands, whatever a repetition of it is told.
                if code != "busy" && slot.stage == Stage::Sending {
                    slot.stage = Stage::Refused;
                }
            }
            return;
        }
        match code {
            "name_taken" => {
                self.names += 1;
                self.introduce(desk);
            }
            // The page offers to try again.
            "busy" | "locked" | "game_full" => self.link.again(Some(1_000), desk),
            _ => {}
        }
    }
}
