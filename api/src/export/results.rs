//! A game's result as tables: who answered what, and what each question came to.

use std::collections::HashMap;

use protocol::quiz::Question;
use protocol::rest::ReportResponse;
use protocol::result::{AnswerResult, PlayerResult};

/// A cell. Which cells are texts is decided here and nowhere guessed: no spreadsheet is to take a nickname for a formula.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Text(String),
    Number(f64),
    Empty,
}

/// Rows of cells below their names.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// One row a player, best first: totals, and for each question played the answer and its points.
pub(super) fn students(report: &ReportResponse) -> Table {
    let played = &report.result.questions;
    let mut header: Vec<String> = ["Place", "Name", "Points", "Right", "Answered"]
        .map(str::to_owned)
        .into();
    for question in played {
        let skipped = if question.skipped { " (skipped)" } else { "" };
        header.push(format!("Question {}{skipped}", question.q));
        header.push(format!("Points {}", question.q));
    }
    let rows = report
        .result
        .players
        .iter()
        .map(|player| student(report, player))
        .collect();
    Table {
        name: "Students",
        header,
        rows,
    }
}

fn student(report: &ReportResponse, player: &PlayerResult) -> Vec<Cell> {
    let answers: HashMap<u16, &AnswerResult> =
        player.answers.iter().map(|answer| (answer.q, answer)).collect();
    let right = player.answers.iter().filter(|answer| answer.correct).count();
    let mut row = vec![
        number(player.rank),
        Cell::Text(player.name.clone()),
        number(player.total),
        count(right),
        count(player.answers.len()),
    ];
    for question in &report.result.questions {
        match answers.get(&question.q) {
            Some(answer) => row.extend([Cell::Text(chosen(report, answer)), number(answer.points)]),
            None => row.extend([Cell::Empty, Cell::Empty]),
        }
    }
    row
}

/// The texts of the choices, in the question's order.
fn chosen(report: &ReportResponse, answer: &AnswerResult) -> String {
    let choices = asked(report, answer.q).map_or(&[][..], |question| &question.choices);
    let texts = answer
        .choices
        .iter()
        .filter_map(|choice| choices.get(usize::from(*choice)));
    texts
        .map(|choice| choice.text.as_str())
        .collect::<Vec<_>>()
        .join(" | ")
}

/// One row a question played.
pub(super) fn questions(report: &ReportResponse) -> Table {
    let header = [
        "Number",
        "Question",
        "Correct answer",
        "Answered",
        "Right",
        "Median seconds",
    ];
    let rows = report.questions.iter().map(|told| {
        let question = asked(report, told.q);
        let right = question.map(|question| {
            let right = question.choices.iter().filter(|choice| choice.correct);
            right
                .map(|choice| choice.text.as_str())
                .collect::<Vec<_>>()
                .join(" | ")
        });
        vec![
            number(u32::from(told.q)),
            question.map_or(Cell::Empty, |question| Cell::Text(question.text.clone())),
            right.map_or(Cell::Empty, Cell::Text),
            number(told.answered),
            number(told.right),
            told.median_ms
                .map_or(Cell::Empty, |ms| Cell::Number(f64::from(ms) / 1000.0)),
        ]
    });
    Table {
        name: "Questions",
        header: header.map(str::to_owned).into(),
        rows: rows.collect(),
    }
}

fn asked(report: &ReportResponse, q: u16) -> Option<&Question> {
    let index = usize::from(q).checked_sub(1)?;
    report.result.quiz.questions.get(index)
}

fn number(value: u32) -> Cell {
    Cell::Number(f64::from(value))
}

fn count(value: usize) -> Cell {
    number(u32::try_from(value).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
