//! A student's phone: joins, answers as planned, comes back when its socket was lost, checks everything it is told.
//! Answers and what becomes of them are in [`answers`], coming and going in [`presence`].

mod answers;
mod presence;

use super::codec::Message;
use super::pacer::{Due, Task};
use super::patience::{Patience, QUIET_PLAYING_MS, QUIET_WAITING_MS};
use super::world::{Effects, World};
use crate::measure::{FaultKind, Sequence, SequenceFault};
use crate::plan::{self, Mishap};
use crate::sys::clock::Stamp;
use crate::wire::Frame;

/// The state of one player; about two hundred bytes, as thousands of them are held.
#[derive(Debug)]
pub struct Player {
    class: u32,
    student: u32,
    /// When the join was due.
    due_at: Stamp,
    /// How much of the join's time was the harness's own delay, in microseconds.
    own_us: u32,
    /// Id within the game, 0 before `welcome`.
    id: u32,
    /// What to resume with, from `welcome`.
    token: Option<Box<str>>,
    sequence: Sequence,
    total: u32,
    /// The open question, 0 when there is none.
    open_q: u16,
    /// The last question that it was told of, 0 before the first.
    last_q: u16,
    /// Asked for the head of the sequence.
    asked: bool,
    /// The last question that it has answered, 0 before the first.
    answered_q: u16,
    /// When the open question arrived.
    seen_at: Stamp,
    /// The open question was not seen from its beginning on one socket: the server's clock of it may stand elsewhere.
    disturbed: bool,
    /// Row of the newest answer in the ledger.
    row: Option<u32>,
    /// Nothing has said yet that its joining is saved: a crash may take it back.
    unsaved: bool,
    /// Rows of answers that are neither saved nor refused: to be sent again after coming back.
    pending: Vec<u32>,
    final_places: Option<Final>,
    /// Was shown the podium.
    saw_end: bool,
    /// The end of the socket is expected: the server said why, or it was reported already.
    end_expected: bool,
    /// Welcomed on the socket that is open.
    here: bool,
    /// Since when it wants to be back.
    away_since: Option<Stamp>,
    /// Times that it was cut off, and failed attempts to come back since.
    turn: u16,
    attempt: u16,
    /// When the server said to come back, in milliseconds from the end of the socket.
    asked_ms: Option<u32>,
    patience: Patience,
}

/// What a frame with a sequence number is to a phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum News {
    /// The one that was due next.
    Next,
    /// New, though not the next one: that was reported, and what follows from it is not reported again.
    OutOfOrder,
    /// Known already.
    None,
}

/// What a phone shows at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Final {
    /// Place.
    pub rank: u32,
    /// Points.
    pub total: u32,
    /// Players ranked.
    pub of: u32,
}

impl Player {
    /// Student `student` of class `class`, whose join is due at `due_at`.
    #[must_use]
    pub fn new(class: u32, student: u32, due_at: Stamp) -> Self {
        Self {
            class,
            student,
            due_at,
            own_us: 0,
            id: 0,
            token: None,
            sequence: Sequence::default(),
            total: 0,
            open_q: 0,
            last_q: 0,
            asked: false,
            answered_q: 0,
            seen_at: Stamp::default(),
            disturbed: false,
            row: None,
            unsaved: false,
            pending: Vec::new(),
            final_places: None,
            saw_end: false,
            end_expected: false,
            here: false,
            away_since: None,
            turn: 0,
            attempt: 0,
            asked_ms: None,
            patience: Patience::default(),
        }
    }

    /// Which of its game's doors it takes, by number.
    pub(super) fn door(&self) -> u32 {
        let attempts = u32::from(self.turn) + u32::from(self.attempt);
        self.class.wrapping_add(self.student).wrapping_add(attempts)
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

    /// When its join was due.
    #[must_use]
    pub const fn due_at(&self) -> Stamp {
        self.due_at
    }

    /// Its id in the game, once it was welcomed.
    #[must_use]
    pub const fn id(&self) -> Option<u32> {
        if self.id == 0 { None } else { Some(self.id) }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        plan::student_name(self.student)
    }

    /// The last sequence number it has.
    #[must_use]
    pub const fn head(&self) -> Option<u32> {
        self.sequence.last()
    }

    /// Whether it was welcomed on a socket that is open.
    #[must_use]
    pub const fn is_here(&self) -> bool {
        self.here
    }

    /// Whether it was let in when the final places stood already, so that it has none.
    #[must_use]
    pub const fn came_at_the_end(&self) -> bool {
        self.id != 0 && self.saw_end && self.final_places.is_none()
    }

    /// Whether `name` is one that it has played under.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        let own = self.name();
        name.strip_prefix(&own)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    }

