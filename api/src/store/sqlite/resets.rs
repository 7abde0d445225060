//! Links for new passwords in SQLite.

use async_trait::async_trait;
use protocol::ids::TeacherId;
use uuid::Uuid;

use super::{SqliteStore, database, int};
use crate::store::{Reset, ResetStore, StoreError};

#[async_trait]
impl ResetStore for SqliteStore {
    async fn insert_reset(&self, reset: &Reset, now_ms: u64, most: u32) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        sqlx::query("DELETE FROM password_resets WHERE teacher_id = ? AND expires_ms <= ?")
            .bind(reset.teacher.0)
            .bind(int(now_ms))
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        let done = sqlx::query(
            "INSERT INTO password_resets (token_hash, teacher_id, expires_ms)
             SELECT ?1, id, ?3 FROM teachers
             WHERE id = ?2 AND (SELECT count(*) FROM password_resets WHERE teacher_id = ?2) < ?4",
        )
        .bind(&reset.token_hash[..])
        .bind(reset.teacher.0)
        .bind(int(reset.expires_ms))
        .bind(i64::from(most))
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(done.rows_affected() == 1)
    }

    async fn delete_reset(&self, token_hash: &[u8; 32]) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM password_resets WHERE token_hash = ?")
            .bind(&token_hash[..])
            .execute(&self.writer)
            .await
            .map(drop)
            .map_err(database)
    }

    async fn reset_of(&self, token_hash: &[u8; 32], now_ms: u64) -> Result<Option<TeacherId>, StoreError> {
        let teacher: Option<Uuid> = sqlx::query_scalar(
            "SELECT teacher_id FROM password_resets WHERE token_hash = ? AND expires_ms > ?",
        )
        .bind(&token_hash[..])
        .bind(int(now_ms))
        .fetch_optional(&self.readers)
        .await
        .map_err(database)?;
        Ok(teacher.map(TeacherId))
    }

    async fn reset_password(
        &self,
        token_hash: &[u8; 32],
        now_ms: u64,
        password_hash: &str,
    ) -> Result<Option<TeacherId>, StoreError> {
        let mut tx = self.begin().await?;
        let teacher: Option<Uuid> = sqlx::query_scalar(
            "DELETE FROM password_resets WHERE token_hash = ? AND expires_ms > ? RETURNING teacher_id",
        )
        .bind(&token_hash[..])
        .bind(int(now_ms))
        .fetch_optional(&mut *tx)
        .await
        .map_err(database)?;
        let Some(teacher) = teacher else {
            return Ok(None);
        };
        sqlx::query("UPDATE teachers SET password_hash = ? WHERE id = ?")
            .bind(password_hash)
            .bind(teacher)
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        for everything in [
            "DELETE FROM sessions WHERE teacher_id = ?",
            "DELETE FROM password_resets WHERE teacher_id = ?",
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
