//! A teacher's screen: starts the game, closes questions and moves on as planned, keeps what it is shown.

use super::codec::Message;
use super::pacer::Task;
use super::world::{Effects, World};
use crate::measure::{FaultKind, Sequence, SequenceFault};
use crate::sys::clock::Stamp;
use crate::sys::{index, small};
use crate::wire::{Frame, ToServer};

/// A line of the final places, as the host is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPlace {
    /// Place.
    pub rank: u32,
    /// Name.
    pub name: String,
    /// Points.
    pub total: u32,
}

/// The outcome of a question, as the host is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reveal {
    /// Question number, from 1.
    pub q: u16,
    /// Answers that contain each choice.
    pub histogram: Vec<u32>,
    /// Answers accepted.
    pub answered: u32,
    /// Correct answers.
    pub right: u32,
}

/// Where the host's game stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No state yet.
    Opening,
    Lobby,
    Question(u16),
    Results(u16),
    Podium,
    Ended,
}

/// The state of one host.
#[derive(Debug)]
pub struct Host {
    class: u32,
    token: String,
    sequence: Sequence,
    stage: Stage,
    roster: u32,
    places: Vec<HostPlace>,
    reveals: Vec<Reveal>,
}

impl Host {
    /// The host of class `class`, who signs in with `token`.
    #[must_use]
    pub fn new(class: u32, token: String) -> Self {
        Self {
            class,
            token,
            sequence: Sequence::default(),
            stage: Stage::Opening,
            roster: 0,
            places: Vec::new(),
            reveals: Vec::new(),
        }
    }

    /// Index of its class.
    #[must_use]
    pub const fn class(&self) -> u32 {
        self.class
    }

