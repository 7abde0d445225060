//! One row of the template to a question, or to the reason why not.

use protocol::quiz::{Choice, Question, QuestionKind, TIME_MS_DEFAULT, TIME_MS_MAX, TIME_MS_MIN};

use super::header::Columns;
use crate::import::report::{Report, choices_reason};
use crate::import::sheet::{self, Row, Value};
use crate::import::text;

/// What stands between the numbers of correct answers, besides white space: the comma of the template, what other
/// languages and habits use, and the dot, since `1,3` typed where the decimal sign is a comma is stored as 1.3.
const SEPARATORS: [char; 11] = [
    ',', ';', '.', '/', '&', '+', '|', '\u{FF0C}', '\u{FF1B}', '\u{3001}', '\u{060C}',
];

/// A row's cells by meaning.
struct Item<'r> {
    question: Option<&'r Value>,
    /// Number in the header, column and value of the answers that are given.
    answers: Vec<(u32, u32, &'r Value)>,
    time: Option<&'r Value>,
    correct: Option<&'r Value>,
}

/// Imports a row below the header. A row without question, answers and correct answer is no item.
pub(super) fn import(columns: &Columns, row: &Row, report: &mut Report) {
    let cell = |wanted: u32| {
        row.cells
            .iter()
            .find(|(column, _)| *column == wanted)
            .map(|(_, value)| value)
    };
    let answers = columns.answers.iter();
    let item = Item {
        question: cell(columns.question),
        answers: answers
            .filter_map(|(number, column)| Some((*number, *column, cell(*column)?)))
            .collect(),
        time: columns.time.and_then(cell),
        correct: cell(columns.correct),
    };
    if item.question.is_none() && item.answers.is_empty() && item.correct.is_none() {
        return;
    }
    let name = item.question.or(item.answers.first().map(|(_, _, value)| *value));
    let name = name.map(Value::as_text).unwrap_or_default();
    let place = format_args!("row {}", row.number);
    let mut notes = Vec::new();
    match question(&item, columns, row.number, &mut notes) {
        Err(reason) => report.skip(name, place, reason),
        Ok(question) => {
            if report.take(name, place, question) {
                for note in notes {
                    report.note(name, place, note);
                }
            }
        }
    }
}

fn question(
    item: &Item<'_>,
    columns: &Columns,
    row: u32,
    notes: &mut Vec<String>,
) -> Result<Question, String> {
    let given = item.question.map(|value| (columns.question, value));
    for (column, value) in given
        .into_iter()
        .chain(item.answers.iter().map(|(_, column, value)| (*column, *value)))
    {
        let cell = format!("{}{row}", sheet::column_letters(column));
        match value {
            Value::Error(mark) => {
                return Err(format!("Cell {cell} shows an error ({}).", text::clip(mark, 30)));
            }
            Value::Date(date) => notes.push(format!(
                "Cell {cell} holds a date, taken as {}.",
                text::clip(date, 30)
            )),
            Value::Text(_) | Value::Number(_) | Value::Bool(_) => {}
        }
    }
    let text = item
        .question
        .map(|value| text::tidy(value.as_text()))
        .filter(|text| !text.is_empty());
    let text = text.ok_or("It has no question text.")?;
    if item.answers.len() < 2 {
        return Err(choices_reason(item.answers.len()));
    }
    let correct = correct_numbers(item.correct)?;
    let unknown = correct
        .iter()
        .find(|number| item.answers.iter().all(|(known, _, _)| known != *number));
    if let Some(number) = unknown {
        return Err(format!("Its correct answer {number} has no text."));
    }
    let choices = item.answers.iter().map(|(number, _, value)| Choice {
        text: text::tidy(value.as_text()),
        correct: correct.contains(number),
    });
    let mut choices: Vec<Choice> = choices.collect();
    let kind = kind(&mut choices);
    Ok(Question {
        kind,
        text,
        choices,
        time_ms: time_ms(item.time, notes),
    })
}

/// True/false when there are just these two answers and one of them is correct; true is put first.
fn kind(choices: &mut [Choice]) -> QuestionKind {
    let [first, second] = choices else {
        return QuestionKind::Single;
    };
    let is = |choice: &Choice, word: &str| choice.text.eq_ignore_ascii_case(word);
    if first.correct == second.correct {
        return QuestionKind::Single;
    }
    if is(first, "false") && is(second, "true") {
        std::mem::swap(first, second);
    }
    if is(first, "true") && is(second, "false") {
        QuestionKind::TrueFalse
    } else {
        QuestionKind::Single
    }
}

/// The numbers of a list such as `1,3`, `2; 4` or `2`.
fn correct_numbers(value: Option<&Value>) -> Result<Vec<u32>, String> {
    let value = value.ok_or("It names no correct answer.")?;
    let list = value.as_text().trim();
    let refused = || {
        format!(
            "Its correct answer “{}” is no list of answer numbers.",
            text::clip(list, 30)
        )
    };
    // A number typed as text may have a fraction of zero; as a list with dots it would name answer 0.
    let whole = list
        .strip_suffix(".0")
        .or_else(|| list.strip_suffix(",0"))
        .unwrap_or(list);
    let parts = whole.split(|c: char| c.is_whitespace() || SEPARATORS.contains(&c));
    match value {
        Value::Text(_) | Value::Number(_) => {
            let numbers: Result<Vec<u32>, _> = parts
                .filter(|part| !part.is_empty())
                .map(|part| part.parse::<u32>().map_err(|_| refused()))
                .collect();
            numbers.and_then(|numbers| {
                if numbers.is_empty() {
                    Err(refused())
                } else {
                    Ok(numbers)
                }
            })
        }
        // The program made a date of `1/3`, or a truth value or an error: what was meant is lost.
        Value::Date(_) | Value::Bool(_) | Value::Error(_) => Err(refused()),
    }
}

/// The time to answer. Seconds, as text also with a unit behind; out of bounds it is moved to the nearest bound.
fn time_ms(value: Option<&Value>, notes: &mut Vec<String>) -> u32 {
    let Some(value) = value else {
        return TIME_MS_DEFAULT;
    };
    let written = value.as_text().trim();
    let number = written.trim_end_matches(|c: char| c.is_alphabetic() || c == '.' || c.is_whitespace());
    let seconds = match value {
        Value::Text(_) | Value::Number(_) => number.replace(',', ".").parse::<f64>().ok(),
        Value::Date(_) | Value::Bool(_) | Value::Error(_) => None,
    };
    let seconds = seconds.filter(|seconds| seconds.is_finite());
    let Some(seconds) = seconds else {
        let default_s = TIME_MS_DEFAULT / 1_000;
        notes.push(format!(
            "Its time limit “{}” is no number of seconds, so it has {default_s} s.",
            text::clip(written, 30)
        ));
        return TIME_MS_DEFAULT;
    };
    let bounded = (seconds * 1_000.0).clamp(f64::from(TIME_MS_MIN), f64::from(TIME_MS_MAX));
    // A whole number of milliseconds within the bounds prints as an integer.
    let time_ms = format!("{:.0}", bounded.round())
        .parse()
        .unwrap_or(TIME_MS_DEFAULT);
    if (seconds * 1_000.0 - bounded).abs() > 0.5 {
        notes.push(format!(
            "Its time limit of {} s is outside of {} to {} s, so it has {} s.",
            text::clip(number, 30),
            TIME_MS_MIN / 1_000,
            TIME_MS_MAX / 1_000,
            time_ms / 1_000
        ));
    }
    time_ms
}
