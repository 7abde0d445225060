//! Results of games in PostgreSQL: one transaction a game, one row an answer, so that later reports count in SQL.

use async_trait::async_trait;
use protocol::ids::{GameId, TeacherId};
use protocol::rest::GameSummary;
use protocol::result::GameResult;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::{CALL_MAX, PostgresStore, RESULT_CALL_MAX, database, get, int8, take_turn, uint4, uint8};
use crate::store::{GameStore, PageKey, ResultSaved, StoreError};

mod epochs;
mod read;
mod write;

#[async_trait]
impl GameStore for PostgresStore {
    async fn save_result(&self, result: &GameResult, epoch: u32) -> Result<ResultSaved, StoreError> {
        self.within(RESULT_CALL_MAX, self.save(result, epoch)).await
    }

    async fn reserve_epoch(&self, id: GameId, above: u32) -> Result<Option<u32>, StoreError> {
        self.within(CALL_MAX, async {
            let mut lent = self.primary.lend().await?;
            let mut tx = lent.transaction().await?;
            // Before the look: of a save and a reservation at the same time, the second sees what the first did.
            let epoch = epochs::reserve(&mut tx, id, above).await?;
            if epochs::has_result(&mut tx, id).await? {
                return Ok(None);
            }
            tx.commit().await.map_err(database)?;
            Ok(Some(epoch))
        })
        .await
    }

    async fn has_result(&self, id: GameId) -> Result<bool, StoreError> {
        self.within(CALL_MAX, async {
            let mut connection = self.primary.lend().await?;
            epochs::has_result(&mut connection, id).await
        })
        .await
    }

    async fn games(
        &self,
        teacher: TeacherId,
        after: Option<PageKey>,
        limit: u32,
    ) -> Result<Vec<GameSummary>, StoreError> {
        let query = sqlx::query(
            "SELECT id, title, ended_ms, players, questions FROM games
             WHERE teacher_id = $1 AND (ended_ms, id) < ($2, $3)
             ORDER BY ended_ms DESC, id DESC LIMIT $4",
        )
        .bind(teacher.0)
        .bind(after.map_or(i64::MAX, |key| int8(key.at_ms)))
        .bind(after.map_or(Uuid::max(), |key| key.id))
        .bind(i64::from(limit));
        let rows = self.within(CALL_MAX, async {
            query
                .fetch_all(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        rows.await?.iter().map(summary).collect()
    }

    async fn game(&self, teacher: TeacherId, id: GameId) -> Result<Option<GameResult>, StoreError> {
        self.within(RESULT_CALL_MAX, async {
            let mut lent = self.primary.lend().await?;
            let mut tx = lent.moment().await?;
            let game = read::game(&mut tx, id).await?;
            Ok(game.filter(|game| game.teacher == teacher))
        })
        .await
    }

    async fn delete_game(&self, teacher: TeacherId, id: GameId) -> Result<bool, StoreError> {
        self.within(RESULT_CALL_MAX, self.delete(teacher, id)).await
    }
}

impl PostgresStore {
    async fn save(&self, result: &GameResult, epoch: u32) -> Result<ResultSaved, StoreError> {
        let mut lent = self.primary.lend().await?;
        let mut tx = lent.transaction().await?;
        if !take_turn(&mut tx, result.teacher.0).await? {
            return Ok(ResultSaved::NoTeacher);
        }
        let deleted: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM deleted_games WHERE id = $1)")
            .bind(result.game.0)
            .fetch_one(&mut *tx)
            .await
            .map_err(database)?;
        if deleted {
            return Ok(ResultSaved::Deleted);
        }
        if !write::game(&mut tx, result).await? {
            let stored = read::game(&mut tx, result.game).await?;
            let same = stored.is_some_and(|stored| stored == *result);
            return Ok(if same || read::is_redacted(&mut tx, result.game).await? {
                ResultSaved::Before
            } else {
                ResultSaved::Different
            });
        }
        if !epochs::settle(&mut tx, result.game, epoch).await? {
            return Ok(ResultSaved::Superseded);
        }
        write::questions(&mut tx, result).await?;
        write::players(&mut tx, result).await?;
        write::answers(&mut tx, result).await?;
        tx.commit().await.map_err(database)?;
        Ok(ResultSaved::Now)
    }

    async fn delete(&self, teacher: TeacherId, id: GameId) -> Result<bool, StoreError> {
        let mut lent = self.primary.lend().await?;
        let mut tx = lent.transaction().await?;
        take_turn(&mut tx, teacher.0).await?;
        let done = sqlx::query("DELETE FROM games WHERE id = $1 AND teacher_id = $2")
            .bind(id.0)
            .bind(teacher.0)
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        sqlx::query("INSERT INTO deleted_games (id) VALUES ($1)")
            .bind(id.0)
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(true)
    }
}

fn summary(row: &PgRow) -> Result<GameSummary, StoreError> {
    Ok(GameSummary {
        id: GameId(get(row, "id")?),
        title: get(row, "title")?,
        ended_ms: uint8(row, "ended_ms")?,
        players: uint4(row, "players")?,
        questions: uint4(row, "questions")?,
    })
}
