//! Coming, being cut off, coming back.

use super::{Final, Player};
use crate::client::board::Board;
use crate::client::pacer::Task;
use crate::client::world::{Effects, OnLoss, World};
use crate::measure::{Fate, FaultKind, Sequence};
use crate::sys::clock::Stamp;
use crate::wire::{Frame, State, ToServer};

impl Player {
    /// The socket is being opened, `late_us` after it was due.
    pub(in crate::client) fn on_connecting(&mut self, late_us: u64) {
        self.own_us = u32::try_from(late_us).unwrap_or(u32::MAX);
    }

    /// The handshake is done; its end was read `late_us` after it had arrived.
    pub(in crate::client) fn on_open(
        &mut self,
        now: Stamp,
        late_us: u64,
        world: &World,
        effects: &mut Effects,
    ) {
        self.own_us = self
            .own_us
            .saturating_add(u32::try_from(late_us).unwrap_or(u32::MAX));
        self.patience.opened(now);
        if world.is_watchful {
            self.patience.begin(now, effects);
        }
        match &self.token {
            Some(token) => effects.send(ToServer::Resume {
                token,
                seq: self.sequence.last().unwrap_or(0),
            }),
            None => effects.send(ToServer::Join {
                name: &self.join_name(),
            }),
        }
    }

    /// The name to join with. Whoever was cut off between the join and its `welcome` may be in the game already, under a
    /// name that is taken now.
    fn join_name(&self) -> String {
        match self.turn + self.attempt {
            0 => self.name(),
            again => format!("{} {again}", self.name()),
        }
    }

