//! Answering, and what becomes of answers: acks, refusals, outcomes. Until an answer is saved or refused in words, it is
//! kept and sent again after coming back, as the protocol asks.

use super::{News, Player};
use crate::client::board::Standing;
use crate::client::pacer::Task;
use crate::client::world::{Effects, NEVER_DONE_US, World};
use crate::measure::{Fate, FaultKind, Sent};
use crate::plan::{self, Mishap};
use crate::sys::clock::Stamp;
use crate::wire::{Frame, ToServer};

/// A question may end by so much before its deadline as this phone counts it, in microseconds: it was opened before it arrived.
const EARLY_US_MAX: u64 = 2_000_000;

impl Player {
    /// Answers `q`, `late_us` after that was due.
    pub(super) fn answer(
        &mut self,
        now: Stamp,
        late_us: u64,
        q: u16,
        world: &mut World,
        effects: &mut Effects,
    ) {
        let Some(planned) = world.plan.answer(self.class, self.student, q) else {
            return;
        };
        // It was scheduled again when the player came back.
        if self.answered_q >= q {
            return;
        }
        if self.open_q != q {
            world.tally.too_late_to_send += 1;
            world.tally.never_done += u64::from(late_us > NEVER_DONE_US);
            return;
        }
        effects.send(ToServer::Answer {
            q,
            choice: planned.choice,
        });
        if world.is_watchful {
            self.patience.asked(now, effects);
        }
        let clicked_at = world
            .class_mut(self.class)
            .and_then(|c| c.click_mut(q))
            .map_or(self.seen_at, |click| click.first_at);
        self.close_row(world);
        let row = world.tally.ledger.enter(Sent {
            class: self.class,
            player: self.id,
            q,
            choice: planned.choice,
            clicked_at,
            seen_at: self.seen_at,
            sent_at: now,
            copies: 1,
            acks: 0,
            unsaved_acks: 0,
            refusals: 0,
            disturbed: self.disturbed,
            overdue: false,
            fate: Fate::Open,
            told_points: None,
        });
        self.row = Some(row);
        self.answered_q = q;
        self.pending.push(row);
        let mut mishaps = world.plan.mishaps(self.class, self.student, q);
        if let Some(after_ms) = mishaps.find_map(|mishap| match mishap {
            Mishap::DoubleTap { after_ms } => Some(after_ms),
            Mishap::Reload { .. } | Mishap::LostNetwork { .. } | Mishap::SlowReader { .. } => None,
        }) {
            effects.schedule(now.plus_ms(u64::from(after_ms)), Task::TapAgain { q });
        }
    }

    pub(super) fn tap_again(&mut self, q: u16, world: &mut World, effects: &mut Effects) {
        if self.open_q == q
            && let Some(row) = self.row
        {
            self.send_again(row, world, effects);
        }
    }

    /// Sends again what is neither saved nor refused.
    pub(super) fn send_pending(&self, world: &mut World, effects: &mut Effects) {
        for &row in &self.pending {
            self.send_again(row, world, effects);
        }
    }

    /// The answers that are on their way met an end of the socket.
    pub(super) fn disturb(&mut self, world: &mut World) {
        self.disturbed = self.open_q != 0;
        for &row in &self.pending {
            if let Some(sent) = self.sent_mut(row, world) {
                sent.disturbed = true;
            }
        }
    }

