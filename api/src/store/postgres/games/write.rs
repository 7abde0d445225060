//! The rows of a result. Many rows travel as one array a column: one statement, however many there are.

use protocol::result::{AnswerResult, GameResult};
use sqlx::postgres::PgConnection;

use super::super::{database, int4, int8};
use crate::store::StoreError;
use crate::store::documents::to_json;

/// Answers of one insert: a hall of 500 over 20 questions, some 50 ms, far from the limit on one statement.
const ANSWERS_PER_INSERT: usize = 10_000;

/// The game itself; false when there is one with this id already.
pub(super) async fn game(db: &mut PgConnection, result: &GameResult) -> Result<bool, StoreError> {
    let answers = || result.players.iter().flat_map(|player| &player.answers);
    let right = answers().filter(|answer| answer.correct).count();
    let done = sqlx::query(
        "INSERT INTO games (id, teacher_id, quiz_id, code, settings, title, document, questions, players,
                            answers, right_answers, created_ms, ended_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
         ON CONFLICT (id) DO NOTHING",
    )
    .bind(result.game.0)
    .bind(result.teacher.0)
    .bind(result.quiz_id.0)
    .bind(result.code.as_str())
    .bind(to_json(&result.settings, "settings")?)
    // PostgreSQL's TEXT takes no NUL character. A quiz stored before they were refused may have one, and its result must not be
    // lost; the document, in JSON, keeps it.
    .bind(result.quiz.title.replace('\0', ""))
    .bind(to_json(&result.quiz, "document")?)
    .bind(int4(result.questions.len(), "questions")?)
    .bind(int4(result.players.len(), "players")?)
    .bind(int4(answers().count(), "answers")?)
    .bind(int4(right, "right_answers")?)
    .bind(int8(result.created_ms))
    .bind(int8(result.ended_ms))
    .execute(db)
    .await
    .map_err(database)?;
    Ok(done.rows_affected() == 1)
}

pub(super) async fn questions(db: &mut PgConnection, result: &GameResult) -> Result<(), StoreError> {
    let q: Vec<i32> = result.questions.iter().map(|row| i32::from(row.q)).collect();
    let skipped: Vec<bool> = result.questions.iter().map(|row| row.skipped).collect();
    sqlx::query(
        "INSERT INTO game_questions (game_id, q, skipped)
         SELECT $1, * FROM UNNEST($2::INTEGER[], $3::BOOLEAN[])",
    )
    .bind(result.game.0)
    .bind(q)
    .bind(skipped)
    .execute(db)
    .await
    .map_err(database)?;
    Ok(())
}

pub(super) async fn players(db: &mut PgConnection, result: &GameResult) -> Result<(), StoreError> {
    let (mut ids, mut positions, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let (mut ranks, mut totals) = (Vec::new(), Vec::new());
    for (position, player) in result.players.iter().enumerate() {
        ids.push(int4(player.id.0, "player_id")?);
        positions.push(int4(position, "position")?);
        names.push(player.name.as_str());
        ranks.push(int4(player.rank, "rank")?);
        totals.push(int4(player.total, "total")?);
    }
    sqlx::query(
        "INSERT INTO game_players (game_id, player_id, position, name, rank, total)
         SELECT $1, * FROM UNNEST($2::INTEGER[], $3::INTEGER[], $4::TEXT[], $5::INTEGER[], $6::INTEGER[])",
    )
    .bind(result.game.0)
    .bind(ids)
    .bind(positions)
    .bind(names)
    .bind(ranks)
    .bind(totals)
    .execute(db)
    .await
    .map_err(database)?;
    Ok(())
}

pub(super) async fn answers(db: &mut PgConnection, result: &GameResult) -> Result<(), StoreError> {
    let answers: Vec<(u32, &AnswerResult)> = result
        .players
        .iter()
        .flat_map(|player| player.answers.iter().map(|answer| (player.id.0, answer)))
        .collect();
    for rows in answers.chunks(ANSWERS_PER_INSERT) {
        let (mut players, mut q, mut elapsed_ms) = (Vec::new(), Vec::new(), Vec::new());
        let (mut points, mut correct, mut choices) = (Vec::new(), Vec::new(), Vec::new());
        for (player, answer) in rows {
            players.push(int4(*player, "player_id")?);
            q.push(i32::from(answer.q));
            elapsed_ms.push(int4(answer.elapsed_ms, "elapsed_ms")?);
            points.push(int4(answer.points, "points")?);
            correct.push(answer.correct);
            choices.push(answer.choices.as_slice());
        }
        sqlx::query(
            "INSERT INTO game_answers (game_id, player_id, q, elapsed_ms, points, correct, choices)
             SELECT $1, * FROM UNNEST($2::INTEGER[], $3::INTEGER[], $4::INTEGER[], $5::INTEGER[], $6::BOOLEAN[],
                                      $7::BYTEA[])",
        )
        .bind(result.game.0)
        .bind(players)
        .bind(q)
        .bind(elapsed_ms)
        .bind(points)
        .bind(correct)
        .bind(choices)
        .execute(&mut *db)
        .await
        .map_err(database)?;
    }
    Ok(())
}
