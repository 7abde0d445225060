//! Headers found by their texts, and what the cells below mean.

use protocol::quiz::{QuestionKind, TIME_MS_MAX, TIME_MS_MIN};
use protocol::rest::SkippedItem;

use super::header::Columns;
use super::*;
use crate::import::report::Account;
use crate::import::sheet::Value;

fn row(number: u32, texts: &[&str]) -> Row {
    let cells = (0..).zip(texts).filter(|(_, text)| !text.is_empty());
    Row {
        number,
        cells: cells
            .map(|(column, text)| (column, Value::Text((*text).to_owned())))
            .collect(),
    }
}

fn header() -> Columns {
    Columns::find(&row(
        1,
        &[
            "Question",
            "Answer 1",
            "Answer 2",
            "Answer 3",
            "Time limit (sec)",
            "Correct answer(s)",
        ],
    ))
    .unwrap()
}

/// Imports rows below the header.
fn account(rows: &[Row]) -> Account {
    let mut report = Report::default();
    for row in rows {
        super::row::import(&header(), row, &mut report);
    }
    report.finish()
}

fn reason(texts: &[&str]) -> String {
    let account = account(&[row(9, texts)]);
    assert!(account.questions.is_empty(), "{texts:?}");
    let [SkippedItem { place, reason, .. }] = &account.skipped[..] else {
        panic!("{texts:?}")
    };
    assert_eq!(place, "row 9");
    reason.clone()
}

#[test]
fn headers_in_the_templates_languages() {
    for texts in [
        [
            "Question - max 120 characters",
            "Answer 1 - max 75",
            "Answer 2",
            "Time limit (sec) – 5, 10",
            "Correct answer(s)",
        ],
        [
            "Frage – max. 120 Zeichen",
            "Antwort 1",
            "Antwort 2",
            "Zeitlimit (Sek.)",
            "Richtige Antwort(en)",
        ],
        [
            "Pregunta",
            "Respuesta 1",
            "Respuesta 2",
            "Límite de tiempo",
            "Respuesta(s) correcta(s)",
        ],
        [
            "Question",
            "Réponse 1",
            "Réponse 2",
            "Limite de temps",
            "Bonne(s) réponse(s)",
        ],
        [
            "Pergunta",
            "Resposta 1",
            "Resposta 2",
            "Limite de tempo",
            "Resposta(s) correta(s)",
        ],
    ] {
        let found = Columns::find(&row(8, &texts));
        let expected = Columns {
            question: 0,
            answers: vec![(1, 1), (2, 2)],
            time: Some(3),
            correct: 4,
        };
        assert_eq!(found, Some(expected), "{texts:?}");
    }
}

#[test]
fn rows_that_are_no_header() {
    assert_eq!(
        Columns::find(&row(1, &["Question", "Answer 1", "Correct answer"])),
        None
    );
    assert_eq!(
        Columns::find(&row(1, &["Question", "Answer 1", "Answer 2"])),
        None
    );
    assert_eq!(
        Columns::find(&row(
            1,
            &["Add questions, at least two answer alternatives, time limit"]
        )),
        None
    );
    assert_eq!(Columns::find(&row(1, &[])), None);
}

#[test]
fn correct_lists_of_all_kinds() {
    for (list, expected) in [
        ("1", [true, false, false]),
        ("2.0", [false, true, false]),
        ("1,3", [true, false, true]),
        ("1, 3", [true, false, true]),
        ("1;3", [true, false, true]),
        ("1.3", [true, false, true]),
        ("1 and 3", [false; 3]),
        ("1\u{FF0C}2\u{3001}3", [true, true, true]),
        ("3 2", [false, true, true]),
    ] {
        let account = account(&[row(9, &["Q", "a", "b", "c", "20", list])]);
        let correct: Vec<bool> = account
            .questions
            .iter()
            .flat_map(|q| q.choices.iter().map(|choice| choice.correct))
            .collect();
        if expected == [false; 3] {
            assert!(correct.is_empty(), "{list}");
        } else {
            assert_eq!(correct, expected, "{list}");
            assert_eq!(account.questions[0].kind, QuestionKind::Single);
        }
    }
}

