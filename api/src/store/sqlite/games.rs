//! Results of games in SQLite: one transaction a game, one row an answer, so that later reports count in SQL.

use async_trait::async_trait;
use protocol::ids::{GameCode, GameId, PlayerId, QuizId, TeacherId};
use protocol::rest::GameSummary;
use protocol::result::{AnswerResult, GameResult, PlayerResult, QuestionResult};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Sqlite};

use super::{SqliteStore, database, get, int, json, to_json, uint};
use crate::store::{EPOCH_GAP, GameStore, PageKey, ResultSaved, StoreError};

/// Rows of one insert: well below SQLite's 32,766 parameters at seven a row, and enough to make 10,000 answers fast.
const ROWS_PER_INSERT: usize = 500;

#[async_trait]
impl GameStore for SqliteStore {
    async fn save_result(&self, result: &GameResult, epoch: u32) -> Result<ResultSaved, StoreError> {
        let mut tx = self.begin().await?;
        if let Some(before) = seen_before(&mut tx, result).await? {
            return Ok(before);
        }
        let least: Option<i64> =
            sqlx::query_scalar("DELETE FROM game_epochs WHERE game_id = ? RETURNING epoch")
                .bind(result.game.0)
                .fetch_optional(&mut *tx)
                .await
                .map_err(database)?;
        if least.is_some_and(|least| i64::from(epoch) < least) {
            return Ok(ResultSaved::Superseded);
        }
        insert_game(&mut tx, result).await?;
        insert_questions(&mut tx, result).await?;
        insert_players(&mut tx, result).await?;
        insert_answers(&mut tx, result).await?;
        tx.commit().await.map_err(database)?;
        Ok(ResultSaved::Now)
    }

    async fn reserve_epoch(&self, id: GameId, above: u32) -> Result<Option<u32>, StoreError> {
        let mut tx = self.begin().await?;
        if has_result(&mut tx, id).await? {
            return Ok(None);
        }
        let epoch: i64 = sqlx::query_scalar(
            "INSERT INTO game_epochs (game_id, epoch) VALUES (?1, ?2 + ?3)
             ON CONFLICT (game_id) DO UPDATE SET epoch = max(epoch, ?2) + ?3
             RETURNING epoch",
        )
        .bind(id.0)
        .bind(i64::from(above))
        .bind(i64::from(EPOCH_GAP))
        .fetch_one(&mut *tx)
        .await
        .map_err(database)?;
        tx.commit().await.map_err(database)?;
        u32::try_from(epoch)
            .map(Some)
            .map_err(|_| StoreError::Range { column: "epoch" })
    }

    async fn has_result(&self, id: GameId) -> Result<bool, StoreError> {
        let mut reader = self.readers.acquire().await.map_err(database)?;
        has_result(&mut reader, id).await
    }

    async fn games(
        &self,
        teacher: TeacherId,
        after: Option<PageKey>,
        limit: u32,
    ) -> Result<Vec<GameSummary>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, title, ended_ms, players, questions FROM games
             WHERE teacher_id = ? AND (ended_ms, id) < (?, ?)
             ORDER BY ended_ms DESC, id DESC LIMIT ?",
        )
        .bind(teacher.0)
        .bind(after.map_or(i64::MAX, |key| int(key.at_ms)))
        .bind(after.map_or(uuid::Uuid::max(), |key| key.id))
        .bind(i64::from(limit))
        .fetch_all(&self.readers)
        .await
        .map_err(database)?;
        rows.iter().map(summary).collect()
    }

    async fn game(&self, teacher: TeacherId, id: GameId) -> Result<Option<GameResult>, StoreError> {
        // One transaction, so that the parts are of one moment even while the game is being deleted.
        let mut tx = self.readers.begin().await.map_err(database)?;
        let game = load(&mut tx, id).await?;
        Ok(game.filter(|game| game.teacher == teacher))
    }

    async fn delete_game(&self, teacher: TeacherId, id: GameId) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let done = sqlx::query("DELETE FROM games WHERE id = ? AND teacher_id = ?")
            .bind(id.0)
            .bind(teacher.0)
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        sqlx::query("INSERT INTO deleted_games (id) VALUES (?)")
            .bind(id.0)
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(true)
    }
}

