//! A student's phone: joins, answers as planned, checks everything it is told.

use super::codec::Message;
use super::pacer::Task;
use super::world::{Effects, World};
use crate::measure::{Fate, FaultKind, Sent, Sequence, SequenceFault};
use crate::plan;
use crate::sys::clock::Stamp;
use crate::sys::index;
use crate::wire::{Frame, ToServer};

/// The state of one player; about a hundred bytes, as thousands of them are held.
#[derive(Debug)]
pub struct Player {
    class: u32,
    student: u32,
    /// When the join was due.
    due_at: Stamp,
    /// Id within the game, 0 before `welcome`.
    id: u32,
    sequence: Sequence,
    total: u32,
    /// The open question, 0 when there is none.
    open_q: u16,
    /// When the open question arrived.
    seen_at: Stamp,
    /// Row of the newest answer in the ledger.
    row: Option<u32>,
    final_places: Option<Final>,
    /// The end of the socket is expected: the server said why, or it was reported already.
    end_expected: bool,
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
            id: 0,
            sequence: Sequence::default(),
            total: 0,
            open_q: 0,
            seen_at: Stamp::default(),
            row: None,
            final_places: None,
            end_expected: false,
        }
    }

    /// Index of its class.
    #[must_use]
    pub const fn class(&self) -> u32 {
        self.class
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

    /// What it shows at the end.
    #[must_use]
    pub const fn final_places(&self) -> Option<Final> {
        self.final_places
    }

    /// The handshake is done.
    pub(super) fn on_open(&self, effects: &mut Effects) {
        effects.send(ToServer::Join { name: &self.name() });
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
                if let Some(class) = world.classes.get_mut(index(self.class)) {
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

    /// Something is due.
    pub(super) fn on_due(&mut self, now: Stamp, task: Task, world: &mut World, effects: &mut Effects) {
        match task {
            Task::Answer { q } => self.answer(now, q, world, effects),
            Task::Ping => effects.send(ToServer::Ping),
            // The engine's, and a host's.
            Task::Connect | Task::Start | Task::Close { .. } | Task::Next { .. } | Task::Finish => {}
        }
    }

    /// The socket is gone.
    pub(super) fn on_gone(&mut self, kind: FaultKind, why: &str, world: &mut World) {
        if let Some(class) = world.classes.get_mut(index(self.class)) {
            class.gone += 1;
        }
        if !self.end_expected {
            self.fault(world, kind, || why.to_owned());
        }
    }

    fn on_close(&mut self, code: Option<u16>, world: &mut World) {
        if self.end_expected && code == Some(1_000) {
            if let Some(class) = world.classes.get_mut(index(self.class)) {
                class.ended += 1;
            }
            return;
        }
        self.fault(world, FaultKind::Lost, || format!("closed with {code:?}"));
        // Told once; the end of the socket that follows is no second fault.
        self.end_expected = true;
    }

    fn on_frame(
        &mut self,
        now: Stamp,
        text: &str,
        frame: &Frame<'_>,
        world: &mut World,
        effects: &mut Effects,
    ) {
        match frame.t.as_str() {
            "welcome" => self.on_welcome(now, frame, world),
            "sync" => match frame.state.as_ref().and_then(|s| s.seq) {
                Some(seq) => self.sequence.cover(seq),
                None => self.fault(world, FaultKind::Malformed, || text.to_owned()),
            },
            "question" => self.on_question(now, text, frame, world, effects),
            "ack" => self.on_ack(now, frame, world),
            "result" => self.on_result(frame, world),
            "over" => self.on_over(frame, world),
            "error" => self.on_error(frame, world, effects),
            "pong" => self.on_pong(frame, world),
            "bye" => self.end_expected |= frame.reason.as_ref().is_some_and(|r| r.as_str() == "ended"),
            "roster" | "progress" | "reveal" => self.fault(world, FaultKind::Leak, || text.to_owned()),
            // A newer server may say more than this client knows.
            _ => {}
        }
        let carries_roster = frame.state.as_ref().is_some_and(|s| s.roster.is_some());
        if frame.places.is_some() || frame.histogram.is_some() || carries_roster {
            self.fault(world, FaultKind::Leak, || text.to_owned());
        }
    }

    fn on_welcome(&mut self, now: Stamp, frame: &Frame<'_>, world: &mut World) {
        let state = frame.state.as_ref();
        let (Some(id), Some(seq)) = (frame.id, state.and_then(|s| s.seq)) else {
            return self.fault(world, FaultKind::Malformed, || {
                "welcome without id or seq".to_owned()
            });
        };
        if self.id != 0 {
            return self.fault(world, FaultKind::Malformed, || "a second welcome".to_owned());
        }
        self.id = id;
        self.sequence.cover(seq);
        world.tally.join.record(now.since(self.due_at));
        if let Some(class) = world.classes.get_mut(index(self.class)) {
            class.joined += 1;
        }
        let name = self.name();
        if state
            .and_then(|s| s.name.as_ref())
            .is_none_or(|n| n.as_str() != name)
        {
            self.fault(world, FaultKind::WrongName, || format!("not {name}"));
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
        if !self.advance(frame, world) {
            return;
        }
        let Some(q) = frame.q else {
            return self.fault(world, FaultKind::Malformed, || text.to_owned());
        };
        if text.contains("\"correct\"") {
            self.fault(world, FaultKind::Leak, || text.to_owned());
        }
        let stem = frame.text.as_ref().map(|t| t.as_str());
        if stem.is_none() || stem != world.stem(q) || frame.ms != Some(plan::TIME_MS) {
            self.fault(world, FaultKind::WrongQuestion, || text.to_owned());
        }
        self.open_q = q;
        self.seen_at = now;
        if let Some(click) = world
            .classes
            .get_mut(index(self.class))
            .and_then(|c| c.click_mut(q))
        {
            let us = now.since(click.at);
            click.phones += 1;
            click.last_us = click.last_us.max(us);
            world.tally.fan_out.record(us);
        }
        if let Some(planned) = world.plan.answer(self.class, self.student, q) {
            effects.schedule(now.plus_ms(u64::from(planned.after_ms)), Task::Answer { q });
        }
    }

    fn answer(&mut self, now: Stamp, q: u16, world: &mut World, effects: &mut Effects) {
        let Some(planned) = world.plan.answer(self.class, self.student, q) else {
            return;
        };
        if self.open_q != q {
            world.tally.too_late_to_send += 1;
            return;
        }
        effects.send(ToServer::Answer {
            q,
            choice: planned.choice,
        });
        let clicked_at = world
            .classes
            .get_mut(index(self.class))
            .and_then(|c| c.click_mut(q))
            .map_or(self.seen_at, |click| click.at);
        self.row = Some(world.tally.ledger.enter(Sent {
            class: self.class,
            player: self.id,
            q,
            choice: planned.choice,
            clicked_at,
            seen_at: self.seen_at,
            sent_at: now,
            fate: Fate::Open,
            told_points: None,
        }));
    }

    /// The newest answer if it is to `q`, else an earlier one.
    fn row_of(&self, q: u16, world: &World) -> Option<u32> {
        let ledger = &world.tally.ledger;
        let newest = self
            .row
            .filter(|&row| ledger.rows().get(index(row)).is_some_and(|r| r.q == q));
        newest.or_else(|| ledger.find(self.class, self.id, q))
    }

    fn on_ack(&mut self, now: Stamp, frame: &Frame<'_>, world: &mut World) {
        let row = frame.q.and_then(|q| self.row_of(q, world));
        let Some(sent) = row.and_then(|row| world.tally.ledger.row_mut(row)) else {
            return self.fault(world, FaultKind::StrayAck, || format!("question {:?}", frame.q));
        };
        let saved = frame.saved == Some(true);
        let (sent_at, first) = (sent.sent_at, sent.fate == Fate::Open);
        match &mut sent.fate {
            fate @ Fate::Open => *fate = Fate::Acked { at: now, saved },
            // The promised second ack, when storage has caught up.
            Fate::Acked { saved: before, .. } if !*before && saved => *before = true,
            Fate::Acked { .. } | Fate::Refused { .. } => {
                return self.fault(world, FaultKind::StrayAck, || {
                    format!("question {:?} again", frame.q)
                });
            }
        }
        if first {
            world.tally.ack.record(now.since(sent_at));
        }
    }

    fn on_result(&mut self, frame: &Frame<'_>, world: &mut World) {
        if !self.advance(frame, world) {
            return;
        }
        self.open_q = 0;
        let (Some(q), Some(points), Some(total)) = (frame.q, frame.points, frame.total) else {
            return self.fault(world, FaultKind::Malformed, || {
                "result without q, points or total".to_owned()
            });
        };
        let expected_total = self.total.saturating_add(points);
        let correct = plan::reference_correct(q);
        let row = self
            .row
            .and_then(|row| world.tally.ledger.row_mut(row))
            .filter(|row| row.q == q);
        let told = match row {
            Some(row) => {
                row.told_points = Some(points);
                match row.fate {
                    Fate::Acked { .. } => Some(Some(row.choice == correct)),
                    Fate::Refused { .. } => Some(None),
                    // In flight: whether it counted is known when its ack comes.
                    Fate::Open => None,
                }
            }
            None => Some(None),
        };
        let wrong = told.is_some_and(|ok| frame.ok != ok || (ok != Some(true) && points != 0));
        if wrong || total != expected_total || frame.correct.as_deref() != Some(&[correct][..]) {
            self.fault(world, FaultKind::WrongOutcome, || {
                format!("question {q}: ok {:?}, {points} points, total {total}; expected ok {told:?}, total {expected_total}", frame.ok)
            });
        }
        self.total = total;
    }

    fn on_over(&mut self, frame: &Frame<'_>, world: &mut World) {
        if !self.advance(frame, world) {
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
        self.final_places = Some(Final { rank, total, of });
        if let Some(class) = world.classes.get_mut(index(self.class)) {
            class.over += 1;
        }
    }

    fn on_error(&mut self, frame: &Frame<'_>, world: &mut World, effects: &mut Effects) {
        let code = frame.code.as_ref().map_or("none", |c| c.as_str());
        if self.id == 0 {
            // A refused join stays refused in this plan: a server must not be fast by refusing.
            self.end_expected = true;
            effects.hang_up();
            return self.fault(world, FaultKind::JoinRefused, || code.to_owned());
        }
        let row = frame.q.and_then(|q| self.row_of(q, world));
        match row.and_then(|row| world.tally.ledger.row_mut(row)) {
            Some(sent) if sent.fate == Fate::Open => sent.fate = Fate::Refused { code: code.into() },
            Some(_) | None => self.fault(world, FaultKind::Refused, || code.to_owned()),
        }
    }

    fn on_pong(&self, frame: &Frame<'_>, world: &mut World) {
        world.tally.pongs += 1;
        if frame.seq != self.sequence.last() {
            self.fault(world, FaultKind::Gap, || {
                format!("head {:?}, has {:?}", frame.seq, self.sequence.last())
            });
        }
    }

    /// Whether the frame is news. A frame that came before is reported and else ignored, as its first copy counted.
    fn advance(&mut self, frame: &Frame<'_>, world: &mut World) -> bool {
        let Some(seq) = frame.seq else {
            self.fault(world, FaultKind::Malformed, || {
                format!("{} without seq", frame.t.as_str())
            });
            return false;
        };
        let Err(fault) = self.sequence.advance(seq) else {
            return true;
        };
        let kind = match fault {
            SequenceFault::Gap { .. } => FaultKind::Gap,
            SequenceFault::Duplicate => FaultKind::Duplicate,
            SequenceFault::Unverified => FaultKind::Unverified,
        };
        self.fault(world, kind, || format!("{} with seq {seq}", frame.t.as_str()));
        kind != FaultKind::Duplicate
    }

    fn fault(&self, world: &mut World, kind: FaultKind, what: impl FnOnce() -> String) {
        world.tally.faults.add(kind, || {
            format!("class {}, {}: {}", self.class, self.name(), what())
        });
    }
}
