//! Bounds of a quiz and the arithmetic of choices.

use super::{Choice, ChoiceSet, Question, QuestionIndex, QuestionKind, Quiz, QuizError};
use crate::limits::{CHOICE_CHARS_MAX, CHOICES_MAX, QUESTIONS_MAX, TEXT_CHARS_MAX, TIME_MS_MAX, TIME_MS_MIN};

fn question(kind: QuestionKind, flags: &[bool]) -> Question {
    let choices = flags
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
        time_ms: 20_000,
    }
}

fn single() -> Question {
    question(QuestionKind::Single, &[true, false, false])
}

fn set(choices: &[u8]) -> ChoiceSet {
    ChoiceSet::from_indices(choices.iter().copied()).expect("below 16")
}

/// The error of a quiz whose second question is changed.
fn error(change: impl FnOnce(&mut Question)) -> QuizError {
    let mut second = single();
    change(&mut second);
    Quiz::new(vec![single(), second]).expect_err("a broken bound")
}

#[test]
fn one_to_two_hundred_questions() {
    assert_eq!(Quiz::new(Vec::new()), Err(QuizError::Questions { count: 0 }));
    assert_eq!(Quiz::new(vec![single()]).expect("one").len(), 1);
    assert_eq!(
        Quiz::new(vec![single(); QUESTIONS_MAX]).expect("the most").len(),
        QUESTIONS_MAX
    );
    let count = QUESTIONS_MAX + 1;
    assert_eq!(
        Quiz::new(vec![single(); count]),
        Err(QuizError::Questions { count })
    );
}

#[test]
fn questions_are_found_by_their_place() {
    let mut second = single();
    second.text = "second".to_owned();
    let quiz = Quiz::new(vec![single(), second]).expect("valid");
    assert_eq!(quiz.get(QuestionIndex(1)).expect("there").text, "second");
    assert_eq!(quiz.get(QuestionIndex(2)), None);
    assert_eq!(quiz.questions().len(), 2);
    assert!(!quiz.is_empty());
}

#[test]
fn stems_have_one_to_a_thousand_characters() {
    assert_eq!(
        error(|q| q.text = String::new()),
        QuizError::Text {
            question: 2,
            chars: 0
        }
    );
    assert_eq!(
        error(|q| q.text = " \u{3000}".to_owned()),
        QuizError::Text {
            question: 2,
            chars: 2
        }
    );
    let chars = TEXT_CHARS_MAX + 1;
    assert_eq!(
        error(|q| q.text = "ä".repeat(chars)),
        QuizError::Text { question: 2, chars }
    );
    let mut longest = single();
    longest.text = "ä".repeat(TEXT_CHARS_MAX);
    assert!(Quiz::new(vec![longest]).is_ok(), "characters count, not bytes");
}

#[test]
fn two_to_ten_choices_of_one_to_250_characters() {
    let of = |count: usize| {
        move |q: &mut Question| {
            q.choices = vec![
                Choice {
                    text: "c".to_owned(),
                    correct: true
                };
                count
            ]
        }
    };
    assert_eq!(
        error(of(0)),
        QuizError::Choices {
            question: 2,
            count: 0
        }
    );
    assert_eq!(
        error(of(1)),
        QuizError::Choices {
            question: 2,
            count: 1
        }
    );
    assert_eq!(
        error(of(CHOICES_MAX + 1)),
        QuizError::Choices {
            question: 2,
            count: CHOICES_MAX + 1
        }
    );
    assert!(Quiz::new(vec![question(QuestionKind::Multiple, &[true; CHOICES_MAX])]).is_ok());
    let blank = error(|q| q.choices[2].text = "\t".to_owned());
    assert_eq!(
        blank,
        QuizError::ChoiceText {
            question: 2,
            choice: 3,
            chars: 1
        }
    );
    let chars = CHOICE_CHARS_MAX + 1;
    let long = error(|q| q.choices[0].text = "ä".repeat(chars));
    assert_eq!(
        long,
        QuizError::ChoiceText {
            question: 2,
            choice: 1,
            chars
        }
    );
    let mut longest = single();
    longest.choices[0].text = "ä".repeat(CHOICE_CHARS_MAX);
    assert!(Quiz::new(vec![longest]).is_ok());
}

