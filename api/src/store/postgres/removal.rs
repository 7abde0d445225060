//! Deletions for good in PostgreSQL.

use async_trait::async_trait;
use protocol::ids::{GameId, PlayerId, TeacherId};

use super::{PostgresStore, RESULT_CALL_MAX, database, int4, take_turn};
use crate::store::{ANSWERS_REMOVED_AT_ONCE, GAMES_REMOVED_AT_ONCE, RemovalStore, StoreError};

#[async_trait]
impl RemovalStore for PostgresStore {
    async fn delete_player(
        &self,
        teacher: TeacherId,
        game: GameId,
        player: PlayerId,
    ) -> Result<bool, StoreError> {
        // No player has such a number.
        let Ok(player) = int4(player.0, "player_id") else {
            return Ok(false);
        };
        self.within(RESULT_CALL_MAX, self.remove_player(teacher, game, player))
            .await
    }

    async fn delete_account(&self, id: TeacherId) -> Result<bool, StoreError> {
        // Step by step: what a teacher of many years has takes longer than one call may.
        while self.within(RESULT_CALL_MAX, self.remove_games(id)).await? {}
        // Sessions, quizzes and shares go with it.
        let delete = sqlx::query("DELETE FROM teachers WHERE id = $1").bind(id.0);
        let done = self.within(RESULT_CALL_MAX, async {
            delete
                .execute(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        Ok(done.await?.rows_affected() == 1)
    }
}

impl PostgresStore {
    async fn remove_player(&self, teacher: TeacherId, game: GameId, player: i32) -> Result<bool, StoreError> {
        let mut lent = self.primary.lend().await?;
        let mut tx = lent.transaction().await?;
        take_turn(&mut tx, teacher.0).await?;
        // The answers go with it.
        let position: Option<i32> = sqlx::query_scalar(
            "DELETE FROM game_players p USING games g
             WHERE g.id = $1 AND g.teacher_id = $2 AND p.game_id = g.id AND p.player_id = $3
             RETURNING p.position",
        )
        .bind(game.0)
        .bind(teacher.0)
        .bind(player)
        .fetch_optional(&mut *tx)
        .await
        .map_err(database)?;
        let Some(position) = position else {
            return Ok(false);
        };
        sqlx::query("UPDATE game_players SET position = position - 1 WHERE game_id = $1 AND position > $2")
            .bind(game.0)
            .bind(position)
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        sqlx::query(
            "UPDATE games SET redacted = TRUE, players = players - 1,
                 answers = (SELECT count(*) FROM game_answers a WHERE a.game_id = games.id),
                 right_answers = (SELECT count(*) FROM game_answers a WHERE a.game_id = games.id AND a.correct)
             WHERE id = $1",
        )
        .bind(game.0)
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(true)
    }

    /// Deletes some of the games; false when there was none left.
    pub(super) async fn remove_games(&self, teacher: TeacherId) -> Result<bool, StoreError> {
        let mut lent = self.primary.lend().await?;
        let mut tx = lent.transaction().await?;
        take_turn(&mut tx, teacher.0).await?;
        let done = sqlx::query(
            "DELETE FROM games WHERE id IN (
                 SELECT id FROM (
                     SELECT id, row_number() OVER newest AS n, sum(answers) OVER newest AS answers
                     FROM (SELECT id, answers, ended_ms FROM games WHERE teacher_id = $1
                           ORDER BY ended_ms DESC, id DESC LIMIT $2) AS first
                     WINDOW newest AS (ORDER BY ended_ms DESC, id DESC)) AS counted
                 WHERE n = 1 OR answers <= $3)",
        )
        .bind(teacher.0)
        .bind(i64::from(GAMES_REMOVED_AT_ONCE))
        .bind(i64::from(ANSWERS_REMOVED_AT_ONCE))
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(done.rows_affected() > 0)
    }
}