#[test]
fn faulty_rows_are_left_out_with_the_reason() {
    assert_eq!(reason(&["", "a", "b", "", "20", "1"]), "It has no question text.");
    assert_eq!(
        reason(&["Q", "a", "", "", "20", "1"]),
        "It has 1 answer to choose from; 2 to 10 are allowed."
    );
    assert_eq!(
        reason(&["Q", "a", "b", "", "20", ""]),
        "It names no correct answer."
    );
    assert_eq!(
        reason(&["Q", "a", "b", "", "20", "3"]),
        "Its correct answer 3 has no text."
    );
    assert_eq!(
        reason(&["Q", "a", "b", "", "20", "0"]),
        "Its correct answer 0 has no text."
    );
    assert_eq!(
        reason(&["Q", "a", "b", "", "20", "first"]),
        "Its correct answer “first” is no list of answer numbers."
    );
    assert_eq!(
        reason(&["Q", "a", "b", "", "20", ", ,"]),
        "Its correct answer “, ,” is no list of answer numbers."
    );
}

#[test]
fn rows_without_content_are_no_items() {
    let account = account(&[row(9, &["", "", "", "", "20", ""]), row(10, &[])]);
    assert!(account.questions.is_empty() && account.skipped.is_empty());
}

#[test]
fn gaps_between_answers_keep_the_numbers() {
    let account = account(&[row(9, &["Q", "a", "", "c", "", "3"])]);
    let choices: Vec<(&str, bool)> = account.questions[0]
        .choices
        .iter()
        .map(|choice| (choice.text.as_str(), choice.correct))
        .collect();
    assert_eq!(choices, [("a", false), ("c", true)]);
}

#[test]
fn time_limits_are_brought_within_bounds_with_a_note() {
    for (limit, time_ms, noted) in [
        ("", 20_000, false),
        ("30", 30_000, false),
        ("30 sec.", 30_000, false),
        ("7.5", 7_500, false),
        ("7,5", 7_500, false),
        ("1", TIME_MS_MIN, true),
        ("9999", TIME_MS_MAX, true),
        ("-5", TIME_MS_MIN, true),
        ("1e99", TIME_MS_MAX, true),
        ("soon", 20_000, true),
        ("inf", 20_000, true),
    ] {
        let account = account(&[row(9, &["Q", "a", "b", "", limit, "1"])]);
        assert_eq!(account.questions[0].time_ms, time_ms, "{limit}");
        assert_eq!(account.notes.len(), usize::from(noted), "{limit}");
    }
}

#[test]
fn true_and_false_make_a_true_false_question() {
    for texts in [
        ["Q", "True", "False", "", "", "1"],
        ["Q", "FALSE", "true", "", "", "2"],
    ] {
        let account = account(&[row(9, &texts)]);
        let question = &account.questions[0];
        assert_eq!(question.kind, QuestionKind::TrueFalse);
        assert!(question.choices[0].text.eq_ignore_ascii_case("true") && question.choices[0].correct);
    }
    let both = account(&[row(9, &["Q", "True", "False", "", "", "1,2"])]);
    assert_eq!(both.questions[0].kind, QuestionKind::Single);
    let three = account(&[row(9, &["Q", "True", "False", "Maybe", "", "1"])]);
    assert_eq!(three.questions[0].kind, QuestionKind::Single);
}

#[test]
fn dates_are_noted_and_errors_refused() {
    let with = |value: Value| {
        let mut row = row(9, &["Q", "a", "", "", "", "1"]);
        row.cells.push((2, value));
        account(&[row])
    };
    let dated = with(Value::Date("2025-01-02".to_owned()));
    assert_eq!(dated.questions[0].choices[1].text, "2025-01-02");
    assert_eq!(
        dated.notes[0].reason,
        "Cell C9 holds a date, taken as 2025-01-02."
    );
    let failed = with(Value::Error("#N/A".to_owned()));
    assert_eq!(failed.skipped[0].reason, "Cell C9 shows an error (#N/A).");
}

#[test]
fn names_that_programs_give_are_no_titles() {
    assert!(!is_title("Sheet1") && !is_title("Tabelle 2") && !is_title("Kahoot") && !is_title(""));
    assert!(is_title("Photosynthesis 9b"));
}
