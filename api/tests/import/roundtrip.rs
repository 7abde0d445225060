//! Quizzes written as files by the tests themselves and read back: what was typed must come back.

use std::fmt::Write;

use api::import::import;
use proptest::prelude::*;
use protocol::quiz::{Choice, Question, QuestionKind, TIME_MS_DEFAULT};

use crate::xlsx::{Book, Cell};

/// Text as teachers type it: no white space at its ends, none doubled at a line's end.
fn text() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[!-~äßÅ漢ع👩]([ -~äßÅ漢ع👩\u{A0}]{0,40}[!-~äßÅ漢ع👩])?").unwrap()
}

fn question() -> impl Strategy<Value = Question> {
    let choices = proptest::collection::vec((text(), any::<bool>()), 2..=6);
    let kinds = prop_oneof![
        Just(QuestionKind::Single),
        Just(QuestionKind::Multiple),
        Just(QuestionKind::TrueFalse)
    ];
    (text(), choices, kinds).prop_map(|(text, choices, kind)| {
        let mut choices: Vec<Choice> = choices
            .into_iter()
            .map(|(text, correct)| Choice { text, correct })
            .collect();
        if kind == QuestionKind::TrueFalse {
            choices.truncate(2);
            choices[0].text = "True".to_owned();
            choices[1].text = "False".to_owned();
            choices[1].correct = !choices[0].correct;
        }
        choices[0].correct |= choices.iter().all(|choice| !choice.correct);
        // A multiple choice with one correct answer is written like a single one.
        let correct = choices.iter().filter(|choice| choice.correct).count();
        let kind = if kind == QuestionKind::Multiple && correct == 1 {
            QuestionKind::Single
        } else {
            kind
        };
        Question {
            kind,
            text,
            choices,
            time_ms: TIME_MS_DEFAULT,
        }
    })
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "~=#{}:\\".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn as_gift(questions: &[Question]) -> String {
    let mut out = String::new();
    for question in questions {
        write!(out, "[plain]{} {{", escaped(&question.text)).unwrap();
        let correct = question.choices.iter().filter(|choice| choice.correct).count();
        match question.kind {
            QuestionKind::TrueFalse => out += if question.choices[0].correct { "T" } else { "F" },
            QuestionKind::Single | QuestionKind::Multiple => {
                for choice in &question.choices {
                    let weight = match (question.kind, choice.correct) {
                        (QuestionKind::Multiple, true) => {
                            format!("~%{:.5}%", 100.0 / f64::from(u8::try_from(correct).unwrap()))
                        }
                        (_, true) => "=%100%".to_owned(),
                        (_, false) => "~%0%".to_owned(),
                    };
                    write!(out, "\n  {weight}[plain]{}", escaped(&choice.text)).unwrap();
                }
            }
        }
        out += "}\n\n";
    }
    out
}

/// The template's cells; texts alternate between the shared table and the cell itself.
fn as_rows<'a>(questions: &'a [Question], lists: &'a [String]) -> Vec<[Cell<'a>; 7]> {
    let rows = questions.iter().zip(lists).enumerate();
    rows.map(|(index, (question, list))| {
        let store = |text| {
            if index % 2 == 0 {
                Cell::Shared(text)
            } else {
                Cell::Inline(text)
            }
        };
        let mut row = [Cell::Empty; 7];
        row[0] = store(&question.text);
        for (cell, choice) in row[1..].iter_mut().zip(&question.choices) {
            *cell = store(&choice.text);
        }
        row[5] = Cell::Number("20");
        row[6] = store(list);
        row
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn gift_comes_back(mut questions in proptest::collection::vec(question(), 1..5)) {
        for question in &mut questions {
            // Full answers alone would be a short-answer question.
            if question.kind == QuestionKind::Single && question.choices.iter().all(|choice| choice.correct) {
                question.choices[1].correct = false;
            }
        }
        let file = as_gift(&questions);
        let imported = import("x", file.as_bytes()).unwrap();
        prop_assert_eq!(&imported.quiz.questions, &questions, "{}", file);
        prop_assert_eq!(imported.skipped_count, 0);
    }

    #[test]
    fn a_spreadsheet_comes_back(mut questions in proptest::collection::vec(question(), 1..5)) {
        for question in &mut questions {
            question.choices.truncate(4);
            question.choices[0].correct |= question.choices.iter().all(|choice| !choice.correct);
            if question.kind == QuestionKind::Multiple {
                question.kind = QuestionKind::Single;
            }
        }
        let lists: Vec<String> = questions.iter().map(|question| {
            let correct = (1..).zip(&question.choices).filter(|(_, choice)| choice.correct);
            correct.map(|(number, _)| number.to_string()).collect::<Vec<_>>().join(", ")
        }).collect();
        let rows = as_rows(&questions, &lists);
        let imported = import("x", &Book::template(&rows).zip()).unwrap();
        prop_assert_eq!(&imported.quiz.questions, &questions);
        prop_assert_eq!(imported.skipped_count, 0);
    }
}