    /// What it shows at the end.
    #[must_use]
    pub const fn final_places(&self) -> Option<Final> {
        self.final_places
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
                if let Some(class) = world.class_mut(self.class) {
                    class.traffic.frames += 1;
                    class.traffic.payload_bytes += crate::sys::count(text.len());
                }
                match Frame::parse(text) {
                    Ok(frame) => self.on_frame(now, text, &frame, world, effects),
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

    /// Something is due. Who is not welcomed yet, or was cut off, does it when it is back.
    pub(super) fn on_due(&mut self, now: Stamp, due: Due, world: &mut World, effects: &mut Effects) {
        if due.task == Task::Listen {
            let is_playing = self.answered_q > 0 || self.open_q > 0;
            let quiet_ms = match is_playing && !self.saw_end {
                true => QUIET_PLAYING_MS,
                false => QUIET_WAITING_MS,
            };
            return self.patience.on_due(due.at, now, quiet_ms, effects);
        }
        // Whoever is away has the head from the state with which it comes back.
        self.asked |= due.task == Task::Ping;
        if !self.here {
            return;
        }
        match due.task {
            Task::Answer { q } => self.answer(now, now.since(due.at), q, world, effects),
            Task::TapAgain { q } => self.tap_again(q, world, effects),
            Task::Ping => effects.send(crate::wire::ToServer::Ping),
            // Done above.
            Task::Listen => {}
            // The engine's.
            Task::Connect | Task::Drop { .. } | Task::Freeze { .. } | Task::Thaw => {}
            // A host's.
            Task::Start | Task::Close { .. } | Task::Next { .. } | Task::End | Task::Finish => {}
        }
    }

    fn on_frame(
        &mut self,
        now: Stamp,
        text: &str,
        frame: &Frame<'_>,
        world: &mut World,
        effects: &mut Effects,
    ) {
        // What depends on nothing carries no mark; all else says without one that it is saved, with everything before it. A
        // refusal at the door says nothing of what was before.
        let is_welcome = frame.t.as_str() == "welcome";
        if (self.here || is_welcome) && !matches!(frame.t.as_str(), "pong" | "bye") {
            let joins = is_welcome && self.id == 0;
            self.unsaved = frame.saved == Some(false) && (self.unsaved || joins);
        }
        self.asked_ms = frame.retry_ms;
        match frame.t.as_str() {
            "welcome" => self.on_welcome(now, frame, world, effects),
            "sync" => self.on_sync(now, text, frame, world, effects),
            "question" => self.on_question(now, text, frame, world, effects),
            "ack" => self.on_ack(now, frame, world),
            "result" => self.on_result(now, frame, world),
            "over" => self.on_over(frame, world),
            "error" => self.on_error(frame, world, effects),
            "pong" => self.on_pong(frame, world),
            "bye" => self.end_expected |= frame.reason.as_ref().is_some_and(|r| r.as_str() == "ended"),
            "roster" | "progress" | "reveal" => self.fault(world, FaultKind::Leak, || text.to_owned()),
            // A newer server may say more than this client knows.
            _ => {}
        }
        let carries_roster = frame
            .state
            .as_ref()
            .is_some_and(|s| s.roster.is_some() || s.reveal.is_some());
        if frame.places.is_some() || frame.histogram.is_some() || carries_roster {
            self.fault(world, FaultKind::Leak, || text.to_owned());
        }
    }

    fn on_question(
        &mut self,
        now: Stamp,
        text: &str,
        frame: &Frame<'_>,
        world: &mut World,
        effects: &mut Effects,
    ) {
        let news = self.advance(frame, world);
        if news == News::None {
            return;
        }
        let Some(q) = frame.q else {
            return self.fault(world, FaultKind::Malformed, || text.to_owned());
        };
        if news == News::Next && (self.open_q != 0 || q != self.last_q + 1) {
            let (open_q, last_q) = (self.open_q, self.last_q);
            self.fault(world, FaultKind::WrongQuestion, || {
                format!("question {q} after question {last_q}, with question {open_q} open")
            });
        }
        if text.contains("\"correct\"") {
            self.fault(world, FaultKind::Leak, || text.to_owned());
        }
        let stem = frame.text.as_ref().map(|t| t.as_str());
        if stem.is_none() || stem != world.stem(q) || frame.ms != Some(plan::TIME_MS) {
            self.fault(world, FaultKind::WrongQuestion, || text.to_owned());
        }
        let is_again = q <= self.last_q;
        self.time_question(now, q, world);
        if is_again {
            // Out of order or asked again, which was told: what is over cannot be answered.
            return;
        }
        (self.open_q, self.last_q, self.seen_at, self.disturbed) = (q, q, now, false);
        if let Some(planned) = world.plan.answer(self.class, self.student, q) {
            effects.schedule(now.plus_ms(u64::from(planned.after_ms)), Task::Answer { q });
        }
        for mishap in world.plan.mishaps(self.class, self.student, q) {
            let (after_ms, task) = match mishap {
                // Scheduled with the answer that is tapped twice.
                Mishap::DoubleTap { .. } => continue,
                Mishap::Reload { after_ms } => (after_ms, Task::Drop { for_ms: 0 }),
                Mishap::LostNetwork { after_ms, for_ms } => (after_ms, Task::Drop { for_ms }),
                Mishap::SlowReader { for_ms } => (0, Task::Freeze { for_ms }),
            };
            effects.schedule(now.plus_ms(u64::from(after_ms)), task);
        }
    }

    /// How long the question took from the host's click to this phone. Without a click there is no time to measure from.
    fn time_question(&mut self, now: Stamp, q: u16, world: &mut World) {
        let (timed, is_again) = (!world.reading_late, q <= self.last_q);
        let click = world.class_mut(self.class).and_then(|c| c.click_mut(q));
        let Some(click) = click.filter(|click| click.first_at != Stamp::default()) else {
            return self.fault(world, FaultKind::WrongQuestion, || {
                format!("question {q}, which no host has opened")
            });
        };
        click.phones += 1;
        if timed && !is_again {
            let us = now.since(click.at);
            click.last_us = click.last_us.max(us);
            world.tally.fan_out.record(us);
        }
    }

    fn on_over(&mut self, frame: &Frame<'_>, world: &mut World) {
        if self.advance(frame, world) == News::None {
            return;
        }
        self.open_q = 0;
        let (Some(rank), Some(total), Some(of)) = (frame.rank, frame.total, frame.of) else {
            return self.fault(world, FaultKind::Malformed, || {
                "over without rank, total or of".to_owned()
            });
        };
        if total != self.total {
            self.fault(world, FaultKind::WrongOutcome, || {
                format!("final total {total}, had {}", self.total)
            });
        }
        self.end_with(Some(Final { rank, total, of }), world);
    }

    /// The podium is shown; without a place of its own for who came when it stood already.
    fn end_with(&mut self, places: Option<Final>, world: &mut World) {
        self.final_places = places.or(self.final_places);
        if !std::mem::replace(&mut self.saw_end, true)
            && let Some(class) = world.class_mut(self.class)
        {
            class.over += 1;
        }
    }

    fn on_pong(&mut self, frame: &Frame<'_>, world: &mut World) {
        // One that comes twice must not stand in for one that does not come.
        world.tally.pongs += u64::from(std::mem::take(&mut self.asked));
        if frame.seq != self.sequence.last() {
            self.fault(world, FaultKind::Gap, || {
                format!("head {:?}, has {:?}", frame.seq, self.sequence.last())
            });
        }
    }

    /// What the frame is to this phone. One that came before is reported and else ignored, as its first copy counted.
    fn advance(&mut self, frame: &Frame<'_>, world: &mut World) -> News {
        let Some(seq) = frame.seq else {
            self.fault(world, FaultKind::Malformed, || {
                format!("{} without seq", frame.t.as_str())
            });
            return News::None;
        };
        let Err(fault) = self.sequence.advance(seq) else {
            return News::Next;
        };
        let who = format!("class {}, {}", self.class, self.name());
        world
            .tally
            .faults
            .add_sequence(fault, &who, || format!("{} with seq {seq}", frame.t.as_str()));
        match fault {
            SequenceFault::Duplicate => News::None,
            SequenceFault::Gap { .. } | SequenceFault::Late { .. } => News::OutOfOrder,
            SequenceFault::Unverified | SequenceFault::WentBack { .. } => News::OutOfOrder,
        }
    }

    fn fault(&self, world: &mut World, kind: FaultKind, what: impl FnOnce() -> String) {
        world.tally.faults.add(kind, || {
            format!("class {}, {}: {}", self.class, self.name(), what())
        });
    }
}