    /// Whether it has the game's state.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.stage != Stage::Opening
    }

    /// The question that is open or shown, 0 before the first.
    #[must_use]
    pub fn question(&self) -> u16 {
        match self.stage {
            Stage::Question(q) | Stage::Results(q) => q,
            Stage::Opening | Stage::Lobby => 0,
            Stage::Podium | Stage::Ended => self.reveals.last().map_or(0, |r| r.q),
        }
    }

    /// Whether nothing more will come: the game is closed, or the socket was lost.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// Whether the final places are shown, or were.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Podium | Stage::Ended)
    }

    /// Players it was told of.
    #[must_use]
    pub const fn roster(&self) -> u32 {
        self.roster
    }

    /// The final places.
    #[must_use]
    pub fn places(&self) -> &[HostPlace] {
        &self.places
    }

    /// The questions' outcomes.
    #[must_use]
    pub fn reveals(&self) -> &[Reveal] {
        &self.reveals
    }

    /// The last sequence number it has.
    #[must_use]
    pub const fn head(&self) -> Option<u32> {
        self.sequence.last()
    }

    /// The handshake is done.
    pub(super) fn on_open(&self, effects: &mut Effects) {
        effects.send(ToServer::Host { token: &self.token });
    }

    /// A message arrived.
    pub(super) fn on_message(
        &mut self,
        now: Stamp,
        message: &Message<'_>,
        world: &mut World,
        effects: &mut Effects,
    ) {
        match *message {
            Message::Text(text) => {
                world.tally.messages += 1;
                match Frame::parse(text) {
                    Ok(frame) => self.on_frame(now, &frame, world, effects),
                    Err(error) => self.fault(world, FaultKind::Malformed, || format!("{error}: {text}")),
                }
            }
            Message::Ping(payload) => effects.pong(payload),
            Message::Pong => {}
            Message::Close(code) => {
                effects.close();
                if self.stage != Stage::Ended || code != Some(1_000) {
                    self.fault(world, FaultKind::Lost, || format!("closed with {code:?}"));
                    self.stage = Stage::Ended;
                }
            }
        }
    }

    /// Something is due. A task whose moment in the game has passed does nothing: the deadline, or the last answer, may
    /// have closed the question before the host could.
    pub(super) fn on_due(&mut self, now: Stamp, task: Task, world: &mut World, effects: &mut Effects) {
        match task {
            Task::Start if self.stage == Stage::Lobby => self.open(1, now, ToServer::Start, world, effects),
            Task::Close { q } if self.stage == Stage::Question(q) => effects.send(ToServer::Close { q }),
            Task::Next { q } if self.stage == Stage::Results(q) => {
                self.open(q + 1, now, ToServer::Next { q }, world, effects);
            }
            Task::Finish if self.stage == Stage::Podium => effects.send(ToServer::Finish),
            Task::Ping => effects.send(ToServer::Ping),
            Task::Start | Task::Close { .. } | Task::Next { .. } | Task::Finish => {}
            // The engine's, and a player's.
            Task::Connect | Task::Answer { .. } => {}
        }
    }

    /// The socket is gone.
    pub(super) fn on_gone(&mut self, kind: FaultKind, why: &str, world: &mut World) {
        if self.stage != Stage::Ended {
            self.fault(world, kind, || why.to_owned());
            self.stage = Stage::Ended;
        }
    }

    fn open(&self, q: u16, now: Stamp, click: ToServer<'_>, world: &mut World, effects: &mut Effects) {
        if let Some(record) = world
            .classes
            .get_mut(index(self.class))
            .and_then(|c| c.click_mut(q))
        {
            record.at = now;
        }
        effects.send(click);
    }

    fn on_frame(&mut self, now: Stamp, frame: &Frame<'_>, world: &mut World, effects: &mut Effects) {
        match frame.t.as_str() {
            "sync" => self.on_sync(frame, world),
            "roster" => self.roster += frame.joined.as_ref().map_or(0, |j| small(j.len())),
            "question" => self.on_question(now, frame, world, effects),
            "reveal" => self.on_reveal(now, frame, world, effects),
            "over" => self.on_over(frame, world),
            "pong" if frame.seq != self.sequence.last() => {
                self.fault(world, FaultKind::Gap, || format!("head {:?}", frame.seq));
            }
            "error" => {
                let code = frame.code.as_ref().map_or("none", |c| c.as_str());
                // A close may cross the deadline or the last answer.
                let crossed =
                    matches!(code, "wrong_phase" | "not_open") && matches!(self.stage, Stage::Results(_));
                if !crossed {
                    self.fault(world, FaultKind::Refused, || code.to_owned());
                }
            }
            "bye" if frame.reason.as_ref().is_some_and(|r| r.as_str() == "ended") => {
                self.stage = Stage::Ended
            }
            // `progress`, `lock`, `saving`, and what a newer server says.
            _ => {}
        }
    }

    fn on_sync(&mut self, frame: &Frame<'_>, world: &mut World) {
        let state = frame.state.as_ref();
        let (Some(state), Some(seq)) = (state, state.and_then(|s| s.seq)) else {
            return self.fault(world, FaultKind::Malformed, || "sync without state".to_owned());
        };
        self.sequence.cover(seq);
        self.roster = state.roster.as_ref().map_or(0, |r| small(r.len()));
        if self.stage == Stage::Opening {
            self.stage = Stage::Lobby;
        }
    }

    fn on_question(&mut self, now: Stamp, frame: &Frame<'_>, world: &mut World, effects: &mut Effects) {
        self.advance(frame, world);
        let Some(q) = frame.q else {
            return self.fault(world, FaultKind::Malformed, || "question without q".to_owned());
        };
        self.stage = Stage::Question(q);
        if let Some(close_ms) = world.plan.pace.close_after_ms {
            effects.schedule(now.plus_ms(u64::from(close_ms)), Task::Close { q });
        }
    }

    fn on_reveal(&mut self, now: Stamp, frame: &Frame<'_>, world: &mut World, effects: &mut Effects) {
        self.advance(frame, world);
        let (Some(q), Some(answered), Some(right), Some(histogram)) =
            (frame.q, frame.answered, frame.right, frame.histogram.clone())
        else {
            return self.fault(world, FaultKind::Malformed, || {
                "reveal without its figures".to_owned()
            });
        };
        self.stage = Stage::Results(q);
        self.reveals.push(Reveal {
            q,
            histogram,
            answered,
            right,
        });
        let wait_ms = world.plan.results_ms(self.class, q);
        effects.schedule(now.plus_ms(u64::from(wait_ms)), Task::Next { q });
    }

    fn on_over(&mut self, frame: &Frame<'_>, world: &mut World) {
        self.advance(frame, world);
        self.stage = Stage::Podium;
        let Some(places) = &frame.places else {
            return self.fault(world, FaultKind::Malformed, || "over without places".to_owned());
        };
        let place = |p: &crate::wire::Place<'_>| HostPlace {
            rank: p.rank,
            name: p.name.as_str().to_owned(),
            total: p.total,
        };
        self.places = places.iter().map(place).collect();
    }

    fn advance(&mut self, frame: &Frame<'_>, world: &mut World) {
        let outcome = frame.seq.map(|seq| self.sequence.advance(seq));
        let kind = match outcome {
            Some(Ok(())) => return,
            Some(Err(SequenceFault::Gap { .. })) => FaultKind::Gap,
            Some(Err(SequenceFault::Duplicate)) => FaultKind::Duplicate,
            Some(Err(SequenceFault::Unverified)) => FaultKind::Unverified,
            None => FaultKind::Malformed,
        };
        self.fault(world, kind, || {
            format!("{} with seq {:?}", frame.t.as_str(), frame.seq)
        });
    }

    fn fault(&self, world: &mut World, kind: FaultKind, what: impl FnOnce() -> String) {
        world
            .tally
            .faults
            .add(kind, || format!("class {}, host: {}", self.class, what()));
    }
}
