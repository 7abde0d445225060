//! Links for new passwords in PostgreSQL.

use async_trait::async_trait;
use protocol::ids::TeacherId;
use uuid::Uuid;

use super::{CALL_MAX, PostgresStore, database, int8, take_turn};
use crate::store::{Reset, ResetStore, StoreError};

#[async_trait]
impl ResetStore for PostgresStore {
    async fn insert_reset(&self, reset: &Reset, now_ms: u64, most: u32) -> Result<bool, StoreError> {
        self.within(CALL_MAX, self.add_reset(reset, now_ms, most)).await
    }

    async fn delete_reset(&self, token_hash: &[u8; 32]) -> Result<(), StoreError> {
        let delete = sqlx::query("DELETE FROM password_resets WHERE token_hash = $1").bind(&token_hash[..]);
        let done = self.within(CALL_MAX, async {
            delete
                .execute(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        done.await.map(drop)
    }

    async fn reset_of(&self, token_hash: &[u8; 32], now_ms: u64) -> Result<Option<TeacherId>, StoreError> {
        let query = sqlx::query_scalar(
            "SELECT teacher_id FROM password_resets WHERE token_hash = $1 AND expires_ms > $2",
        )
        .bind(&token_hash[..])
        .bind(int8(now_ms));
        let teacher: Option<Uuid> = self
            .within(CALL_MAX, async {
                query
                    .fetch_optional(&mut *self.primary.lend().await?)
                    .await
                    .map_err(database)
            })
            .await?;
        Ok(teacher.map(TeacherId))
    }

    async fn reset_password(
        &self,
        token_hash: &[u8; 32],
        now_ms: u64,
        password_hash: &str,
    ) -> Result<Option<TeacherId>, StoreError> {
        self.within(CALL_MAX, self.spend_reset(token_hash, now_ms, password_hash))
            .await
    }
}

impl PostgresStore {
    async fn add_reset(&self, reset: &Reset, now_ms: u64, most: u32) -> Result<bool, StoreError> {
        let mut lent = self.primary.lend().await?;
        let mut tx = lent.transaction().await?;
        // In turn, so that the count stays true until the insert.
        if !take_turn(&mut tx, reset.teacher.0).await? {
            return Ok(false);
        }
        sqlx::query("DELETE FROM password_resets WHERE teacher_id = $1 AND expires_ms <= $2")
            .bind(reset.teacher.0)
            .bind(int8(now_ms))
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        let done = sqlx::query(
            "INSERT INTO password_resets (token_hash, teacher_id, expires_ms)
             SELECT $1, $2, $3 WHERE (SELECT count(*) FROM password_resets WHERE teacher_id = $2) < $4",
        )
        .bind(&reset.token_hash[..])
        .bind(reset.teacher.0)
        .bind(int8(reset.expires_ms))
        .bind(i64::from(most))
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(done.rows_affected() == 1)
    }

    async fn spend_reset(
        &self,
        token_hash: &[u8; 32],
        now_ms: u64,
        password_hash: &str,
    ) -> Result<Option<TeacherId>, StoreError> {
        let mut lent = self.primary.lend().await?;
        let mut tx = lent.transaction().await?;
        let teacher: Option<Uuid> = sqlx::query_scalar(
            "DELETE FROM password_resets WHERE token_hash = $1 AND expires_ms > $2 RETURNING teacher_id",
        )
        .bind(&token_hash[..])
        .bind(int8(now_ms))
        .fetch_optional(&mut *tx)
        .await
        .map_err(database)?;
        let Some(teacher) = teacher else {
            return Ok(None);
        };
        sqlx::query("UPDATE teachers SET password_hash = $1 WHERE id = $2")
            .bind(password_hash)
            .bind(teacher)
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        for everything in [
            "DELETE FROM sessions WHERE teacher_id = $1",
            "DELETE FROM password_resets WHERE teacher_id = $1",
        ] {
            sqlx::query(everything)
                .bind(teacher)
                .execute(&mut *tx)
                .await
                .map_err(database)?;
        }
        tx.commit().await.map_err(database)?;
        Ok(Some(TeacherId(teacher)))
    }
}
