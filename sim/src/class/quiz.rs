//! The quiz of a run.

use protocol::quiz::{Choice, Question, QuestionKind, QuizDocument};

use crate::dice::Dice;

/// Short questions, so that a class takes about a minute: the shortest time that the rules allow, to twice that.
const TIME_MS: (u64, u64) = (5_000, 10_000);

/// Three to five questions of all kinds.
pub(crate) fn draw(dice: &mut Dice) -> QuizDocument {
    let count = dice.between(3, 5);
    QuizDocument {
        title: "Simulated".to_owned(),
        questions: (1..=count).map(|n| question(n, dice)).collect(),
    }
}

fn question(n: u64, dice: &mut Dice) -> Question {
    let kinds = [
        QuestionKind::Single,
        QuestionKind::Multiple,
        QuestionKind::TrueFalse,
    ];
    let kind = kinds.get(dice.below(kinds.len())).copied().unwrap_or_default();
    let count = if kind == QuestionKind::TrueFalse { 2 } else { 3 };
    let right = dice.below(count);
    let choices = (0..count).map(|choice| Choice {
        text: format!("Choice {choice}"),
        correct: choice == right || (kind == QuestionKind::Multiple && dice.chance(40)),
    });
    Question {
        kind,
        text: format!("Question {n}?"),
        choices: choices.collect(),
        time_ms: u32::try_from(dice.between(TIME_MS.0, TIME_MS.1)).unwrap_or(5_000),
    }
}