async fn has_result(db: &mut SqliteConnection, id: GameId) -> Result<bool, StoreError> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM games WHERE id = ?1) OR EXISTS (SELECT 1 FROM deleted_games WHERE id = ?1)",
    )
    .bind(id.0)
    .fetch_one(db)
    .await
    .map_err(database)
}

/// Why the result need not, or cannot, be stored.
async fn seen_before(
    db: &mut SqliteConnection,
    result: &GameResult,
) -> Result<Option<ResultSaved>, StoreError> {
    if let Some(stored) = load(db, result.game).await? {
        return Ok(Some(
            if stored == *result || is_redacted(db, result.game).await? {
                ResultSaved::Before
            } else {
                ResultSaved::Different
            },
        ));
    }
    let known = sqlx::query(
        "SELECT EXISTS (SELECT 1 FROM deleted_games WHERE id = ?) AS deleted,
                EXISTS (SELECT 1 FROM teachers WHERE id = ?) AS teacher",
    )
    .bind(result.game.0)
    .bind(result.teacher.0)
    .fetch_one(db)
    .await
    .map_err(database)?;
    Ok(if get::<bool>(&known, "deleted")? {
        Some(ResultSaved::Deleted)
    } else if get::<bool>(&known, "teacher")? {
        None
    } else {
        Some(ResultSaved::NoTeacher)
    })
}

/// Whether a student's rows were deleted, so that the result cannot be what was saved.
async fn is_redacted(db: &mut SqliteConnection, id: GameId) -> Result<bool, StoreError> {
    let redacted = sqlx::query_scalar("SELECT redacted FROM games WHERE id = ?").bind(id.0);
    redacted.fetch_one(db).await.map_err(database)
}

async fn insert_game(db: &mut SqliteConnection, result: &GameResult) -> Result<(), StoreError> {
    let answers = || result.players.iter().flat_map(|player| &player.answers);
    let right = answers().filter(|answer| answer.correct).count();
    sqlx::query(
        "INSERT INTO games (id, teacher_id, quiz_id, code, settings, title, document, questions, players, answers,
                            right_answers, created_ms, ended_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(result.game.0)
    .bind(result.teacher.0)
    .bind(result.quiz_id.0)
    .bind(result.code.as_str())
    .bind(to_json(&result.settings, "settings")?)
    .bind(&result.quiz.title)
    .bind(to_json(&result.quiz, "document")?)
    .bind(i64::try_from(result.questions.len()).unwrap_or(i64::MAX))
    .bind(i64::try_from(result.players.len()).unwrap_or(i64::MAX))
    .bind(i64::try_from(answers().count()).unwrap_or(i64::MAX))
    .bind(i64::try_from(right).unwrap_or(i64::MAX))
    .bind(int(result.created_ms))
    .bind(int(result.ended_ms))
    .execute(db)
    .await
    .map_err(database)?;
    Ok(())
}

async fn insert_questions(db: &mut SqliteConnection, result: &GameResult) -> Result<(), StoreError> {
    for rows in result.questions.chunks(ROWS_PER_INSERT) {
        let mut insert = QueryBuilder::<Sqlite>::new("INSERT INTO game_questions (game_id, q, skipped) ");
        insert.push_values(rows, |mut row, question| {
            row.push_bind(result.game.0)
                .push_bind(i64::from(question.q))
                .push_bind(question.skipped);
        });
        insert
            .build()
            .persistent(false)
            .execute(&mut *db)
            .await
            .map_err(database)?;
    }
    Ok(())
}

async fn insert_players(db: &mut SqliteConnection, result: &GameResult) -> Result<(), StoreError> {
    let placed: Vec<_> = (0_i64..).zip(&result.players).collect();
    for rows in placed.chunks(ROWS_PER_INSERT) {
        let mut insert = QueryBuilder::<Sqlite>::new(
            "INSERT INTO game_players (game_id, player_id, position, name, rank, total) ",
        );
        insert.push_values(rows, |mut row, (position, player)| {
            row.push_bind(result.game.0)
                .push_bind(i64::from(player.id.0))
                .push_bind(*position)
                .push_bind(&player.name)
                .push_bind(i64::from(player.rank))
                .push_bind(i64::from(player.total));
        });
        insert
            .build()
            .persistent(false)
            .execute(&mut *db)
            .await
            .map_err(database)?;
    }
    Ok(())
}

async fn insert_answers(db: &mut SqliteConnection, result: &GameResult) -> Result<(), StoreError> {
    let mut answers = Vec::new();
    for player in &result.players {
        for answer in &player.answers {
            answers.push((
                i64::from(player.id.0),
                answer,
                to_json(&answer.choices, "choices")?,
            ));
        }
    }
    for rows in answers.chunks(ROWS_PER_INSERT) {
        let mut insert = QueryBuilder::<Sqlite>::new(
            "INSERT INTO game_answers (game_id, player_id, q, choices, elapsed_ms, correct, points) ",
        );
        insert.push_values(rows, |mut row, (player, answer, choices)| {
            row.push_bind(result.game.0)
                .push_bind(*player)
                .push_bind(i64::from(answer.q))
                .push_bind(choices)
                .push_bind(i64::from(answer.elapsed_ms))
                .push_bind(answer.correct)
                .push_bind(i64::from(answer.points));
        });
        insert
            .build()
            .persistent(false)
            .execute(&mut *db)
            .await
            .map_err(database)?;
    }
    Ok(())
}

async fn load(db: &mut SqliteConnection, id: GameId) -> Result<Option<GameResult>, StoreError> {
    let row = sqlx::query(
        "SELECT teacher_id, quiz_id, code, settings, document, created_ms, ended_ms FROM games WHERE id = ?",
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
        settings: json(&row, "settings")?,
        quiz: json(&row, "document")?,
        created_ms: uint(&row, "created_ms")?,
        ended_ms: uint(&row, "ended_ms")?,
        questions: load_questions(db, id).await?,
        players: load_players(db, id).await?,
    }))
}