    /// The socket is gone.
    pub(in crate::client) fn on_gone(
        &mut self,
        now: Stamp,
        kind: FaultKind,
        why: &str,
        world: &mut World,
        effects: &mut Effects,
    ) {
        let comes_back = match (world.on_loss, kind) {
            // Whoever speaks no WebSocket will not do so at the next attempt.
            (OnLoss::Fault, _) | (OnLoss::Return, FaultKind::Framing) => false,
            (OnLoss::Return, _) => !self.end_expected,
        };
        if comes_back {
            // The generator's own fault: tried again, and told all the same.
            if matches!(kind, FaultKind::NoPort | FaultKind::NoDescriptor) {
                self.fault(world, kind, || why.to_owned());
            }
            if self.here {
                world.tally.cut_off += 1;
                self.leave(now, world);
            } else {
                self.attempt = self.attempt.saturating_add(1);
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
        let was_away = self.away_since.take().is_some();
        if let Some(class) = world.class_mut(self.class) {
            class.gone += 1;
            class.away -= u32::from(was_away);
        }
        if !self.end_expected {
            self.fault(world, kind, || why.to_owned());
        }
    }

    fn backoff_ms(&self, world: &World) -> u32 {
        let (turn, attempt) = (u32::from(self.turn), u32::from(self.attempt));
        world.plan.backoff_ms(self.class, self.student, turn, attempt)
    }

    /// It gave its socket up, because the server was silent for too long. The first attempt to come back is made at once.
    pub(in crate::client) fn on_silence(&mut self, now: Stamp, world: &mut World, effects: &mut Effects) {
        world.tally.silent += 1;
        let wait_ms = if self.here {
            world.tally.cut_off += 1;
            self.leave(now, world);
            0
        } else {
            self.attempt = self.attempt.saturating_add(1);
            self.backoff_ms(world)
        };
        effects.schedule(now.plus_ms(u64::from(wait_ms)), Task::Connect);
    }

    /// It dropped its socket itself, and wants to be back at `back_at`.
    pub(in crate::client) fn on_dropped(&mut self, back_at: Stamp, world: &mut World) {
        world.tally.dropped += 1;
        self.patience.end();
        if self.here {
            self.leave(back_at, world);
        }
    }

    fn leave(&mut self, since: Stamp, world: &mut World) {
        self.here = false;
        self.turn = self.turn.saturating_add(1);
        self.attempt = 0;
        self.disturb(world);
        world.tally.cut_in_flight += crate::sys::count(self.pending.len());
        self.away_since = Some(world.leaves(self.class, since));
    }

    pub(super) fn on_close(&mut self, code: Option<u16>, world: &mut World) {
        if self.end_expected && code == Some(1_000) {
            if let Some(class) = world.class_mut(self.class) {
                class.ended += 1;
            }
            return;
        }
        world.tally.closed_as_moved += u64::from(code == Some(1_012));
        if let Some(class) = world.class_mut(self.class) {
            class.last_refusal = code.unwrap_or(0);
        }
        // After these a client comes back: the server stops or moved the game, was read too slowly, or is full; and after
        // a close without a code of its own, which a proxy may send.
        let comes_back = matches!(
            code,
            None | Some(1_001 | 1_006 | 1_011 | 1_012 | 1_013 | 4_408 | 4_429)
        );
        // Follows the refusal of a token that is given up by now.
        let gave_up = code == Some(4_401) && self.token.is_none();
        if (comes_back || gave_up) && world.on_loss == OnLoss::Return {
            return;
        }
        self.fault(world, FaultKind::Lost, || format!("closed with {code:?}"));
        // Told once; the end of the socket that follows is no second fault.
        self.end_expected = true;
    }

    pub(super) fn on_welcome(
        &mut self,
        now: Stamp,
        frame: &Frame<'_>,
        world: &mut World,
        effects: &mut Effects,
    ) {
        let (Some(id), Some(state)) = (frame.id, frame.state.as_ref()) else {
            return self.fault(world, FaultKind::Malformed, || {
                "welcome without id or state".to_owned()
            });
        };
        if self.here {
            return self.fault(world, FaultKind::Malformed, || "a second welcome".to_owned());
        }
        self.here = true;
        self.attempt = 0;
        // Who asked for the head and was cut off before the answer has it from the state.
        world.tally.pongs += u64::from(std::mem::take(&mut self.asked));
        if let Some(token) = &frame.token
            && self.token.as_deref() != Some(token.as_str())
        {
            self.token = Some(token.as_str().into());
        }
        if self.id == 0 {
            let us = now.since(self.due_at);
            world.tally.join.record(us);
            if self.turn + self.attempt == 0 {
                let service_us = us.saturating_sub(u64::from(self.own_us));
                world.tally.join_service.record(service_us);
            }
            if let Some(class) = world.class_mut(self.class) {
                class.joined += 1;
            }
        } else if self.id != id {
            self.fault(world, FaultKind::WrongName, || {
                format!("player {} came back as {id}", self.id)
            });
        }
        self.id = id;
        if let Some(since) = self.away_since.take() {
            world.returns(self.class, since, now);
        }
        let name = state.name.as_ref().map_or("", |n| n.as_str());
        if !self.is_called(name) {
            self.fault(world, FaultKind::WrongName, || {
                format!("{name}, not {}", self.name())
            });
        }
        self.take_state(now, state, world, effects);
        self.send_pending(world, effects);
    }

    /// Its joining was taken back by a crash, which its mark had allowed: it joins again as somebody new, as the protocol says.
    /// Its answers are gone with it, and it was told so.
    pub(super) fn join_anew(&mut self, world: &mut World, effects: &mut Effects) {
        for row in std::mem::take(&mut self.pending) {
            if let Some(sent) = self.sent_mut(row, world) {
                sent.refusals = sent.refusals.saturating_add(1);
                sent.fate = Fate::Refused {
                    code: "bad_token".into(),
                };
            }
        }
        world.tally.joins_taken_back += 1;
        if let Some(class) = world.class_mut(self.class) {
            class.joined -= 1;
        }
        (self.id, self.token, self.row, self.unsaved) = (0, None, None, false);
        (self.sequence, self.total, self.open_q, self.last_q) = (Sequence::default(), 0, 0, 0);
        effects.hang_up();
    }

    pub(super) fn on_sync(
        &mut self,
        now: Stamp,
        text: &str,
        frame: &Frame<'_>,
        world: &mut World,
        effects: &mut Effects,
    ) {
        match &frame.state {
            Some(state) => self.take_state(now, state, world, effects),
            None => self.fault(world, FaultKind::Malformed, || text.to_owned()),
        }
    }

    /// Replaces what this phone knows, and takes up the open question where it stands.
    fn take_state(&mut self, now: Stamp, state: &State<'_>, world: &mut World, effects: &mut Effects) {
        let Some(seq) = state.seq else {
            return self.fault(world, FaultKind::Malformed, || "state without seq".to_owned());
        };
        if let Some(class) = world.class_mut(self.class) {
            class.at_epoch(state.epoch);
        }
        if self.sequence.is_of_another(state.epoch) {
            world.tally.new_epochs += 1;
            // What was told before may be undone and told anew.
            if let Some(class) = world.class_mut(self.class) {
                class.board = Board::default();
            }
        }
        let missed_nothing = self.sequence.is_at(state.epoch, seq);
        if let Err(fault) = self.sequence.cover(state.epoch, seq) {
            self.fault(world, FaultKind::from(fault), || {
                format!("a state with seq {seq}")
            });
        }
        let total = state.total.unwrap_or(self.total);
        if missed_nothing && total != self.total {
            let known = self.total;
            self.fault(world, FaultKind::WrongOutcome, || {
                format!("a state with total {total} for {known}")
            });
        } else {
            self.total = total;
        }
        let open = state
            .phase
            .as_ref()
            .is_some_and(|phase| phase.as_str() == "question");
        let question = state.question.as_ref().and_then(|question| question.q);
        let stem = state
            .question
            .as_ref()
            .and_then(|question| question.text.as_ref());
        if let (Some(q), Some(stem)) = (question, stem)
            && world.stem(q) != Some(stem.as_str())
        {
            self.fault(world, FaultKind::WrongQuestion, || stem.as_str().to_owned());
        }
        self.last_q = question.unwrap_or(0);
        match question.filter(|_| open) {
            Some(q) => self.take_up(now, q, state.answered.is_some(), world, effects),
            None => (self.open_q, self.disturbed) = (0, false),
        }
        if let Some((q, points)) = state.outcome.as_ref().and_then(|o| Some((o.q?, o.points?))) {
            // What it was told is compared with the report; whether it must count was judged by whoever was there.
            let _told = self.expected_ok(q, points, world);
        }
        if let Some(over) = &state.over {
            let places = || {
                Some(Final {
                    rank: over.rank?,
                    total: over.total?,
                    of: over.of?,
                })
            };
            self.end_with(places(), world);
        }
    }

    /// The open question, for one who came while it was open: the answer is due when it would have been, or at once.
    fn take_up(&mut self, now: Stamp, q: u16, answered: bool, world: &World, effects: &mut Effects) {
        if self.open_q != q {
            (self.open_q, self.seen_at) = (q, now);
        }
        self.disturbed = true;
        if answered || self.answered_q >= q {
            return;
        }
        if let Some(planned) = world.plan.answer(self.class, self.student, q) {
            let at = self.seen_at.plus_ms(u64::from(planned.after_ms)).max(now);
            effects.schedule(at, Task::Answer { q });
        }
    }
}
