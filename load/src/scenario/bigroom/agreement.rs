//! Whether phones, podium and report tell the same truth, and whether it is the one that the rules give.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::client::{Click, HostPlace, Player, Reveal};
use crate::measure::{points, rank};
use crate::plan;
use crate::sys::{count, small};
use crate::wire::{AnswerRow, PlayerRow};

/// Disagreements; all must be 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Agreement {
    /// Phones that never saw the final places.
    pub phones_without_end: u64,
    /// Phones missing from the report or the podium, or the other way round.
    pub missing: u64,
    /// Totals at a phone, on the podium or in the report that differ from the points recomputed from the raw answers.
    pub wrong_totals: u64,
    /// Places that differ from the rule that equal points share one.
    pub wrong_places: u64,
    /// Questions whose histogram or counts on the board differ from the saved answers.
    pub wrong_reveals: u64,
    /// Questions that did not reach every phone.
    pub missed_questions: u64,
}

impl Agreement {
    /// Compares what everybody was told with the saved answers.
    pub(super) fn of(
        phones: &[&Player],
        podium: &[HostPlace],
        reveals: &[Reveal],
        saved: &[PlayerRow],
        clicks: &[Click],
    ) -> Self {
        let totals: BTreeMap<u32, u32> = saved.iter().map(|row| (row.id, recomputed_total(row))).collect();
        let all: Vec<u32> = totals.values().copied().collect();
        let on_podium: BTreeMap<&str, &HostPlace> = podium.iter().map(|p| (p.name.as_str(), p)).collect();
        let mut found = Self {
            missing: count(saved.len().abs_diff(phones.len()) + podium.len().abs_diff(phones.len())),
            missed_questions: count(clicks.iter().filter(|c| c.phones != small(phones.len())).count()),
            ..Self::default()
        };
        for row in saved {
            found.compare(row.total, row.rank, totals.get(&row.id).copied(), &all);
        }
        for phone in phones {
            let total = phone.id().and_then(|id| totals.get(&id).copied());
            match phone.final_places() {
                Some(end) => {
                    found.compare(end.total, end.rank, total, &all);
                    found.wrong_places += u64::from(end.of != small(all.len()));
                }
                None => found.phones_without_end += 1,
            }
            match on_podium.get(phone.name().as_str()) {
                Some(place) => found.compare(place.total, place.rank, total, &all),
                None => found.missing += 1,
            }
        }
        found.wrong_reveals = count(reveals.iter().filter(|r| !is_right(r, saved)).count());
        found
    }

    fn compare(&mut self, total: u32, place: u32, expected: Option<u32>, all: &[u32]) {
        match expected {
            Some(expected) => {
                self.wrong_totals += u64::from(total != expected);
                self.wrong_places += u64::from(place != rank(expected, all));
            }
            None => self.missing += 1,
        }
    }

    /// The figures with their names.
    #[must_use]
    pub const fn faults(&self) -> [(&'static str, u64); 6] {
        [
            ("phones without the end", self.phones_without_end),
            ("missing players", self.missing),
            ("wrong totals", self.wrong_totals),
            ("wrong places", self.wrong_places),
            ("wrong reveals", self.wrong_reveals),
            ("questions missed by a phone", self.missed_questions),
        ]
    }
}

fn is_correct(answer: &AnswerRow) -> bool {
    answer.choices == [plan::reference_correct(answer.q)]
}

/// The answers that count: the first to each question. A doubled one is the ledger's finding and must not show as a
/// wrong total, too.
fn counting(row: &PlayerRow) -> impl Iterator<Item = &AnswerRow> {
    let is_first = |i: usize, a: &AnswerRow| row.answers.iter().position(|b| b.q == a.q) == Some(i);
    row.answers
        .iter()
        .enumerate()
        .filter(move |(i, a)| is_first(*i, a))
        .map(|(_, a)| a)
}

fn recomputed_total(row: &PlayerRow) -> u32 {
    counting(row)
        .map(|a| points(is_correct(a), a.elapsed_ms, plan::TIME_MS))
        .sum()
}

fn is_right(reveal: &Reveal, saved: &[PlayerRow]) -> bool {
    let answers = || saved.iter().flat_map(counting).filter(|a| a.q == reveal.q);
    let with = |choice: u8| small(answers().filter(|a| a.choices.contains(&choice)).count());
    let histogram: Vec<u32> = (0..plan::CHOICES).map(with).collect();
    let right = answers().filter(|a| is_correct(a)).count();
    reveal.histogram == histogram
        && reveal.answered == small(answers().count())
        && reveal.right == small(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(q: u16, choice: u8, elapsed_ms: u32) -> AnswerRow {
        let correct = choice == plan::reference_correct(q);
        AnswerRow {
            q,
            choices: vec![choice],
            elapsed_ms,
            correct,
            points: points(correct, elapsed_ms, plan::TIME_MS),
        }
    }

    fn row(id: u32, rank: u32, answers: Vec<AnswerRow>) -> PlayerRow {
        let total = answers.iter().map(|a| a.points).sum();
        PlayerRow {
            id,
            name: format!("P{id}"),
            rank,
            total,
            answers,
        }
    }

    fn saved() -> Vec<PlayerRow> {
        let right = plan::reference_correct(1);
        vec![
            row(1, 1, vec![answer(1, right, 0)]),
            row(2, 2, vec![answer(1, (right + 1) % 4, 5)]),
            row(3, 2, vec![]),
        ]
    }

    #[test]
    fn a_report_that_follows_the_rules_has_no_fault() {
        let found = Agreement::of(&[], &[], &[], &saved(), &[]);
        assert_eq!(
            found,
            Agreement {
                missing: 3,
                ..Agreement::default()
            },
            "only the phones are missing"
        );
    }

    #[test]
    fn wrong_totals_and_places_are_found() {
        let mut rows = saved();
        rows[0].total += 1;
        rows[2].rank = 3;
        let found = Agreement::of(&[], &[], &[], &rows, &[]);
        assert_eq!((found.wrong_totals, found.wrong_places), (1, 1));
    }

    #[test]
    fn a_doubled_answer_is_left_to_the_ledger() {
        let mut rows = saved();
        let again = rows[0].answers[0].clone();
        rows[0].answers.push(again);
        let found = Agreement::of(&[], &[], &[], &rows, &[]);
        assert_eq!((found.wrong_totals, found.wrong_places), (0, 0));
    }

    #[test]
    fn reveals_are_counted_from_the_answers() {
        let right = plan::reference_correct(1);
        let mut histogram = vec![0; 4];
        histogram[usize::from(right)] = 1;
        histogram[usize::from((right + 1) % 4)] = 1;
        let reveal = Reveal {
            q: 1,
            histogram,
            answered: 2,
            right: 1,
        };
        assert!(is_right(&reveal, &saved()));
        assert!(!is_right(
            &Reveal {
                answered: 3,
                ..reveal.clone()
            },
            &saved()
        ));
        assert!(!is_right(
            &Reveal {
                right: 2,
                ..reveal.clone()
            },
            &saved()
        ));
        assert!(!is_right(
            &Reveal {
                histogram: vec![1, 1, 0, 1],
                ..reveal
            },
            &saved()
        ));
    }
}
