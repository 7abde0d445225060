//! The ledger of answers: everything that was sent and what became of it, compared as a set with what the servers saved.
//!
//! An answer that may still change is held whole, one that nothing more is heard of in a few bytes, and none once its game
//! has been compared: what a player costs must not grow with how long a run lasts.

mod closed;

use std::collections::BTreeMap;

use closed::Closed;

use super::scoring::points;
use crate::sys::clock::Stamp;
use crate::wire::PlayerRow;

/// What became of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Nothing was heard of it.
    Open,
    /// Acknowledged.
    Acked {
        /// When the ack arrived.
        at: Stamp,
        /// Whether the server said that it is in the journal.
        saved: bool,
    },
    /// Refused with a typed error.
    Refused {
        /// The code.
        code: Box<str>,
    },
}

impl Fate {
    /// An ack came at `now`. The time of the ack that says saved is kept: what was not saved may be forgotten in a crash, and
    /// be taken anew with the next copy.
    pub fn ack(&mut self, now: Stamp, saved: bool) {
        match self {
            Self::Open => *self = Self::Acked { at: now, saved },
            Self::Acked { at, saved: before } if saved && !*before => (*at, *before) = (now, true),
            Self::Acked { .. } | Self::Refused { .. } => {}
        }
    }
}

/// An answer that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Index of the class.
    pub class: u32,
    /// The player's id in its game.
    pub player: u32,
    /// Question number, from 1.
    pub q: u16,
    /// The choice, from 0.
    pub choice: u8,
    /// When the host's click that opened the question was sent.
    pub clicked_at: Stamp,
    /// When the question arrived at this phone.
    pub seen_at: Stamp,
    /// When the answer was sent.
    pub sent_at: Stamp,
    /// How often it was sent: a tap may be doubled, and who comes back sends again what is not settled.
    pub copies: u16,
    /// Acks received.
    pub acks: u16,
    /// Those of them that said it was not saved yet; each promises another.
    pub unsaved_acks: u16,
    /// Refusals received.
    pub refusals: u16,
    /// Its socket was lost, or the server was, while its question was open: the server's clock of the question stood still
    /// for that time, so it may say less than the phone's.
    pub disturbed: bool,
    /// It was not settled when it had to be.
    pub overdue: bool,
    /// What became of it.
    pub fate: Fate,
    /// Points that the phone was told at the question's end.
    pub told_points: Option<u32>,
}

impl Sent {
    /// Whether nothing more needs to come: it is saved, or it was refused in words.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        matches!(self.fate, Fate::Acked { saved: true, .. } | Fate::Refused { .. })
    }

    /// Whether every copy has been replied to, and every ack that was promised has come.
    #[must_use]
    pub fn is_replied(&self) -> bool {
        let replies = u32::from(self.acks) + u32::from(self.refusals);
        self.is_settled() && replies >= u32::from(self.copies) + u32::from(self.unsaved_acks)
    }

    /// What the comparison with the saved result needs.
    const fn kept(&self) -> Kept {
        let (longest_us, is_saved) = match self.fate {
            Fate::Acked { at, saved } => (Some(at.since(self.clicked_at)), saved),
            Fate::Open | Fate::Refused { .. } => (None, false),
        };
        Kept {
            choice: self.choice,
            shortest_us: self.sent_at.since(self.seen_at),
            is_disturbed: self.disturbed,
            longest_us,
            told_points: self.told_points,
            is_saved,
            is_refused: matches!(self.fate, Fate::Refused { .. }),
            is_unsettled: self.overdue || !self.is_settled(),
            was_sent_again: self.copies > 1,
        }
    }
}

/// An answer as the comparison with the saved result needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kept {
    choice: u8,
    /// The server's time to answer is no shorter, unless its clock may have stood still.
    shortest_us: u64,
    is_disturbed: bool,
    /// And no longer; none without an ack.
    longest_us: Option<u64>,
    told_points: Option<u32>,
    /// Acked as saved.
    is_saved: bool,
    is_refused: bool,
    /// Not settled, or not in time.
    is_unsettled: bool,
    was_sent_again: bool,
}

/// All answers of a run whose games have not been compared.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// Answers of which more may be heard; places that are free are used again.
    open: Vec<Option<Sent>>,
    free: Vec<u32>,
    /// The others, by class.
    closed: BTreeMap<u32, Vec<Closed>>,
    entered: u64,
}

/// A class's closed answers grow by so many at once: a question of 30 students. Doubling would waste half.
const CLOSED_AT_ONCE: usize = 32;

/// What a question of a game asks, as far as the ledger needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The correct choice.
    pub correct: u8,
    /// Time to answer, in milliseconds.
    pub time_ms: u32,
    /// It counts for nobody.
    pub is_skipped: bool,
}

