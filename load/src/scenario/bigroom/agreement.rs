//! Whether phones, podium and report tell the same truth, and whether it is the one that the rules give.

use std::collections::{BTreeMap, BTreeSet};

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
    /// Phones missing from the report or the podium, or the other way round, or there under another name; players that the
    /// host was not told of.
    pub missing: u64,
    /// Players in the report that no phone is. Who was cut off while it joined may have joined twice.
    pub strangers: u64,
    /// Totals at a phone, on the podium or in the report that differ from the points recomputed from the raw answers.
    pub wrong_totals: u64,
    /// Places that differ from the rule that equal points share one.
    pub wrong_places: u64,
    /// Questions whose histogram or counts on the board differ from the saved answers.
    pub wrong_reveals: u64,
    /// Questions that did not reach every phone.
    pub missed_questions: u64,
}

/// What the members of a class were told.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// The students.
    pub phones: &'a [&'a Player],
    /// The final places, as the host has them.
    pub podium: &'a [HostPlace],
    /// Players that the host was told of.
    pub roster: u32,
    /// The questions' outcomes, as the host has them.
    pub reveals: &'a [Reveal],
}

impl Agreement {
    /// Compares what everybody was told with the saved answers. `is_skipped` knows the questions that count for nobody. Who came
    /// when the podium stood is in neither list, and whether everybody joined and saw the podium is not judged here.
    pub(in crate::scenario) fn of(
        told: &Told<'_>,
        saved: &[PlayerRow],
        is_skipped: impl Fn(u16) -> bool,
    ) -> Self {
        let rows: BTreeMap<u32, (&str, u32)> = saved
            .iter()
            .map(|row| (row.id, (row.name.as_str(), recomputed_total(row, &is_skipped))))
            .collect();
        let all: Vec<u32> = rows.values().map(|&(_, total)| total).collect();
        let totals: BTreeMap<&str, u32> = rows.values().copied().collect();
        let on_podium: BTreeMap<&str, &HostPlace> =
            told.podium.iter().map(|p| (p.name.as_str(), p)).collect();
        let mut found = Self::default();
        for row in saved {
            let total = rows.get(&row.id).map_or(0, |&(_, total)| total);
            found.compare(row.total, row.rank, total, &all);
        }
        for place in told.podium {
            match totals.get(place.name.as_str()) {
                Some(&total) => found.compare(place.total, place.rank, total, &all),
                None => found.missing += 1,
            }
        }
        found.missing += count(saved.len() - rows.len() + told.podium.len() - on_podium.len());
        found.missing += count(
            totals
                .keys()
                .filter(|name| !on_podium.contains_key(*name))
                .count(),
        );
        let joined = || told.phones.iter().filter(|phone| phone.id().is_some());
        let mut ids = BTreeSet::new();
        for phone in joined().filter(|phone| !phone.came_at_the_end()) {
            ids.extend(phone.id());
            let row = phone.id().and_then(|id| rows.get(&id));
            let Some(&(_, total)) = row.filter(|(name, _)| phone.is_called(name)) else {
                found.missing += 1;
                continue;
            };
            if let Some(end) = phone.final_places() {
                found.compare(end.total, end.rank, total, &all);
                found.wrong_places += u64::from(end.of != small(all.len()));
            }
        }
        found.strangers = count(rows.keys().filter(|id| !ids.contains(*id)).count());
        // Who came at the end may be on the roster, and need not be; so is who joined again under another name.
        let (least, most) = (ids.len(), joined().count().max(rows.len()));
        let roster = crate::sys::index(told.roster);
        found.missing += count(least.saturating_sub(roster) + roster.saturating_sub(most));
        let judged = told.reveals.iter().filter(|reveal| !is_skipped(reveal.q));
        found.wrong_reveals = count(judged.filter(|r| !is_right(r, saved)).count());
        found
    }

    /// What must be so where nobody comes late and nobody is ever cut off.
    pub(super) fn judge_room(&mut self, told: &Told<'_>, clicks: &[Click]) {
        let phones = told.phones.iter();
        self.phones_without_end = count(phones.filter(|phone| phone.final_places().is_none()).count());
        let everybody = small(told.phones.len());
        self.missed_questions = count(clicks.iter().filter(|click| click.phones != everybody).count());
    }

    fn compare(&mut self, total: u32, place: u32, expected: u32, all: &[u32]) {
        self.wrong_totals += u64::from(total != expected);
        self.wrong_places += u64::from(place != rank(expected, all));
    }

    /// The figures with their names.
    #[must_use]
    pub const fn faults(&self) -> [(&'static str, u64); 7] {
        [
            ("phones without the end", self.phones_without_end),
            ("missing players", self.missing),
            ("players that nobody is", self.strangers),
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

fn recomputed_total(row: &PlayerRow, is_skipped: impl Fn(u16) -> bool) -> u32 {
    counting(row)
        .filter(|a| !is_skipped(a.q))
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

    /// A class of which nothing was heard.
    fn nobody() -> Told<'static> {
        Told {
            phones: &[],
            podium: &[],
            roster: 0,
            reveals: &[],
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
        let found = Agreement::of(&nobody(), &saved(), |_| false);
        assert_eq!(
            found,
            Agreement {
                missing: 3,
                strangers: 3,
                ..Agreement::default()
            },
            "nobody is on the podium, and nobody is a phone"
        );
    }

    #[test]
    fn wrong_totals_and_places_are_found() {
        let mut rows = saved();
        rows[0].total += 1;
        rows[2].rank = 3;
        let found = Agreement::of(&nobody(), &rows, |_| false);
        assert_eq!((found.wrong_totals, found.wrong_places), (1, 1));
    }

    #[test]
    fn a_doubled_answer_is_left_to_the_ledger() {
        let mut rows = saved();
        let again = rows[0].answers[0].clone();
        rows[0].answers.push(again);
        let found = Agreement::of(&nobody(), &rows, |_| false);
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
