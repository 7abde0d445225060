//! Deletions for good in SQLite.

use async_trait::async_trait;
use protocol::ids::{GameId, PlayerId, TeacherId};

use super::{SqliteStore, database};
use crate::store::{ANSWERS_REMOVED_AT_ONCE, GAMES_REMOVED_AT_ONCE, RemovalStore, StoreError};

#[async_trait]
impl RemovalStore for SqliteStore {
    async fn delete_player(
        &self,
        teacher: TeacherId,
        game: GameId,
        player: PlayerId,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let position: Option<i64> = sqlx::query_scalar(
            "SELECT p.position FROM games g JOIN game_players p ON p.game_id = g.id
             WHERE g.id = ? AND g.teacher_id = ? AND p.player_id = ?",
        )
        .bind(game.0)
        .bind(teacher.0)
        .bind(i64::from(player.0))
        .fetch_optional(&mut *tx)
        .await
        .map_err(database)?;
        let Some(position) = position else {
            return Ok(false);
        };
        // The answers go with it.
        sqlx::query("DELETE FROM game_players WHERE game_id = ? AND player_id = ?")
            .bind(game.0)
            .bind(i64::from(player.0))
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        sqlx::query("UPDATE game_players SET position = position - 1 WHERE game_id = ? AND position > ?")
            .bind(game.0)
            .bind(position)
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        sqlx::query(
            "UPDATE games SET redacted = 1, players = players - 1,
                 answers = (SELECT count(*) FROM game_answers a WHERE a.game_id = games.id),
                 right_answers = (SELECT count(*) FROM game_answers a WHERE a.game_id = games.id AND a.correct)
             WHERE id = ?",
        )
        .bind(game.0)
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(true)
    }

    async fn delete_account(&self, id: TeacherId) -> Result<bool, StoreError> {
        // Step by step: others write in between.
        while self.remove_games(id).await? {}
        // Sessions, quizzes and shares go with it.
        let done = sqlx::query("DELETE FROM teachers WHERE id = ?")
            .bind(id.0)
            .execute(&self.writer)
            .await
            .map_err(database)?;
        Ok(done.rows_affected() == 1)
    }
}

impl SqliteStore {
    /// Deletes some of the games; false when there was none left.
    pub(super) async fn remove_games(&self, teacher: TeacherId) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "DELETE FROM games WHERE id IN (
                 SELECT id FROM (
                     SELECT id, row_number() OVER newest AS n, sum(answers) OVER newest AS answers
                     FROM (SELECT id, answers, ended_ms FROM games WHERE teacher_id = ?1
                           ORDER BY ended_ms DESC, id DESC LIMIT ?2)
                     WINDOW newest AS (ORDER BY ended_ms DESC, id DESC))
                 WHERE n = 1 OR answers <= ?3)",
        )
        .bind(teacher.0)
        .bind(i64::from(GAMES_REMOVED_AT_ONCE))
        .bind(i64::from(ANSWERS_REMOVED_AT_ONCE))
        .execute(&self.writer)
        .await
        .map_err(database)?;
        Ok(done.rows_affected() > 0)
    }
}
