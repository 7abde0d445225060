//! A teacher's screen: starts the game, closes questions and moves on as planned, keeps what it is shown.

use std::collections::BTreeSet;

use super::codec::Message;
use super::pacer::{Due, Task};
use super::patience::{Patience, QUIET_PLAYING_MS};
use super::world::{Effects, OnLoss, World};
use crate::measure::{FaultKind, Sequence};
use crate::sys::clock::Stamp;
use crate::sys::small;
use crate::wire::{Frame, Place, State, ToServer};

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

impl HostPlace {
    fn of(place: &Place<'_>) -> Self {
        Self {
            rank: place.rank,
            name: place.name.as_str().to_owned(),
            total: place.total,
        }
    }
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

/// A click that the server was too busy for is repeated after this time, in milliseconds; so is one that may have been lost
/// with the socket.
const CLICK_AGAIN_MS: u64 = 500;
/// The host's number among a class's members, for the generator: beyond every student's.
const NUMBER: u32 = u32::MAX;

/// The state of one host.
#[derive(Debug)]
pub struct Host {
    class: u32,
    token: String,
    sequence: Sequence,
    stage: Stage,
    /// Players it was told of, by id: a change may be told that its state has already.
    roster: BTreeSet<u32>,
    places: Vec<HostPlace>,
    reveals: Vec<Reveal>,
    /// Has its state on the socket that is open.
    here: bool,
    /// Since when it wants to be back.
    away_since: Option<Stamp>,
    /// Times that it was cut off, and failed attempts to come back since.
    turn: u32,
    attempt: u32,
    /// When the server said to come back, in milliseconds from the end of the socket.
    asked_ms: Option<u32>,
    patience: Patience,
    /// When it asked for a question, or for the podium after the last one, and has not been shown it yet.
    clicked_at: Option<Stamp>,
    /// Asked for the head of the sequence.
    asked: bool,
    /// Clicks that must not get lost: the start, the end of the playing, the end of the game.
    wants: Wants,
}

/// Which of the clicks that frame a game were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Wants {
    start: bool,
    end: bool,
    finish: bool,
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
            roster: BTreeSet::new(),
            places: Vec::new(),
            reveals: Vec::new(),
            here: false,
            away_since: None,
            turn: 0,
            attempt: 0,
            asked_ms: None,
            patience: Patience::default(),
            clicked_at: None,
            asked: false,
            wants: Wants::default(),
        }
    }

    /// Which of its game's doors it takes, by number.
    pub(super) const fn door(&self) -> u32 {
        self.class.wrapping_add(self.turn).wrapping_add(self.attempt)
    }

    /// Whether it was told anything since `moment`, or on a socket that was opened after `struck_at`.
    #[must_use]
    pub fn has_heard_since(&self, moment: Stamp, struck_at: Stamp) -> bool {
        self.patience.has_heard_since(moment, struck_at)
    }

    /// Index of its class.
    #[must_use]
    pub const fn class(&self) -> u32 {
        self.class
    }

    /// Whether a click before `moment` has shown nothing yet.
    #[must_use]
    pub fn waits_since(&self, moment: Stamp) -> bool {
        self.clicked_at.is_some_and(|at| at <= moment)
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

    /// Whether it has its state on a socket that is open.
    #[must_use]
    pub const fn is_here(&self) -> bool {
        self.here
    }

    /// Where its game stands, in a word.
    #[must_use]
    pub const fn phase(&self) -> &'static str {
        match self.stage {
            Stage::Opening => "opening",
            Stage::Lobby => "lobby",
            Stage::Question(_) => "question",
            Stage::Results(_) => "results",
            Stage::Podium => "podium",
            Stage::Ended => "ended",
        }
    }

    /// Whether nothing more will come: the game is closed, or the socket was lost.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// Whether it is between its first question and its podium.
    #[must_use]
    pub const fn is_playing(&self) -> bool {
        matches!(self.stage, Stage::Question(_) | Stage::Results(_))
    }

    /// Whether the final places are shown, or were.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Podium | Stage::Ended)
    }

    /// Players it was told of.
    #[must_use]
    pub fn roster(&self) -> u32 {
        small(self.roster.len())
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
    pub(super) fn on_open(&mut self, now: Stamp, world: &World, effects: &mut Effects) {
        self.patience.opened(now);
        if world.is_watchful {
            self.patience.begin(now, effects);
        }
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
                self.patience.heard(now);
                match Frame::parse(text) {
                    Ok(frame) => self.on_frame(now, &frame, world, effects),
                    Err(error) => self.fault(world, FaultKind::Malformed, || format!("{error}: {text}")),
                }
            }
            Message::Ping(payload) => effects.pong(payload),
            Message::Pong => {}
            Message::Close(code) => {
                effects.close();
                self.on_close(code, world);
            }
        }
    }

    /// Something is due. A task whose moment in the game has passed does nothing: the deadline, or the last answer, may
    /// have closed the question before the host could. Who was cut off does it when it is back.
    pub(super) fn on_due(&mut self, now: Stamp, due: Due, world: &mut World, effects: &mut Effects) {
        let task = due.task;
        match task {
            Task::Listen => return self.patience.on_due(due.at, now, QUIET_PLAYING_MS, effects),
            Task::Start => self.wants.start = true,
            Task::End => self.wants.end = true,
            Task::Finish => self.wants.finish = true,
            Task::Close { .. } | Task::Next { .. } | Task::Ping => {}
            // The engine's, and a player's.
            Task::Connect | Task::Drop { .. } | Task::Freeze { .. } | Task::Thaw => {}
            Task::Answer { .. } | Task::TapAgain { .. } => {}
        }
        if !self.here {
            return;
        }
        match (task, self.stage) {
            (Task::Start, Stage::Lobby) => self.open(1, now, ToServer::Start, world, effects),
            (Task::Close { q }, Stage::Question(open)) if q == open => {
                self.note_close(q, world);
                effects.send(ToServer::Close { q });
            }
            (Task::Next { q }, Stage::Results(shown)) if q == shown => {
                self.open(q + 1, now, ToServer::Next { q }, world, effects);
            }
            (Task::End, Stage::Question(_) | Stage::Results(_)) => {
                // A question that it has clicked and not seen yet ends as well.
                self.note_close(u16::MAX, world);
                effects.send(ToServer::End);
            }
            (Task::Finish, Stage::Podium) => effects.send(ToServer::Finish),
            // The harness's question, of which a page would know nothing.
            (Task::Ping, _) => {
                self.asked = true;
                return effects.send(ToServer::Ping);
            }
            _ => return,
        }
        // Whatever a host does is told at once, so silence means a dead line.
        if world.is_watchful {
            self.patience.asked(now, effects);
        }
    }

    /// The socket is gone.
    pub(super) fn on_gone(
        &mut self,
        now: Stamp,
        kind: FaultKind,
        why: &str,
        world: &mut World,
        effects: &mut Effects,
    ) {
        if self.stage != Stage::Ended && world.on_loss == OnLoss::Return && kind != FaultKind::Framing {
            if self.here {
                world.tally.cut_off += 1;
                self.leave(now, world);
            } else {
                self.attempt += 1;
                world.tally.failed_attempts += 1;
            }
            self.patience.end();
            let asked_ms = self.asked_ms.take();
            let wait_ms = asked_ms.unwrap_or_else(|| self.backoff_ms(world));
            effects.schedule(now.plus_ms(u64::from(wait_ms)), Task::Connect);
            return;
        }
        self.patience.end();
        self.here = false;
        if self.away_since.take().is_some()
            && let Some(class) = world.class_mut(self.class)
        {
            class.away -= 1;
        }
        if self.stage != Stage::Ended {
            self.fault(world, kind, || why.to_owned());
            self.stage = Stage::Ended;
        }
    }

    fn backoff_ms(&self, world: &World) -> u32 {
        world.plan.backoff_ms(self.class, NUMBER, self.turn, self.attempt)
    }

    /// It gave its socket up, because the server was silent for too long. The first attempt to come back is made at once.
    pub(super) fn on_silence(&mut self, now: Stamp, world: &mut World, effects: &mut Effects) {
        world.tally.silent += 1;
        let wait_ms = if self.here {
            world.tally.cut_off += 1;
            self.leave(now, world);
            0
        } else {
            self.attempt += 1;
            self.backoff_ms(world)
        };
        effects.schedule(now.plus_ms(u64::from(wait_ms)), Task::Connect);
    }

    /// It dropped its socket itself, and wants to be back at `back_at`.
    pub(super) fn on_dropped(&mut self, back_at: Stamp, world: &mut World) {
        world.tally.dropped += 1;
        self.patience.end();
        if self.here {
            self.leave(back_at, world);
        }
    }

    fn leave(&mut self, since: Stamp, world: &mut World) {
        self.here = false;
        self.turn += 1;
        self.attempt = 0;
        self.away_since = Some(world.leaves(self.class, since));
    }

    fn on_close(&mut self, code: Option<u16>, world: &mut World) {
        world.tally.closed_as_moved += u64::from(code == Some(1_012));
        if let Some(class) = world.class_mut(self.class) {
            class.last_refusal = code.unwrap_or(0);
        }
        let ended = self.stage == Stage::Ended && code == Some(1_000);
        let comes_back = matches!(
            code,
            None | Some(1_001 | 1_006 | 1_011 | 1_012 | 1_013 | 4_408 | 4_429)
        );
        let goes_on = comes_back && world.on_loss == OnLoss::Return;
        if !ended && !goes_on {
            self.fault(world, FaultKind::Lost, || format!("closed with {code:?}"));
            self.stage = Stage::Ended;
        }
    }

    /// From now on questions up to `q` may end before everybody has answered.
    fn note_close(&self, q: u16, world: &mut World) {
        if let Some(class) = world.class_mut(self.class) {
            class.closed_q = class.closed_q.max(q);
        }
    }

    fn open(&mut self, q: u16, now: Stamp, click: ToServer<'_>, world: &mut World, effects: &mut Effects) {
        if let Some(record) = world.class_mut(self.class).and_then(|c| c.click_mut(q)) {
            if record.first_at == Stamp::default() {
                record.first_at = now;
            }
            record.at = now;
        }
        self.clicked_at = Some(now);
        effects.send(click);
    }

    fn on_frame(&mut self, now: Stamp, frame: &Frame<'_>, world: &mut World, effects: &mut Effects) {
        self.asked_ms = frame.retry_ms;
        match frame.t.as_str() {
            "sync" => self.on_sync(now, frame, world, effects),
            "roster" => {
                let joined = frame.joined.iter().flatten();
                self.roster.extend(joined.map(|entry| entry.id));
            }
            "question" => self.on_question(now, frame, world, effects),
            "reveal" => self.on_reveal(now, frame, world, effects),
            "over" => self.on_over(frame, world),
            "pong" => {
                world.tally.pongs += u64::from(std::mem::take(&mut self.asked));
                if frame.seq != self.sequence.last() {
                    self.fault(world, FaultKind::Gap, || format!("head {:?}", frame.seq));
                }
            }
            "error" => {
                let code = frame.code.as_ref().map_or("none", |c| c.as_str());
                // A close may cross the deadline or the last answer; who comes back clicks again what may have arrived.
                let crossed = matches!(code, "wrong_phase" | "not_open")
                    && (world.on_loss == OnLoss::Return
                        || matches!(self.stage, Stage::Results(_) | Stage::Podium));
                if code == "busy" && world.on_loss == OnLoss::Return {
                    self.click_again(now, world, effects);
                } else if !crossed {
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

    fn on_sync(&mut self, now: Stamp, frame: &Frame<'_>, world: &mut World, effects: &mut Effects) {
        let state = frame.state.as_ref();
        let (Some(state), Some(seq)) = (state, state.and_then(|s| s.seq)) else {
            return self.fault(world, FaultKind::Malformed, || "sync without state".to_owned());
        };
        self.clicked_at = None;
        world.tally.new_epochs += u64::from(self.sequence.is_of_another(state.epoch));
        if let Err(fault) = self.sequence.cover(state.epoch, seq) {
            self.fault(world, FaultKind::from(fault), || {
                format!("a state with seq {seq}")
            });
        }
        self.roster = state.roster.iter().flatten().map(|entry| entry.id).collect();
        (self.here, self.attempt) = (true, 0);
        if let Some(since) = self.away_since.take() {
            world.returns(self.class, since, now);
        }
        if let Some(class) = world.class_mut(self.class) {
            class.at_epoch(state.epoch);
        }
        if self.stage == Stage::Opening {
            self.stage = Stage::Lobby;
        } else {
            self.take_stage(state);
            self.click_again(now, world, effects);
        }
    }

    /// Where the game stands, for a host who comes back.
    fn take_stage(&mut self, state: &State<'_>) {
        let q = state.question.as_ref().and_then(|question| question.q);
        match (state.phase.as_ref().map(|phase| phase.as_str()), q) {
            (Some("lobby"), _) => self.stage = Stage::Lobby,
            (Some("question"), Some(q)) => self.stage = Stage::Question(q),
            (Some("results"), Some(q)) => self.stage = Stage::Results(q),
            (Some("podium"), _) => self.stage = Stage::Podium,
            (Some("ended"), _) => self.stage = Stage::Ended,
            // A phase that this client does not know: the next frame tells.
            _ => {}
        }
        let missed = state.reveal.as_ref().and_then(|reveal| {
            Some(Reveal {
                q: reveal.q?,
                histogram: reveal.histogram.clone()?,
                answered: reveal.answered?,
                right: reveal.right?,
            })
        });
        if let Some(missed) = missed.filter(|m| self.reveals.last().is_none_or(|last| last.q != m.q)) {
            self.reveals.push(missed);
        }
        if let Some(places) = state.over.as_ref().and_then(|over| over.places.as_ref()) {
            self.places = places.iter().map(HostPlace::of).collect();
        }
    }

    /// Clicks again what may have been lost.
    fn click_again(&self, now: Stamp, world: &World, effects: &mut Effects) {
        let soon = now.plus_ms(CLICK_AGAIN_MS);
        let task = match self.stage {
            Stage::Lobby if self.wants.start => Some((soon, Task::Start)),
            Stage::Question(_) | Stage::Results(_) if self.wants.end => Some((soon, Task::End)),
            Stage::Podium if self.wants.finish => Some((soon, Task::Finish)),
            Stage::Question(q) => world
                .plan
                .pace
                .close_after_ms
                .map(|ms| (now.plus_ms(u64::from(ms)), Task::Close { q })),
            Stage::Results(q) => {
                let wait_ms = u64::from(world.plan.results_ms(self.class, q));
                Some((now.plus_ms(wait_ms), Task::Next { q }))
            }
            Stage::Opening | Stage::Lobby | Stage::Podium | Stage::Ended => None,
        };
        if let Some((at, task)) = task {
            effects.schedule(at, task);
        }
    }

    fn on_question(&mut self, now: Stamp, frame: &Frame<'_>, world: &mut World, effects: &mut Effects) {
        self.advance(frame, world);
        let Some(q) = frame.q else {
            return self.fault(world, FaultKind::Malformed, || "question without q".to_owned());
        };
        self.stage = Stage::Question(q);
        self.clicked_at = None;
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
        self.clicked_at = None;
        let Some(places) = &frame.places else {
            return self.fault(world, FaultKind::Malformed, || "over without places".to_owned());
        };
        self.places = places.iter().map(HostPlace::of).collect();
    }

    fn advance(&mut self, frame: &Frame<'_>, world: &mut World) {
        let what = || format!("{} with seq {:?}", frame.t.as_str(), frame.seq);
        match frame.seq.map(|seq| self.sequence.advance(seq)) {
            Some(Ok(())) => {}
            Some(Err(fault)) => {
                let who = format!("class {}, host", self.class);
                world.tally.faults.add_sequence(fault, &who, what);
            }
            None => self.fault(world, FaultKind::Malformed, what),
        }
    }

    fn fault(&self, world: &mut World, kind: FaultKind, what: impl FnOnce() -> String) {
        world
            .tally
            .faults
            .add(kind, || format!("class {}, host: {}", self.class, what()));
    }
}
