//! A game's report, computed from its stored answers.

use protocol::quiz::QuizDocument;
use protocol::rest::{QuestionReport, ReportResponse};
use protocol::result::{AnswerResult, GameResult, QuestionResult};

/// The report of a saved game: one entry for each question that was played.
#[must_use]
pub(crate) fn report(result: GameResult) -> ReportResponse {
    let questions = result
        .questions
        .iter()
        .map(|question| question_report(&result, question))
        .collect();
    ReportResponse { questions, result }
}

fn question_report(result: &GameResult, question: &QuestionResult) -> QuestionReport {
    let answers: Vec<&AnswerResult> = result
        .players
        .iter()
        .flat_map(|p| &p.answers)
        .filter(|a| a.q == question.q)
        .collect();
    QuestionReport {
        q: question.q,
        histogram: histogram(choices(&result.quiz, question.q), &answers),
        answered: count(answers.len()),
        right: count(answers.iter().filter(|a| a.correct).count()),
        median_ms: median(answers.iter().map(|a| a.elapsed_ms).collect()),
    }
}

/// Choices of question `q`; none when the document has no such question.
fn choices(quiz: &QuizDocument, q: u16) -> usize {
    usize::from(q)
        .checked_sub(1)
        .and_then(|i| quiz.questions.get(i))
        .map_or(0, |question| question.choices.len())
}

fn histogram(choices: usize, answers: &[&AnswerResult]) -> Vec<u32> {
    let mut bars = vec![0_u32; choices];
    for choice in answers.iter().flat_map(|a| &a.choices) {
        if let Some(bar) = bars.get_mut(usize::from(*choice)) {
            *bar = bar.saturating_add(1);
        }
    }
    bars
}

/// The middle value; of an even number the mean of the two in the middle, rounded down.
fn median(mut values: Vec<u32>) -> Option<u32> {
    values.sort_unstable();
    let upper = values.len() / 2;
    let high = *values.get(upper)?;
    if values.len() % 2 == 1 {
        return Some(high);
    }
    let low = *values.get(upper.checked_sub(1)?)?;
    Some(low.midpoint(high))
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        for (values, middle) in [
            (vec![], None),
            (vec![7], Some(7)),
            (vec![9, 4], Some(6)),
            (vec![3, 1, 2], Some(2)),
            (vec![u32::MAX, u32::MAX], Some(u32::MAX)),
            (vec![8, 1, 4, 2], Some(3)),
        ] {
            assert_eq!(median(values.clone()), middle, "{values:?}");
        }
    }

    #[test]
    fn a_choice_that_does_not_exist_is_not_counted() {
        let answer = |choices: Vec<u8>| AnswerResult {
            q: 1,
            choices,
            elapsed_ms: 1,
            correct: false,
            points: 0,
        };
        let (both, strange) = (answer(vec![0, 2]), answer(vec![2, 9]));
        assert_eq!(histogram(3, &[&both, &strange]), [1, 0, 2]);
    }
}
