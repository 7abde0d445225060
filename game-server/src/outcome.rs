//! The result of a game, made from the game and its facts.

use game_core::{Game, Player};
use protocol::result::{AnswerResult, GameResult, PlayerResult, QuestionResult};

use crate::convert;
use crate::facts::Facts;

/// Everything a report needs, at the podium.
pub(crate) fn game_result(game: &Game, facts: &Facts, ended_ms: u64) -> GameResult {
    let players = game
        .standings()
        .into_iter()
        .filter_map(|standing| {
            let player = game.player(standing.player)?;
            Some(PlayerResult {
                id: convert::player_to_wire(player.id),
                name: standing.name.as_str().to_owned(),
                rank: standing.rank,
                total: standing.total,
                answers: answers(player),
            })
        })
        .collect();
    GameResult {
        game: facts.game,
        code: facts.code,
        teacher: facts.teacher,
        quiz_id: facts.quiz_id,
        settings: facts.settings,
        quiz: facts.quiz.as_ref().clone(),
        created_ms: facts.created_ms,
        ended_ms,
        questions: game
            .question_results()
            .iter()
            .map(|closed| QuestionResult {
                q: convert::question_to_wire(closed.question),
                skipped: closed.skipped,
            })
            .collect(),
        players,
    }
}

fn answers(player: &Player) -> Vec<AnswerResult> {
    player
        .answers
        .iter()
        .map(|answer| AnswerResult {
            q: convert::question_to_wire(answer.question),
            choices: convert::choices_to_wire(answer.choices),
            elapsed_ms: answer.elapsed_ms,
            correct: answer.correct,
            points: answer.points,
        })
        .collect()
}
