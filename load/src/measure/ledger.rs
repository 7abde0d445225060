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
    /// What became of it.
    pub fate: Fate,
    /// Points that the phone was told at the question's end.
    pub told_points: Option<u32>,
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
}

/// The comparison of the ledger with a saved result. Every figure but the first two must be 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Reckoning {
    /// Answers sent.
    pub sent: u64,
    /// Answers acknowledged.
    pub acked: u64,
    /// Answers refused with a typed error. No fault by itself: a tap may cross the host's close.
    pub refused: u64,
    /// Answers of which nothing was heard.
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
}

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

    /// Answers of which nothing was heard yet.
    #[must_use]
    pub fn unsettled(&self) -> usize {
        self.rows.iter().filter(|row| row.fate == Fate::Open).count()
    }

    /// Compares the answers of `class` with its saved result. `rule` knows the questions.
    #[must_use]
    pub fn reckon(&self, class: u32, saved: &[PlayerRow], rule: impl Fn(u16) -> Rule) -> Reckoning {
        let mut reckoning = Reckoning::default();
        let mut sent: BTreeMap<(u32, u16), &Sent> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.class == class) {
            reckoning.sent += 1;
            match row.fate {
                Fate::Open => reckoning.unsettled += 1,
                Fate::Acked { .. } => reckoning.acked += 1,
                Fate::Refused { .. } => reckoning.refused += 1,
            }
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
                Some(row) if matches!(row.fate, Fate::Refused { .. }) => reckoning.phantom += 1,
                Some(row) => reckoning.compare(row, answer, rule(answer.q)),
            }
        }
        let acked = sent
            .iter()
            .filter(|(_, row)| matches!(row.fate, Fate::Acked { .. }));
        reckoning.lost = crate::sys::count(acked.filter(|(key, _)| !seen.contains_key(key)).count());
        reckoning
    }
}

impl Reckoning {
    fn compare(&mut self, row: &Sent, saved: &crate::wire::AnswerRow, rule: Rule) {
        if saved.choices != [row.choice] {
            self.wrong_choice += 1;
        }
        let correct = row.choice == rule.correct;
        let expected = points(correct, saved.elapsed_ms, rule.time_ms);
        if saved.points != expected
            || saved.correct != correct
            || row.told_points.is_some_and(|told| told != expected)
        {
            self.wrong_score += 1;
        }
        // The question opened after the click and before this phone saw it; the answer arrived after it was sent and
        // before its ack came back.
        let elapsed_us = u64::from(saved.elapsed_ms) * 1_000;
        let shortest_us = row.sent_at.since(row.seen_at);
        let longest_us = match row.fate {
            Fate::Acked { at, .. } => at.since(row.clicked_at),
            Fate::Open | Fate::Refused { .. } => u64::MAX - ROUNDING_US,
        };
        if elapsed_us + ROUNDING_US < shortest_us || elapsed_us > longest_us + ROUNDING_US {
            self.wrong_time += 1;
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
