//! Counts over games in SQLite.

use async_trait::async_trait;
use protocol::ids::{QuizId, TeacherId};
use protocol::rest::{QuizUsage, UsageCount, UsageDay};
use sqlx::sqlite::SqliteRow;

use super::{SqliteStore, database, get, int, uint};
use crate::store::{DAY_MS, MOST_PLAYED_MAX, StoreError, Usage, UsageStore, usage};

#[async_trait]
impl UsageStore for SqliteStore {
    async fn usage(&self, teacher: TeacherId, since_ms: u64) -> Result<Usage, StoreError> {
        let quizzes = sqlx::query(usage::QUIZZES)
            .bind(teacher.0)
            .fetch_one(&self.readers)
            .await
            .map_err(database)?;
        let rows = sqlx::query(usage::USAGE)
            .bind(teacher.0)
            .bind(int(since_ms))
            .bind(i64::from(MOST_PLAYED_MAX))
            .fetch_all(&self.readers)
            .await
            .map_err(database)?;
        read(&quizzes, &rows)
    }

    async fn usage_by_day(&self, teacher: TeacherId, since_ms: u64) -> Result<Vec<UsageDay>, StoreError> {
        let rows = sqlx::query(usage::USAGE_BY_DAY)
            .bind(teacher.0)
            .bind(int(since_ms))
            .fetch_all(&self.readers)
            .await
            .map_err(database)?;
        rows.iter().map(day).collect()
    }
}

fn read(quizzes: &SqliteRow, rows: &[SqliteRow]) -> Result<Usage, StoreError> {
    let played = rows.first().map(|row| {
        Ok(UsageCount {
            games: uint(row, "all_games")?,
            players: uint(row, "all_players")?,
            answers: uint(row, "all_answers")?,
            right: uint(row, "all_right_answers")?,
        })
    });
    Ok(Usage {
        quizzes: uint(quizzes, "quizzes")?,
        played: played.transpose()?.unwrap_or_default(),
        most_played: rows.iter().map(quiz).collect::<Result<_, _>>()?,
    })
}

fn quiz(row: &SqliteRow) -> Result<QuizUsage, StoreError> {
    Ok(QuizUsage {
        quiz: QuizId(get(row, "quiz_id")?),
        title: get(row, "title")?,
        played: count(row)?,
        last_ms: uint(row, "last_ms")?,
    })
}

fn day(row: &SqliteRow) -> Result<UsageDay, StoreError> {
    let day: u64 = uint(row, "day")?;
    Ok(UsageDay {
        day_ms: day.saturating_mul(DAY_MS),
        played: count(row)?,
    })
}

fn count(row: &SqliteRow) -> Result<UsageCount, StoreError> {
    Ok(UsageCount {
        games: uint(row, "games")?,
        players: uint(row, "players")?,
        answers: uint(row, "answers")?,
        right: uint(row, "right_answers")?,
    })
}
