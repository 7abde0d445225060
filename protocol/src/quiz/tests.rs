//! The bounds of a quiz document, on both sides of each.

use super::*;

fn question(kind: QuestionKind, correct: &[bool]) -> Question {
    let choices = correct
        .iter()
        .map(|&correct| Choice {
            text: "choice".to_owned(),
            correct,
        })
        .collect();
    Question {
        kind,
        text: "stem".to_owned(),
        choices,
        time_ms: TIME_MS_DEFAULT,
    }
}

fn quiz(questions: Vec<Question>) -> QuizDocument {
    QuizDocument {
        title: "Title".to_owned(),
        questions,
    }
}

fn single() -> Question {
    question(QuestionKind::Single, &[true, false])
}

#[test]
fn bounds_hold_on_both_sides() {
    let with = |change: &dyn Fn(&mut Question)| {
        let mut changed = single();
        change(&mut changed);
        quiz(vec![single(), changed]).validate()
    };
    assert_eq!(quiz(Vec::new()).validate(), Ok(()));
    assert_eq!(quiz(vec![single(); QUESTIONS_MAX]).validate(), Ok(()));
    let count = QUESTIONS_MAX + 1;
    assert_eq!(
        quiz(vec![single(); count]).validate(),
        Err(QuizError::Questions { count })
    );

    // Characters are counted, not bytes.
    assert_eq!(with(&|q| q.text = "ä".repeat(TEXT_CHARS_MAX)), Ok(()));
    let chars = TEXT_CHARS_MAX + 1;
    assert_eq!(
        with(&|q| q.text = "a".repeat(chars)),
        Err(QuizError::Text { question: 2, chars })
    );
    assert!(matches!(
        with(&|q| q.text = " ".to_owned()),
        Err(QuizError::Text { question: 2, .. })
    ));

    let chars = CHOICE_CHARS_MAX + 1;
    assert_eq!(
        with(&|q| q.choices[1].text = "a".repeat(chars)),
        Err(QuizError::ChoiceText {
            question: 2,
            choice: 2,
            chars
        })
    );
    assert_eq!(
        with(&|q| q.choices.truncate(1)),
        Err(QuizError::Choices {
            question: 2,
            count: 1
        })
    );
    assert_eq!(
        with(&|q| q.choices.resize(CHOICES_MAX, q.choices[1].clone())),
        Ok(())
    );
    let count = CHOICES_MAX + 1;
    assert_eq!(
        with(&|q| q.choices.resize(count, q.choices[1].clone())),
        Err(QuizError::Choices { question: 2, count })
    );

    for time_ms in [TIME_MS_MIN, TIME_MS_MAX] {
        assert_eq!(with(&|q| q.time_ms = time_ms), Ok(()));
    }
    for time_ms in [0, TIME_MS_MIN - 1, TIME_MS_MAX + 1] {
        assert_eq!(
            with(&|q| q.time_ms = time_ms),
            Err(QuizError::Time { question: 2, time_ms })
        );
    }
}

#[test]
fn titles_are_measured_and_must_say_something() {
    let titled = |title: String| {
        QuizDocument {
            title,
            questions: Vec::new(),
        }
        .validate()
    };
    assert_eq!(titled("ü".repeat(TITLE_CHARS_MAX)), Ok(()));
    assert!(matches!(
        titled("u".repeat(TITLE_CHARS_MAX + 1)),
        Err(QuizError::Title { .. })
    ));
    assert_eq!(titled("  ".to_owned()), Err(QuizError::Title { chars: 0 }));
}

#[test]
fn a_nul_character_is_refused_wherever_it_stands() {
    let said = |change: &dyn Fn(&mut QuizDocument)| {
        let mut changed = quiz(vec![single(), single()]);
        change(&mut changed);
        changed.validate().unwrap_err().to_string()
    };
    assert!(said(&|quiz| quiz.title = "a\0b".to_owned()).starts_with("the title has a NUL"));
    assert!(said(&|quiz| quiz.questions[1].text = "\0a".to_owned()).starts_with("question 2 has a NUL"));
    assert!(said(&|quiz| quiz.questions[0].choices[1].text.push('\0')).starts_with("question 1 has a NUL"));
    // Other control characters are ugly, and stay.
    let mut ugly = quiz(vec![single()]);
    ugly.title = "a\u{1}\tb".to_owned();
    assert_eq!(ugly.validate(), Ok(()));
}

#[test]
fn solutions_fit_their_kind() {
    use QuestionKind::{Multiple, Single, TrueFalse};
    for kind in [Single, Multiple] {
        assert_eq!(question(kind, &[true, true, false]).validate(1), Ok(()));
        assert_eq!(
            question(kind, &[false, false]).validate(1),
            Err(QuizError::NoCorrect { question: 1 })
        );
    }
    assert_eq!(question(TrueFalse, &[false, true]).validate(1), Ok(()));
    for bad in [&[true, true][..], &[true, false, false]] {
        assert_eq!(
            question(TrueFalse, bad).validate(1),
            Err(QuizError::TrueFalse { question: 1 })
        );
    }
}

#[test]
fn a_question_without_a_time_gets_the_default() {
    let json = r#"{"kind":"single","text":"?","choices":[{"text":"a","correct":true},{"text":"b","correct":false}]}"#;
    assert_eq!(
        serde_json::from_str::<Question>(json).unwrap().time_ms,
        TIME_MS_DEFAULT
    );
}
