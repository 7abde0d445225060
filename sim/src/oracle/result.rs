//! The result, reckoned by hand.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use protocol::quiz::{QuestionKind, QuizDocument};
use protocol::result::{AnswerResult, GameResult};

use super::books::Books;
use super::invariant::Invariant;

type Broken = (Invariant, String);

/// Compares a result with the books.
pub(super) fn judge(result: &GameResult, quiz: &QuizDocument, books: &Books) -> Result<(), Broken> {
    let mut seen: BTreeMap<(u32, u16), &AnswerResult> = BTreeMap::new();
    for player in &result.players {
        let mut total = 0;
        for answer in &player.answers {
            let (id, q) = (player.id.0, answer.q);
            if seen.insert((id, q), answer).is_some() {
                return Err((Invariant::NothingDoubled, format!("player {id} question {q}")));
            }
            given(id, answer, books)?;
            let skipped = result
                .questions
                .iter()
                .any(|question| question.q == q && question.skipped);
            right(id, answer, quiz, skipped)?;
            total += answer.points;
        }
        if total != player.total {
            return Err((
                Invariant::PointsRight,
                format!("player {}: {} instead of {total}", player.id.0, player.total),
            ));
        }
    }
    places(result)?;
    for (player, q, entry) in books.entries() {
        if entry.is_saved && !seen.contains_key(&(player, q)) {
            return Err((
                Invariant::AckedAnswersKept,
                format!("player {player} question {q} is not in the result"),
            ));
        }
    }
    Ok(())
}

/// The student gave this answer, and was not told that it does not count.
fn given(player: u32, answer: &AnswerResult, books: &Books) -> Result<(), Broken> {
    let about = format!("player {player} question {}", answer.q);
    let mut given = books.given(player, answer.q);
    let Some(entry) = given.find(|entry| entry.choices == answer.choices) else {
        let given: Vec<_> = books
            .given(player, answer.q)
            .map(|entry| &entry.choices)
            .collect();
        let detail = format!("{about}: {:?} instead of {given:?}", answer.choices);
        return Err((Invariant::NothingInvented, detail));
    };
    // Of several copies the first can be saved, its ack lost, and the last come too late: nobody was promised anything.
    match &entry.refused {
        Some(code) if entry.copies == 1 => Err((
            Invariant::NothingInvented,
            format!("{about} was refused ({code})"),
        )),
        Some(_) | None => Ok(()),
    }
}

/// Whether it is correct, and 1000 points at once, 500 at the deadline, what speed costs rounded down.
fn right(player: u32, answer: &AnswerResult, quiz: &QuizDocument, skipped: bool) -> Result<(), Broken> {
    let about = format!("player {player} question {}", answer.q);
    let Some(question) = quiz.questions.get(usize::from(answer.q) - 1) else {
        return Err((Invariant::NothingInvented, about));
    };
    let right: Vec<u8> = (0..)
        .zip(&question.choices)
        .filter(|(_, choice)| choice.correct)
        .map(|(index, _)| index)
        .collect();
    let correct = match question.kind {
        QuestionKind::Multiple => answer.choices == right,
        QuestionKind::Single | QuestionKind::TrueFalse => {
            answer.choices.len() == 1 && answer.choices.iter().all(|choice| right.contains(choice))
        }
    };
    let points = if correct && !skipped {
        1_000 - 500 * answer.elapsed_ms / question.time_ms
    } else {
        0
    };
    if answer.elapsed_ms > question.time_ms || answer.correct != correct || answer.points != points {
        let detail = format!("{about}: {answer:?}, expected {correct} and {points} points");
        return Err((Invariant::PointsRight, detail));
    }
    Ok(())
}

/// Best first; equal points share a place, and the next place is skipped.
fn places(result: &GameResult) -> Result<(), Broken> {
    let mut totals: Vec<u32> = result.players.iter().map(|player| player.total).collect();
    totals.sort_unstable_by_key(|total| Reverse(*total));
    for (player, total) in result.players.iter().zip(&totals) {
        let better = totals.iter().filter(|other| *other > total).count();
        let is_right = player.total == *total && usize::try_from(player.rank) == Ok(better + 1);
        if !is_right {
            return Err((Invariant::PointsRight, format!("the place of {player:?}")));
        }
    }
    Ok(())
}
