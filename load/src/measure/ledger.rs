//! The ledger of answers: everything that was sent and what became of it, compared as a set with what the servers saved.

use std::collections::BTreeMap;

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
}

/// All answers of a run, in the order of sending.
#[derive(Debug, Default)]
pub struct Ledger {
    rows: Vec<Sent>,
}

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
        let row = crate::sys::small(self.rows.len());
        self.rows.push(sent);
        row
    }

    /// The row of that number.
    pub fn row_mut(&mut self, row: u32) -> Option<&mut Sent> {
        self.rows.get_mut(crate::sys::index(row))
    }

    /// The row of a player's answer to a question; the newest, looked for from the end.
    pub fn find(&self, class: u32, player: u32, q: u16) -> Option<u32> {
        let found = self
            .rows
            .iter()
            .rposition(|r| (r.class, r.player, r.q) == (class, player, q))?;
        Some(crate::sys::small(found))
    }

    /// All rows.
    #[must_use]
    pub fn rows(&self) -> &[Sent] {
        &self.rows
    }

    /// Answers that are neither saved nor refused yet.
    #[must_use]
    pub fn unsettled(&self) -> usize {
        self.rows.iter().filter(|row| !row.is_settled()).count()
    }

    /// Answers sent until `until` that are neither saved nor refused yet.
    #[must_use]
    pub fn unsettled_until(&self, until: Stamp) -> usize {
        let late = |row: &&Sent| row.sent_at <= until && !row.is_settled();
        self.rows.iter().filter(late).count()
    }

    /// Answers sent until `until` had to be settled by now; whatever becomes of them, those that are not stay unsettled.
    pub fn settle_by_now(&mut self, until: Stamp) {
        for row in &mut self.rows {
            row.overdue |= row.sent_at <= until && !row.is_settled();
        }
    }

    /// Compares the answers of `class` with its saved result. `rule` knows the questions.
    #[must_use]
    pub fn reckon(&self, class: u32, saved: &[PlayerRow], rule: impl Fn(u16) -> Rule) -> Reckoning {
        let mut reckoning = Reckoning::default();
        let mut sent: BTreeMap<(u32, u16), &Sent> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.class == class) {
            reckoning.sent += 1;
            match row.fate {
                Fate::Open | Fate::Acked { saved: false, .. } => {}
                Fate::Acked { saved: true, .. } => reckoning.acked += 1,
                Fate::Refused { .. } => reckoning.refused += 1,
            }
            reckoning.unsettled += u64::from(row.overdue || !row.is_settled());
            sent.insert((row.player, row.q), row);
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
                Some(row) if matches!(row.fate, Fate::Refused { .. }) && row.copies > 1 => {
                    reckoning.refused_but_saved += 1;
                    reckoning.compare(row, answer, rule(answer.q));
                }
                Some(row) if matches!(row.fate, Fate::Refused { .. }) => reckoning.phantom += 1,
                Some(row) => reckoning.compare(row, answer, rule(answer.q)),
            }
        }
        let acked = sent
            .iter()
            .filter(|(_, row)| matches!(row.fate, Fate::Acked { saved: true, .. }));
        reckoning.lost = crate::sys::count(acked.filter(|(key, _)| !seen.contains_key(key)).count());
        reckoning
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

    fn example(&mut self, row: &Sent, what: impl FnOnce() -> String) {
        if self.examples.len() < EXAMPLES_MAX {
            let Sent {
                class,
                player,
                q,
                copies,
                disturbed,
                ..
            } = row;
            let what = what();
            self.examples.push(format!(
                "{what}: class {class}, player {player}, question {q}, {copies} copies sent, disturbed: {disturbed}"
            ));
        }
    }

    fn compare(&mut self, row: &Sent, saved: &crate::wire::AnswerRow, rule: Rule) {
        if saved.choices != [row.choice] {
            self.wrong_choice += 1;
            self.example(row, || {
                format!("choices {:?} saved for {}", saved.choices, row.choice)
            });
        }
        let correct = row.choice == rule.correct;
        let expected = match rule.is_skipped {
            true => 0,
            false => points(correct, saved.elapsed_ms, rule.time_ms),
        };
        if saved.points != expected
            || (saved.correct != correct && !rule.is_skipped)
            || row.told_points.is_some_and(|told| told != expected)
        {
            self.wrong_score += 1;
            self.example(row, || {
                format!(
                    "{} points saved and {:?} told for {expected}",
                    saved.points, row.told_points
                )
            });
        }
        // The question opened after the click and before this phone saw it; the answer arrived after it was sent and
        // before its ack came back.
        let elapsed_us = u64::from(saved.elapsed_ms) * 1_000;
        let shortest_us = row.sent_at.since(row.seen_at);
        let longest_us = match row.fate {
            Fate::Acked { at, .. } => at.since(row.clicked_at),
            Fate::Open | Fate::Refused { .. } => u64::MAX - ROUNDING_US,
        };
        let too_short = !row.disturbed && elapsed_us + ROUNDING_US < shortest_us;
        if too_short || elapsed_us > longest_us + ROUNDING_US {
            self.wrong_time += 1;
            self.example(row, || {
                let (shortest, longest) = (shortest_us / 1_000, longest_us / 1_000);
                format!("{} ms saved for {shortest} to {longest} ms", saved.elapsed_ms)
            });
        }
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
