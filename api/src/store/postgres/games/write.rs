//! The rows of a result. Many rows travel as one array a column: one statement, however many there are.

use protocol::result::{AnswerResult, GameResult};
use sqlx::Postgres;
use sqlx::postgres::{PgArguments, PgConnection};
use sqlx::query::Query;

use super::super::{database, int4, int8};
use crate::store::StoreError;
use crate::store::documents::to_json;

/// Answers of one insert: a hall of 500 over 20 questions, some 50 ms, far from the limit on one statement.
const ANSWERS_PER_INSERT: usize = 10_000;

/// The game itself; false when there is one with this id already, or was one that its teacher deleted.
pub(super) async fn game(db: &mut PgConnection, result: &GameResult) -> Result<bool, StoreError> {
    let answers = || result.players.iter().flat_map(|player| &player.answers);
    let right = answers().filter(|answer| answer.correct).count();
    let done = sqlx::query(
        "INSERT INTO games (id, teacher_id, quiz_id, code, settings, title, document, questions, players,
                            answers, right_answers, created_ms, ended_ms)
         SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
         WHERE NOT EXISTS (SELECT 1 FROM deleted_games WHERE id = $1)
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

/// Everything else of it. Most games are stored by the first statement; only a hall's answers need more.
pub(super) async fn rows(db: &mut PgConnection, result: &GameResult) -> Result<(), StoreError> {
    let answers: Vec<(u32, &AnswerResult)> = result
        .players
        .iter()
        .flat_map(|player| player.answers.iter().map(|answer| (player.id.0, answer)))
        .collect();
    let (first, rest) = answers.split_at(answers.len().min(ANSWERS_PER_INSERT));
    let q: Vec<i32> = result.questions.iter().map(|row| i32::from(row.q)).collect();
    let skipped: Vec<bool> = result.questions.iter().map(|row| row.skipped).collect();
    let players = Players::of(result)?;
    let insert = Answers::of(first)?.bind(sqlx::query(ROWS).bind(result.game.0));
    insert
        .bind(q)
        .bind(skipped)
        .bind(players.ids)
        .bind(players.positions)
        .bind(players.names)
        .bind(players.ranks)
        .bind(players.totals)
        .execute(&mut *db)
        .await
        .map_err(database)?;
    for rows in rest.chunks(ANSWERS_PER_INSERT) {
        let insert = Answers::of(rows)?.bind(sqlx::query(ANSWERS).bind(result.game.0));
        insert.execute(&mut *db).await.map_err(database)?;
    }
    Ok(())
}

/// A game's answers, or some of them.
const ANSWERS: &str = "
    INSERT INTO game_answers (game_id, player_id, q, elapsed_ms, points, correct, choices)
    SELECT $1, * FROM UNNEST($2::INTEGER[], $3::INTEGER[], $4::INTEGER[], $5::INTEGER[], $6::BOOLEAN[], $7::BYTEA[])";

/// The same, and before them its questions and players: one round trip for three tables.
const ROWS: &str = "
    WITH questions AS (
        INSERT INTO game_questions (game_id, q, skipped)
        SELECT $1, * FROM UNNEST($8::INTEGER[], $9::BOOLEAN[])),
    players AS (
        INSERT INTO game_players (game_id, player_id, position, name, rank, total)
        SELECT $1, * FROM UNNEST($10::INTEGER[], $11::INTEGER[], $12::TEXT[], $13::INTEGER[], $14::INTEGER[]))
    INSERT INTO game_answers (game_id, player_id, q, elapsed_ms, points, correct, choices)
    SELECT $1, * FROM UNNEST($2::INTEGER[], $3::INTEGER[], $4::INTEGER[], $5::INTEGER[], $6::BOOLEAN[], $7::BYTEA[])";

/// Players, column by column.
#[derive(Default)]
struct Players<'a> {
    ids: Vec<i32>,
    positions: Vec<i32>,
    names: Vec<&'a str>,
    ranks: Vec<i32>,
    totals: Vec<i32>,
}

impl<'a> Players<'a> {
    fn of(result: &'a GameResult) -> Result<Self, StoreError> {
        let mut players = Self::default();
        for (position, player) in result.players.iter().enumerate() {
            players.ids.push(int4(player.id.0, "player_id")?);
            players.positions.push(int4(position, "position")?);
            players.names.push(player.name.as_str());
            players.ranks.push(int4(player.rank, "rank")?);
            players.totals.push(int4(player.total, "total")?);
        }
        Ok(players)
    }
}

/// Answers, column by column.
#[derive(Default)]
struct Answers<'a> {
    players: Vec<i32>,
    q: Vec<i32>,
    elapsed_ms: Vec<i32>,
    points: Vec<i32>,
    correct: Vec<bool>,
    choices: Vec<&'a [u8]>,
}

impl<'a> Answers<'a> {
    fn of(rows: &[(u32, &'a AnswerResult)]) -> Result<Self, StoreError> {
        let mut answers = Self::default();
        for (player, answer) in rows {
            answers.players.push(int4(*player, "player_id")?);
            answers.q.push(i32::from(answer.q));
            answers.elapsed_ms.push(int4(answer.elapsed_ms, "elapsed_ms")?);
            answers.points.push(int4(answer.points, "points")?);
            answers.correct.push(answer.correct);
            answers.choices.push(answer.choices.as_slice());
        }
        Ok(answers)
    }

    /// As the parameters from the second on.
    fn bind<'q>(self, query: Query<'q, Postgres, PgArguments>) -> Query<'q, Postgres, PgArguments>
    where
        'a: 'q,
    {
        query
            .bind(self.players)
            .bind(self.q)
            .bind(self.elapsed_ms)
            .bind(self.points)
            .bind(self.correct)
            .bind(self.choices)
    }
}
