//! The sample quiz of the demo: every kind of question once, for any age.

use protocol::quiz::{Choice, Question, QuestionKind, QuizDocument};

/// Time to answer each question, in milliseconds: short, since a visitor plays alone with bots.
const TIME_MS: u32 = 15_000;

/// The sample quiz.
pub(super) fn sample() -> QuizDocument {
    use QuestionKind::{Multiple, Single, TrueFalse};
    QuizDocument {
        title: "A tour in six questions".to_owned(),
        questions: vec![
            question(
                Single,
                "Which planet is closest to the Sun?",
                &["+Mercury", "Venus", "Earth", "Mars"],
            ),
            question(TrueFalse, "A square is a rectangle.", &["+True", "False"]),
            question(
                Multiple,
                "Which of these numbers are prime?",
                &["+2", "9", "+11", "21", "+23"],
            ),
            question(
                Single,
                "Which ocean is the largest?",
                &["Atlantic", "Indian", "Arctic", "+Pacific"],
            ),
            question(TrueFalse, "Sound travels faster than light.", &["True", "+False"]),
            question(
                Single,
                "What do bees collect from flowers?",
                &["Wood", "+Nectar", "Sand", "Rain"],
            ),
        ],
    }
}

/// A `+` marks a correct choice.
fn question(kind: QuestionKind, text: &str, choices: &[&str]) -> Question {
    let choices = choices
        .iter()
        .map(|choice| Choice {
            text: choice.trim_start_matches('+').to_owned(),
            correct: choice.starts_with('+'),
        })
        .collect();
    Question {
        kind,
        text: text.to_owned(),
        choices,
        time_ms: TIME_MS,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_sample_is_a_valid_quiz() {
        assert_eq!(super::sample().validate(), Ok(()));
    }
}