    pub(super) fn sent_mut<'w>(&self, row: u32, world: &'w mut World) -> Option<&'w mut Sent> {
        world.tally.ledger.row_mut(row, self.class, self.id)
    }

    /// The open row of the answer to `q`: one that is not settled yet, the newest, or an earlier one.
    fn row_of(&self, q: u16, world: &mut World) -> Option<u32> {
        let known = self.pending.iter().copied().chain(self.row);
        for row in known {
            if self.sent_mut(row, world).is_some_and(|sent| sent.q == q) {
                return Some(row);
            }
        }
        world.tally.ledger.find(self.class, self.id, q)
    }

    /// Nothing more is expected of the newest answer, unless a reply is.
    pub(super) fn close_row(&mut self, world: &mut World) {
        if let Some(row) = self.row
            && world.tally.ledger.close(row, self.class, self.id)
        {
            self.row = None;
        }
    }

    pub(super) fn on_ack(&mut self, now: Stamp, frame: &Frame<'_>, world: &mut World) {
        let row = frame.q.and_then(|q| self.row_of(q, world));
        let reading_late = world.reading_late;
        let Some((row, sent)) = row.and_then(|row| Some((row, self.sent_mut(row, world)?))) else {
            return self.fault(world, FaultKind::StrayAck, || format!("question {:?}", frame.q));
        };
        let saved = frame.saved == Some(true);
        sent.acks = sent.acks.saturating_add(1);
        // Every copy may be acked, and after an ack that says it is not saved yet another one is promised.
        let too_many = sent.acks > sent.copies.saturating_add(sent.unsaved_acks);
        sent.unsaved_acks = sent.unsaved_acks.saturating_add(u16::from(!saved));
        let first = sent.fate == Fate::Open && !sent.disturbed && !reading_late;
        let sent_at = sent.sent_at;
        let refused = matches!(sent.fate, Fate::Refused { .. });
        let was = (too_many || refused).then(|| sent.clone());
        sent.fate.ack(now, saved);
        if first {
            world.tally.ack.record(now.since(sent_at));
        }
        if saved {
            self.pending.retain(|&pending| pending != row);
        }
        self.close_if_past(row, world);
        if let Some(was) = was {
            self.fault(world, FaultKind::StrayAck, || {
                format!(
                    "question {} again, saved {saved}: {} copies sent, {} acks with this one ({} of them unsaved), {} refusals, {:?}, disturbed {}",
                    was.q, was.copies, was.acks, was.unsaved_acks, was.refusals, was.fate, was.disturbed
                )
            });
        }
    }

    pub(super) fn on_result(&mut self, now: Stamp, frame: &Frame<'_>, world: &mut World) {
        let news = self.advance(frame, world);
        if news == News::None {
            return;
        }
        let open_q = self.open_q;
        if frame.q.is_none_or(|q| q >= open_q) {
            self.judge_end(now, world);
            self.open_q = 0;
            self.disturbed = false;
        }
        let (Some(q), Some(points), Some(total)) = (frame.q, frame.points, frame.total) else {
            return self.fault(world, FaultKind::Malformed, || {
                "result without q, points or total".to_owned()
            });
        };
        let (Some(rank), Some(of)) = (frame.rank.filter(|&rank| rank > 0), frame.of) else {
            return self.fault(world, FaultKind::Malformed, || {
                "result without a place".to_owned()
            });
        };
        self.last_q = self.last_q.max(q);
        if news == News::Next && q != open_q {
            self.fault(world, FaultKind::WrongOutcome, || {
                format!("of question {q} when question {open_q} was open")
            });
        }
        let expected_total = self.total.saturating_add(points);
        let correct = plan::reference_correct(q);
        let told = self.expected_ok(q, points, world);
        let wrong = told.is_some_and(|ok| frame.ok != ok || (ok != Some(true) && points != 0));
        if wrong || total != expected_total || frame.correct.as_deref() != Some(&[correct][..]) {
            self.fault(world, FaultKind::WrongOutcome, || {
                format!("question {q}: ok {:?}, {points} points, total {total}; expected ok {told:?}, total {expected_total}", frame.ok)
            });
        }
        self.total = total;
        let standing = Standing { total, rank, of };
        let student = self.student;
        let wrong = world
            .class_mut(self.class)
            .map_or(0, |class| class.board.tell(q, student, standing, class.joined));
        for _place in 0..wrong {
            self.fault(world, FaultKind::WrongOutcome, || {
                format!("a place of question {q} differs from the totals that the phones were told")
            });
        }
        self.close_row(world);
    }

    /// The open question ended at `now`. It ends at its deadline, by the host, or when everybody has answered; a server that ends
    /// it before would be fast by leaving out the work.
    fn judge_end(&mut self, now: Stamp, world: &mut World) {
        let q = self.open_q;
        let is_asked = q != 0 && self.answered_q < q && !self.disturbed;
        let is_closed = world.class(self.class).is_none_or(|class| class.closed_q >= q);
        let is_early = now.since(self.seen_at) + EARLY_US_MAX < u64::from(plan::TIME_MS) * 1_000;
        if is_asked && !is_closed && is_early {
            let open_ms = now.since(self.seen_at) / 1_000;
            self.fault(world, FaultKind::WrongOutcome, || {
                format!("question {q} ended after {open_ms} ms, before this phone had answered and unasked")
            });
        }
    }

    /// Notes the points told for `q`, and says what `ok` must have been; none when that cannot be known yet.
    pub(super) fn expected_ok(&self, q: u16, points: u32, world: &mut World) -> Option<Option<bool>> {
        let newest = self
            .row
            .filter(|&row| self.sent_mut(row, world).is_some_and(|sent| sent.q == q));
        let Some(row) = newest.and_then(|row| self.sent_mut(row, world)) else {
            world.tally.ledger.tell(self.class, self.id, q, points);
            return Some(None);
        };
        row.told_points = Some(points);
        match row.fate {
            Fate::Acked { saved: true, .. } => Some(Some(row.choice == plan::reference_correct(q))),
            Fate::Refused { .. } if row.copies == 1 => Some(None),
            // In flight, or not promised: whether it counted is known when its ack comes.
            Fate::Open | Fate::Acked { saved: false, .. } | Fate::Refused { .. } => None,
        }
    }

    pub(super) fn on_error(&mut self, frame: &Frame<'_>, world: &mut World, effects: &mut Effects) {
        let code = frame.code.as_ref().map_or("none", |c| c.as_str());
        if !self.here && code == "bad_token" && self.unsaved {
            return self.join_anew(world, effects);
        }
        if !self.here {
            // What is refused at the door stays refused in this plan: a server must not be fast by refusing.
            self.end_expected = true;
            effects.hang_up();
            let kind = if self.id == 0 {
                FaultKind::JoinRefused
            } else {
                FaultKind::ResumeRefused
            };
            return self.fault(world, kind, || code.to_owned());
        }
        let row = frame.q.and_then(|q| self.row_of(q, world));
        let Some((row, sent)) = row.and_then(|row| Some((row, self.sent_mut(row, world)?))) else {
            return self.fault(world, FaultKind::Refused, || code.to_owned());
        };
        sent.refusals = sent.refusals.saturating_add(1);
        // The question's end stands before it on the socket, when that is why.
        let unasked = sent.fate == Fate::Open && !sent.disturbed && sent.q == self.open_q;
        let q = sent.q;
        match sent.fate {
            Fate::Open | Fate::Acked { saved: false, .. } => {
                sent.fate = Fate::Refused { code: code.into() };
                self.pending.retain(|&pending| pending != row);
                self.close_if_past(row, world);
            }
            // A second tap may cross the question's end.
            Fate::Acked { saved: true, .. } | Fate::Refused { .. } if sent.copies > 1 => {}
            Fate::Acked { saved: true, .. } | Fate::Refused { .. } => {
                self.fault(world, FaultKind::Refused, || code.to_owned());
            }
        }
        if unasked {
            self.fault(world, FaultKind::AnswerRefused, || {
                format!("question {q}, which is open: {code}")
            });
        }
    }

    fn send_again(&self, row: u32, world: &mut World, effects: &mut Effects) {
        if let Some(sent) = self.sent_mut(row, world) {
            sent.copies = sent.copies.saturating_add(1);
            effects.send(ToServer::Answer {
                q: sent.q,
                choice: sent.choice,
            });
            world.tally.sent_again += 1;
        }
    }

    /// Closes the row of an answer whose question is over.
    fn close_if_past(&mut self, row: u32, world: &mut World) {
        let is_past = self
            .sent_mut(row, world)
            .is_some_and(|sent| sent.q != self.open_q);
        if is_past && world.tally.ledger.close(row, self.class, self.id) && self.row == Some(row) {
            self.row = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Due;
    use crate::client::world::Class;
    use crate::plan::{Pace, Plan};

    /// A player who is told to answer question 1, so many microseconds late, when question 2 is open.
    fn after_its_question(late_us: u64) -> World {
        let plan = Plan::new(1, Pace::FAST, 2, vec![30]);
        let answers = |student: &u32| plan.answer(0, *student, 1).is_some();
        let student = (0..30).find(answers).expect("nearly all answer");
        let mut world = World::new(plan);
        world.classes.push(Class::new(0, 2, Vec::new()));
        let mut player = Player::new(0, student, Stamp(0));
        (player.here, player.open_q) = (true, 2);
        let (at, task) = (Stamp(5_000_000), Task::Answer { q: 1 });
        let due = Due { at, conn: 0, task };
        player.on_due(at.plus_us(late_us), due, &mut world, &mut Effects::default());
        world
    }

    #[test]
    fn what_the_harness_itself_was_too_late_for_was_never_done() {
        let tally = after_its_question(NEVER_DONE_US + 1).tally;
        assert_eq!((tally.too_late_to_send, tally.never_done), (1, 1));
        let tally = after_its_question(NEVER_DONE_US).tally;
        assert_eq!(
            (tally.too_late_to_send, tally.never_done),
            (1, 0),
            "the question closed first"
        );
        assert_eq!(tally.ledger.entered(), 0);
    }

    #[test]
    fn who_is_asked_for_the_head_while_away_answers_with_the_state_of_its_return() {
        let mut world = World::new(Plan::new(1, Pace::FAST, 2, vec![30]));
        let mut player = Player::new(0, 1, Stamp(0));
        let (at, task) = (Stamp(5_000_000), Task::Ping);
        player.on_due(at, Due { at, conn: 0, task }, &mut world, &mut Effects::default());
        assert!(player.asked, "its welcome counts as the answer");
    }
}