/// The comparison of the ledger with a saved result. Every figure but the first four must be 0.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Reckoning {
    /// Answers sent.
    pub sent: u64,
    /// Answers acknowledged.
    pub acked: u64,
    /// Answers refused with a typed error. No fault by itself: a tap may cross the host's close.
    pub refused: u64,
    /// Answers sent more than once and refused in the end, yet saved: the ack of the first copy was lost with its socket. No
    /// fault, as nobody was promised that they do not count.
    pub refused_but_saved: u64,
    /// Answers that ended, or stayed for too long, neither saved nor refused in words.
    pub unsettled: u64,
    /// Acked and not saved.
    pub lost: u64,
    /// Saved and never sent, or refused and saved all the same.
    pub phantom: u64,
    /// Saved more than once.
    pub doubled: u64,
    /// Saved with another choice than sent.
    pub wrong_choice: u64,
    /// Saved with a time that contradicts this harness's stamps.
    pub wrong_time: u64,
    /// Saved or told with other points than the rules give.
    pub wrong_score: u64,
    /// The first answers that were saved wrong, in words.
    #[serde(skip)]
    pub examples: Vec<String>,
}

/// Answers that are described in words.
const EXAMPLES_MAX: usize = 5;
/// A server's time to answer is cut to whole milliseconds at both of its ends.
const ROUNDING_US: u64 = 2_000;

impl Ledger {
    /// Enters an answer; the number of its row.
    pub fn enter(&mut self, sent: Sent) -> u32 {
        self.entered += 1;
        let row = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            crate::sys::small(self.open.len() - 1)
        });
        if let Some(place) = self.open.get_mut(crate::sys::index(row)) {
            *place = Some(sent);
        }
        row
    }

    /// Answers entered so far.
    #[must_use]
    pub const fn entered(&self) -> u64 {
        self.entered
    }

    /// The row of that number, if it is open and one of that player's: numbers are used again.
    pub fn row_mut(&mut self, row: u32, class: u32, player: u32) -> Option<&mut Sent> {
        let sent = self.open.get_mut(crate::sys::index(row))?.as_mut()?;
        ((sent.class, sent.player) == (class, player)).then_some(sent)
    }

    /// The open row of a player's answer to a question.
    #[must_use]
    pub fn find(&self, class: u32, player: u32, q: u16) -> Option<u32> {
        let is_it = |sent: &Sent| (sent.class, sent.player, sent.q) == (class, player, q);
        let found = self
            .open
            .iter()
            .position(|place| place.as_ref().is_some_and(is_it))?;
        Some(crate::sys::small(found))
    }

    /// Answers that are open.
    pub fn open(&self) -> impl Iterator<Item = &Sent> {
        self.open.iter().flatten()
    }

    /// Closes that player's row of which nothing more should be heard; whether it did. One that waits for a reply stays open.
    pub fn close(&mut self, row: u32, class: u32, player: u32) -> bool {
        let replied = self.row_mut(row, class, player).filter(|sent| sent.is_replied());
        let Some(closed) = replied.and_then(|sent| Closed::of(sent)) else {
            return false;
        };
        if let Some(place) = self.open.get_mut(crate::sys::index(row)) {
            *place = None;
        }
        self.free.push(row);
        let all = self.closed.entry(class).or_default();
        if all.len() == all.capacity() {
            all.reserve_exact(CLOSED_AT_ONCE);
        }
        all.push(closed);
        true
    }

    /// Notes the points that a phone was told for an answer that may be closed already.
    pub fn tell(&mut self, class: u32, player: u32, q: u16, points: u32) {
        let closed = self.closed.get_mut(&class).into_iter().flatten();
        if let Some(closed) = closed.rev().find(|closed| closed.is_of(player, q)) {
            closed.tell(points);
        }
    }

    /// Answers that are neither saved nor refused yet.
    #[must_use]
    pub fn unsettled(&self) -> usize {
        self.open().filter(|sent| !sent.is_settled()).count()
    }

    /// Answers sent until `until` that are neither saved nor refused yet.
    #[must_use]
    pub fn unsettled_until(&self, until: Stamp) -> usize {
        let late = |sent: &&Sent| sent.sent_at <= until && !sent.is_settled();
        self.open().filter(late).count()
    }

    /// Answers sent until `until` had to be settled by now; whatever becomes of them, those that are not stay unsettled.
    pub fn settle_by_now(&mut self, until: Stamp) {
        for sent in self.open.iter_mut().flatten() {
            sent.overdue |= sent.sent_at <= until && !sent.is_settled();
        }
    }

    /// Compares the answers of `class` with its saved result, and forgets them. `rule` knows the questions.
    #[must_use]
    pub fn reckon(&mut self, class: u32, saved: &[PlayerRow], rule: impl Fn(u16) -> Rule) -> Reckoning {
        let sent = self.take(class);
        let mut reckoning = Reckoning::default();
        for kept in sent.values() {
            reckoning.sent += 1;
            reckoning.acked += u64::from(kept.is_saved);
            reckoning.refused += u64::from(kept.is_refused);
            reckoning.unsettled += u64::from(kept.is_unsettled);
        }
        let mut seen: BTreeMap<(u32, u16), u32> = BTreeMap::new();
        for (player, answer) in saved
            .iter()
            .flat_map(|p| p.answers.iter().map(move |a| (p.id, a)))
        {
            let times = seen.entry((player, answer.q)).or_insert(0);
            *times += 1;
            if *times > 1 {
                reckoning.doubled += 1;
                continue;
            }
            match sent.get(&(player, answer.q)) {
                None => reckoning.phantom += 1,
                // The first copy was saved and its ack lost; the second came when the question was gone.
                Some(kept) if kept.is_refused && kept.was_sent_again => {
                    reckoning.refused_but_saved += 1;
                    reckoning.compare((class, player), kept, answer, rule(answer.q));
                }
                Some(kept) if kept.is_refused => reckoning.phantom += 1,
                Some(kept) => reckoning.compare((class, player), kept, answer, rule(answer.q)),
            }
        }
        let acked = sent.iter().filter(|(_, kept)| kept.is_saved);
        reckoning.lost = crate::sys::count(acked.filter(|(key, _)| !seen.contains_key(key)).count());
        reckoning
    }

    /// Takes everything of `class` out, by player and question.
    fn take(&mut self, class: u32) -> BTreeMap<(u32, u16), Kept> {
        let mut taken = BTreeMap::new();
        for closed in self.closed.remove(&class).into_iter().flatten() {
            taken.insert(closed.key(), closed.kept());
        }
        for (row, place) in (0..).zip(&mut self.open) {
            if let Some(sent) = place.take_if(|sent| sent.class == class) {
                taken.insert((sent.player, sent.q), sent.kept());
                self.free.push(row);
            }
        }
        taken
    }
}