async fn load_questions(db: &mut SqliteConnection, id: GameId) -> Result<Vec<QuestionResult>, StoreError> {
    let rows = sqlx::query("SELECT q, skipped FROM game_questions WHERE game_id = ? ORDER BY q")
        .bind(id.0)
        .fetch_all(db)
        .await
        .map_err(database)?;
    rows.iter()
        .map(|row| {
            Ok(QuestionResult {
                q: uint(row, "q")?,
                skipped: get(row, "skipped")?,
            })
        })
        .collect()
}

async fn load_players(db: &mut SqliteConnection, id: GameId) -> Result<Vec<PlayerResult>, StoreError> {
    let rows = sqlx::query(
        "SELECT player_id, name, rank, total FROM game_players WHERE game_id = ? ORDER BY position",
    )
    .bind(id.0)
    .fetch_all(&mut *db)
    .await
    .map_err(database)?;
    let answers = sqlx::query(
        "SELECT a.q, a.choices, a.elapsed_ms, a.correct, a.points, p.position
         FROM game_answers a JOIN game_players p USING (game_id, player_id)
         WHERE a.game_id = ? ORDER BY p.position, a.q",
    )
    .bind(id.0)
    .fetch_all(db)
    .await
    .map_err(database)?;
    let mut players = rows.iter().map(player).collect::<Result<Vec<_>, _>>()?;
    for row in &answers {
        let position: usize = uint(row, "position")?;
        let player = players
            .get_mut(position)
            .ok_or(StoreError::Corrupt { column: "position" })?;
        player.answers.push(answer(row)?);
    }
    Ok(players)
}

fn player(row: &SqliteRow) -> Result<PlayerResult, StoreError> {
    Ok(PlayerResult {
        id: PlayerId(uint(row, "player_id")?),
        name: get(row, "name")?,
        rank: uint(row, "rank")?,
        total: uint(row, "total")?,
        answers: Vec::new(),
    })
}

fn answer(row: &SqliteRow) -> Result<AnswerResult, StoreError> {
    Ok(AnswerResult {
        q: uint(row, "q")?,
        choices: json(row, "choices")?,
        elapsed_ms: uint(row, "elapsed_ms")?,
        correct: get(row, "correct")?,
        points: uint(row, "points")?,
    })
}

fn summary(row: &SqliteRow) -> Result<GameSummary, StoreError> {
    Ok(GameSummary {
        id: GameId(get(row, "id")?),
        title: get(row, "title")?,
        ended_ms: uint(row, "ended_ms")?,
        players: uint(row, "players")?,
        questions: uint(row, "questions")?,
    })
}
