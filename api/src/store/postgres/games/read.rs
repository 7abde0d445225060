//! A result as it was saved, from its rows.

use protocol::ids::{GameCode, GameId, PlayerId, QuizId, TeacherId};
use protocol::result::{AnswerResult, GameResult, PlayerResult, QuestionResult};
use sqlx::postgres::{PgConnection, PgRow};

use super::super::{database, get, uint4, uint8};
use crate::store::StoreError;
use crate::store::documents::from_json;

pub(super) async fn game(db: &mut PgConnection, id: GameId) -> Result<Option<GameResult>, StoreError> {
    let row = sqlx::query(
        "SELECT teacher_id, quiz_id, code, settings, document, created_ms, ended_ms FROM games WHERE id = $1",
    )
    .bind(id.0)
    .fetch_optional(&mut *db)
    .await
    .map_err(database)?;
    let Some(row) = row else { return Ok(None) };
    let code: &str = get(&row, "code")?;
    Ok(Some(GameResult {
        game: id,
        code: code
            .parse::<GameCode>()
            .map_err(|_| StoreError::Corrupt { column: "code" })?,
        teacher: TeacherId(get(&row, "teacher_id")?),
        quiz_id: QuizId(get(&row, "quiz_id")?),
        settings: from_json(get(&row, "settings")?, "settings")?,
        quiz: from_json(get(&row, "document")?, "document")?,
        created_ms: uint8(&row, "created_ms")?,
        ended_ms: uint8(&row, "ended_ms")?,
        questions: questions(db, id).await?,
        players: players(db, id).await?,
    }))
}

async fn questions(db: &mut PgConnection, id: GameId) -> Result<Vec<QuestionResult>, StoreError> {
    let rows = sqlx::query("SELECT q, skipped FROM game_questions WHERE game_id = $1 ORDER BY q")
        .bind(id.0)
        .fetch_all(db)
        .await
        .map_err(database)?;
    rows.iter()
        .map(|row| {
            Ok(QuestionResult {
                q: uint4(row, "q")?,
                skipped: get(row, "skipped")?,
            })
        })
        .collect()
}

async fn players(db: &mut PgConnection, id: GameId) -> Result<Vec<PlayerResult>, StoreError> {
    let rows = sqlx::query(
        "SELECT player_id, name, rank, total FROM game_players WHERE game_id = $1 ORDER BY position",
    )
    .bind(id.0)
    .fetch_all(&mut *db)
    .await
    .map_err(database)?;
    let answers = sqlx::query(
        "SELECT a.q, a.choices, a.elapsed_ms, a.correct, a.points, p.position
         FROM game_answers a JOIN game_players p USING (game_id, player_id)
         WHERE a.game_id = $1 ORDER BY p.position, a.q",
    )
    .bind(id.0)
    .fetch_all(db)
    .await
    .map_err(database)?;
    let mut players = rows.iter().map(player).collect::<Result<Vec<_>, _>>()?;
    for row in &answers {
        let position: usize = uint4(row, "position")?;
        let player = players
            .get_mut(position)
            .ok_or(StoreError::Corrupt { column: "position" })?;
        player.answers.push(answer(row)?);
    }
    Ok(players)
}

fn player(row: &PgRow) -> Result<PlayerResult, StoreError> {
    Ok(PlayerResult {
        id: PlayerId(uint4(row, "player_id")?),
        name: get(row, "name")?,
        rank: uint4(row, "rank")?,
        total: uint4(row, "total")?,
        answers: Vec::new(),
    })
}

fn answer(row: &PgRow) -> Result<AnswerResult, StoreError> {
    Ok(AnswerResult {
        q: uint4(row, "q")?,
        choices: get(row, "choices")?,
        elapsed_ms: uint4(row, "elapsed_ms")?,
        correct: get(row, "correct")?,
        points: uint4(row, "points")?,
    })
}

/// Whether a student's rows were deleted, so that the result cannot be what was saved.
pub(super) async fn is_redacted(db: &mut PgConnection, id: GameId) -> Result<bool, StoreError> {
    let redacted = sqlx::query_scalar("SELECT redacted FROM games WHERE id = $1").bind(id.0);
    redacted.fetch_one(db).await.map_err(database)
}