impl Reckoning {
    /// Adds the figures of another class.
    pub fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.acked += other.acked;
        self.refused += other.refused;
        self.refused_but_saved += other.refused_but_saved;
        self.unsettled += other.unsettled;
        self.lost += other.lost;
        self.phantom += other.phantom;
        self.doubled += other.doubled;
        self.wrong_choice += other.wrong_choice;
        self.wrong_time += other.wrong_time;
        self.wrong_score += other.wrong_score;
        let room = EXAMPLES_MAX.saturating_sub(self.examples.len());
        self.examples.extend(other.examples.iter().take(room).cloned());
    }

    fn compare(&mut self, of: (u32, u32), kept: &Kept, saved: &crate::wire::AnswerRow, rule: Rule) {
        let mut found = Vec::new();
        if saved.choices != [kept.choice] {
            self.wrong_choice += 1;
            found.push(format!("choices {:?} saved for {}", saved.choices, kept.choice));
        }
        let correct = kept.choice == rule.correct;
        let expected = match rule.is_skipped {
            true => 0,
            false => points(correct, saved.elapsed_ms, rule.time_ms),
        };
        if saved.points != expected
            || (saved.correct != correct && !rule.is_skipped)
            || kept.told_points.is_some_and(|told| told != expected)
        {
            self.wrong_score += 1;
            let (points, told) = (saved.points, kept.told_points);
            found.push(format!("{points} points saved and {told:?} told for {expected}"));
        }
        // The question opened after the click and before this phone saw it; the answer arrived after it was sent and
        // before its ack came back.
        let elapsed_us = u64::from(saved.elapsed_ms) * 1_000;
        let longest_us = kept.longest_us.unwrap_or(u64::MAX - ROUNDING_US);
        let too_short = !kept.is_disturbed && elapsed_us + ROUNDING_US < kept.shortest_us;
        if too_short || elapsed_us > longest_us + ROUNDING_US {
            self.wrong_time += 1;
            let (shortest, longest) = (kept.shortest_us / 1_000, longest_us / 1_000);
            found.push(format!(
                "{} ms saved for {shortest} to {longest} ms",
                saved.elapsed_ms
            ));
        }
        let ((class, player), q) = (of, saved.q);
        let (again, disturbed) = (kept.was_sent_again, kept.is_disturbed);
        let room = EXAMPLES_MAX.saturating_sub(self.examples.len());
        self.examples.extend(found.into_iter().take(room).map(|what| {
            format!("{what}: class {class}, player {player}, question {q}, sent again: {again}, disturbed: {disturbed}")
        }));
    }

    /// The figures that must be 0, with their names.
    #[must_use]
    pub const fn faults(&self) -> [(&'static str, u64); 7] {
        [
            ("unsettled", self.unsettled),
            ("lost", self.lost),
            ("phantom", self.phantom),
            ("doubled", self.doubled),
            ("wrong choice", self.wrong_choice),
            ("wrong time", self.wrong_time),
            ("wrong score", self.wrong_score),
        ]
    }
}

#[cfg(test)]
mod tests;
