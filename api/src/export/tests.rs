//! What is exported is what was there, as the importer reads it.

use proptest::prelude::*;
use protocol::quiz::{Choice, Question, QuestionKind, QuizDocument, TIME_MS_DEFAULT};

use super::*;
use crate::import::import;

/// Text as it is kept: the importer tidies white space at the ends of lines.
fn text() -> impl Strategy<Value = String> {
    let line = "[!-~äßÅ漢ع👩]([ -~äßÅ漢ع👩]{0,30}[!-~äßÅ漢ع👩])?";
    proptest::string::string_regex(&format!("{line}(\n{{1,2}}{line})?")).unwrap()
}

fn question() -> impl Strategy<Value = Question> {
    let kinds = prop_oneof![
        Just(QuestionKind::Single),
        Just(QuestionKind::Multiple),
        Just(QuestionKind::TrueFalse)
    ];
    let choices = prop::collection::vec((text(), any::<bool>()), 2..=10);
    (kinds, text(), choices, 5_000_u32..600_000).prop_map(|(kind, text, choices, time_ms)| {
        let mut choices: Vec<Choice> = choices
            .into_iter()
            .map(|(text, correct)| Choice { text, correct })
            .collect();
        if kind == QuestionKind::TrueFalse {
            choices.truncate(2);
            choices[1].correct = !choices[0].correct;
        }
        choices[0].correct |= choices.iter().all(|choice| !choice.correct);
        Question {
            kind,
            text,
            choices,
            time_ms,
        }
    })
}

fn title() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[!-#%-~äßÅ漢]([ -~äßÅ漢]{0,30}[!-#%-~äßÅ漢])?").unwrap()
}

fn quiz() -> impl Strategy<Value = QuizDocument> {
    let questions = prop::collection::vec(question(), 1..6);
    (title(), questions).prop_map(|(title, questions)| QuizDocument { title, questions })
}

/// What GIFT can say of a question.
fn as_gift_tells(question: &Question) -> Question {
    let right = question.choices.iter().filter(|choice| choice.correct).count();
    let usual = question
        .choices
        .iter()
        .map(|choice| choice.text.as_str())
        .eq(["True", "False"]);
    Question {
        kind: match question.kind {
            QuestionKind::Multiple if right == 1 => QuestionKind::Single,
            QuestionKind::TrueFalse if !usual => QuestionKind::Single,
            kind @ (QuestionKind::Single | QuestionKind::Multiple | QuestionKind::TrueFalse) => kind,
        },
        time_ms: TIME_MS_DEFAULT,
        ..question.clone()
    }
}

proptest! {
    #[test]
    fn json_comes_back_whole(quiz in quiz()) {
        let file = quiz_as_json(&quiz).unwrap();
        let imported = import("other.json", &file).unwrap();
        let title = quiz.title.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert_eq!(&imported.quiz.questions, &quiz.questions);
        prop_assert_eq!(&imported.quiz.title, &title);
        prop_assert_eq!((imported.skipped_count, imported.notes.len()), (0, 0));
    }

    #[test]
    fn gift_comes_back_but_for_what_it_cannot_say(quiz in quiz()) {
        let all_right = quiz.questions.iter().position(|question| {
            question.kind == QuestionKind::Single && question.choices.iter().all(|choice| choice.correct)
        });
        match (quiz_as_gift(&quiz), all_right) {
            (Err(error), Some(index)) => prop_assert_eq!(error, ExportError::AllRight { question: index + 1 }),
            (Ok(file), None) => {
                let imported = import("other.gift", file.as_bytes()).unwrap();
                let told: Vec<Question> = quiz.questions.iter().map(as_gift_tells).collect();
                let title = quiz.title.split_whitespace().collect::<Vec<_>>().join(" ");
                prop_assert_eq!(&imported.quiz.questions, &told, "{}", file);
                prop_assert_eq!(&imported.quiz.title, &title, "{}", file);
                prop_assert_eq!((imported.skipped_count, imported.notes.len()), (0, 0), "{}", file);
            }
            (got, _) => panic!("{got:?} of {quiz:?}"),
        }
    }
}

#[test]
fn a_statement_is_one_in_gift_too() {
    let choice = |text: &str, correct| Choice {
        text: text.to_owned(),
        correct,
    };
    let quiz = QuizDocument {
        title: "Sky/day {1}".to_owned(),
        questions: vec![Question {
            kind: QuestionKind::TrueFalse,
            text: "It is blue.\n\nAlways.".to_owned(),
            choices: vec![choice("True", false), choice("False", true)],
            time_ms: TIME_MS_DEFAULT,
        }],
    };
    let file = quiz_as_gift(&quiz).unwrap();
    assert_eq!(
        file,
        "$CATEGORY: Sky//day \\{1\\}\n\n[plain]It is blue.\\n\\nAlways. {FALSE}\n\n"
    );
    assert_eq!(import("x.gift", file.as_bytes()).unwrap().quiz, quiz);
}
