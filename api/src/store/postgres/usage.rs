//! Counts over games in PostgreSQL.

use async_trait::async_trait;
use protocol::ids::{QuizId, TeacherId};
use protocol::rest::{QuizUsage, UsageCount, UsageDay};
use sqlx::postgres::{PgConnection, PgRow};

use super::{CALL_MAX, PostgresStore, database, get, int8, uint8};
use crate::store::{DAY_MS, MOST_PLAYED_MAX, StoreError, Usage, UsageStore, usage};

#[async_trait]
impl UsageStore for PostgresStore {
    async fn usage(&self, teacher: TeacherId, since_ms: u64) -> Result<Usage, StoreError> {
        self.within(CALL_MAX, async {
            if let Some(mut copy) = self.copy(teacher).await?
                && let Some(mut moment) = copy.up_to_date(teacher).await
                && let Some(usage) = self
                    .counted_in_copy(usage_in(&mut moment, teacher, since_ms))
                    .await
            {
                return Ok(usage);
            }
            let mut connection = self.primary.lend().await?;
            usage_in(&mut connection, teacher, since_ms).await
        })
        .await
    }

    async fn usage_by_day(&self, teacher: TeacherId, since_ms: u64) -> Result<Vec<UsageDay>, StoreError> {
        self.within(CALL_MAX, async {
            if let Some(mut copy) = self.copy(teacher).await?
                && let Some(mut moment) = copy.up_to_date(teacher).await
                && let Some(days) = self
                    .counted_in_copy(days_in(&mut moment, teacher, since_ms))
                    .await
            {
                return Ok(days);
            }
            let mut connection = self.primary.lend().await?;
            days_in(&mut connection, teacher, since_ms).await
        })
        .await
    }
}

async fn usage_in(db: &mut PgConnection, teacher: TeacherId, since_ms: u64) -> Result<Usage, StoreError> {
    let quizzes = sqlx::query(usage::QUIZZES).bind(teacher.0);
    let quizzes = quizzes.fetch_one(&mut *db).await.map_err(database)?;
    let rows = sqlx::query(usage::USAGE)
        .bind(teacher.0)
        .bind(int8(since_ms))
        .bind(i64::from(MOST_PLAYED_MAX))
        .fetch_all(db)
        .await
        .map_err(database)?;
    read(&quizzes, &rows)
}

async fn days_in(
    db: &mut PgConnection,
    teacher: TeacherId,
    since_ms: u64,
) -> Result<Vec<UsageDay>, StoreError> {
    let query = sqlx::query(usage::USAGE_BY_DAY)
        .bind(teacher.0)
        .bind(int8(since_ms));
    let rows = query.fetch_all(db).await.map_err(database)?;
    rows.iter().map(day).collect()
}

fn read(quizzes: &PgRow, rows: &[PgRow]) -> Result<Usage, StoreError> {
    let played = rows.first().map(|row| {
        Ok(UsageCount {
            games: uint8(row, "all_games")?,
            players: uint8(row, "all_players")?,
            answers: uint8(row, "all_answers")?,
            right: uint8(row, "all_right_answers")?,
        })
    });
    Ok(Usage {
        quizzes: uint8(quizzes, "quizzes")?,
        played: played.transpose()?.unwrap_or_default(),
        most_played: rows.iter().map(quiz).collect::<Result<_, _>>()?,
    })
}

fn quiz(row: &PgRow) -> Result<QuizUsage, StoreError> {
    Ok(QuizUsage {
        quiz: QuizId(get(row, "quiz_id")?),
        title: get(row, "title")?,
        played: count(row)?,
        last_ms: uint8(row, "last_ms")?,
    })
}

fn day(row: &PgRow) -> Result<UsageDay, StoreError> {
    let day: u64 = uint8(row, "day")?;
    Ok(UsageDay {
        day_ms: day.saturating_mul(DAY_MS),
        played: count(row)?,
    })
}

fn count(row: &PgRow) -> Result<UsageCount, StoreError> {
    Ok(UsageCount {
        games: uint8(row, "games")?,
        players: uint8(row, "players")?,
        answers: uint8(row, "answers")?,
        right: uint8(row, "right_answers")?,
    })
}