#[test]
fn something_is_correct() {
    assert_eq!(
        error(|q| q.choices[0].correct = false),
        QuizError::NoCorrect { question: 2 }
    );
}

#[test]
fn true_or_false_is_two_choices_with_one_correct() {
    let of = |flags: &[bool]| Quiz::new(vec![question(QuestionKind::TrueFalse, flags)]);
    assert!(of(&[true, false]).is_ok());
    assert!(of(&[false, true]).is_ok());
    assert_eq!(of(&[true, true]), Err(QuizError::TrueFalse { question: 1 }));
    assert_eq!(
        of(&[true, false, false]),
        Err(QuizError::TrueFalse { question: 1 })
    );
    assert_eq!(of(&[false, false]), Err(QuizError::NoCorrect { question: 1 }));
}

#[test]
fn five_seconds_to_ten_minutes() {
    for time_ms in [0, TIME_MS_MIN - 1, TIME_MS_MAX + 1, u32::MAX] {
        assert_eq!(
            error(|q| q.time_ms = time_ms),
            QuizError::Time { question: 2, time_ms }
        );
    }
    for time_ms in [TIME_MS_MIN, TIME_MS_MAX] {
        assert!(Quiz::new(vec![Question { time_ms, ..single() }]).is_ok());
    }
}

#[test]
fn errors_count_as_people_do() {
    let sentence = error(|q| q.choices[2].text = String::new()).to_string();
    assert_eq!(
        sentence,
        "choice 3 of question 2 has 0 characters; it needs 1 to 250"
    );
}

#[test]
fn a_choice_set_holds_what_it_was_made_of() {
    let made = set(&[15, 3, 0, 3]);
    assert_eq!(made.iter().collect::<Vec<_>>(), [0, 3, 15]);
    assert_eq!(made.len(), 3);
    assert!(made.contains(15) && !made.contains(1));
    assert!(
        !made.contains(16) && !made.contains(u8::MAX),
        "no bit is past the sixteenth"
    );
    assert!(set(&[]).is_empty() && !made.is_empty());
    for index in [16, 32, 64, u8::MAX] {
        assert_eq!(ChoiceSet::from_indices([0, index]), None, "{index}");
    }
}

#[test]
fn single_takes_one_choice_and_any_correct_one_counts() {
    for kind in [QuestionKind::Single, QuestionKind::TrueFalse] {
        let asked = question(kind, &[true, false]);
        assert!(asked.admits(set(&[0])) && asked.admits(set(&[1])));
        for refused in [
            set(&[]),
            set(&[0, 1]),
            set(&[2]),
            set(&[0, 2]),
            ChoiceSet(u16::MAX),
        ] {
            assert!(!asked.admits(refused), "{refused:?}");
        }
        assert!(asked.is_correct(set(&[0])) && !asked.is_correct(set(&[1])));
    }
    let two = question(QuestionKind::Single, &[true, false, true]);
    assert_eq!(two.correct(), set(&[0, 2]));
    assert!(two.is_correct(set(&[0])) && two.is_correct(set(&[2])) && !two.is_correct(set(&[1])));
}

#[test]
fn multiple_takes_some_choices_and_the_exact_set_counts() {
    let asked = question(QuestionKind::Multiple, &[true, false, true, false]);
    for admitted in [set(&[0]), set(&[1, 3]), set(&[0, 1, 2, 3])] {
        assert!(asked.admits(admitted), "{admitted:?}");
    }
    for refused in [set(&[]), set(&[4]), set(&[0, 2, 15]), ChoiceSet(u16::MAX)] {
        assert!(!asked.admits(refused), "{refused:?}");
    }
    assert!(asked.is_correct(set(&[0, 2])));
    for wrong in [set(&[0]), set(&[0, 1, 2]), set(&[1, 3])] {
        assert!(!asked.is_correct(wrong), "{wrong:?}");
    }
}
