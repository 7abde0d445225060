//! Accounts and sessions in SQLite.

use async_trait::async_trait;
use protocol::ids::TeacherId;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use super::{SqliteStore, database, get, int, uint};
use crate::session::Session;
use crate::store::{Account, AccountStore, Inserted, StoreError};

#[async_trait]
impl AccountStore for SqliteStore {
    async fn insert_account(
        &self,
        account: &Account,
        password_hash: &str,
        now_ms: u64,
    ) -> Result<Inserted, StoreError> {
        let done = sqlx::query(
            "INSERT INTO teachers (id, email, name, password_hash, created_ms) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT (email) DO NOTHING",
        )
        .bind(account.id.0)
        .bind(&account.email)
        .bind(&account.name)
        .bind(password_hash)
        .bind(int(now_ms))
        .execute(&self.writer)
        .await
        .map_err(database)?;
        Ok(if done.rows_affected() == 1 {
            Inserted::Yes
        } else {
            Inserted::Refused
        })
    }

    async fn account_by_email(&self, email: &str) -> Result<Option<(Account, String)>, StoreError> {
        let row = sqlx::query("SELECT id, email, name, password_hash FROM teachers WHERE email = ?")
            .bind(email)
            .fetch_optional(&self.readers)
            .await
            .map_err(database)?;
        row.map(|row| Ok((account(&row)?, get(&row, "password_hash")?)))
            .transpose()
    }

    async fn account(&self, id: TeacherId) -> Result<Option<Account>, StoreError> {
        let row = sqlx::query("SELECT id, email, name FROM teachers WHERE id = ?")
            .bind(id.0)
            .fetch_optional(&self.readers)
            .await
            .map_err(database)?;
        row.map(|row| account(&row)).transpose()
    }

    async fn replace_hash(&self, id: TeacherId, was: &str, password_hash: &str) -> Result<bool, StoreError> {
        let done = sqlx::query("UPDATE teachers SET password_hash = ? WHERE id = ? AND password_hash = ?")
            .bind(password_hash)
            .bind(id.0)
            .bind(was)
            .execute(&self.writer)
            .await
            .map_err(database)?;
        Ok(done.rows_affected() == 1)
    }

    async fn insert_session(
        &self,
        session: &Session,
        checked_hash: &str,
        now_ms: u64,
        sessions_max: u32,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        sqlx::query("DELETE FROM sessions WHERE teacher_id = ? AND expires_ms <= ?")
            .bind(session.teacher.0)
            .bind(int(now_ms))
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        let done = sqlx::query(
            "INSERT INTO sessions (id, teacher_id, current, previous, issued_ms, expires_ms)
             SELECT ?1, id, ?3, ?4, ?5, ?6 FROM teachers WHERE id = ?2 AND password_hash = ?7",
        )
        .bind(session.id)
        .bind(session.teacher.0)
        .bind(&session.current[..])
        .bind(session.previous.as_ref().map(|hash| &hash[..]))
        .bind(int(session.issued_ms))
        .bind(int(session.expires_ms))
        .bind(checked_hash)
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        // The new session stays even when clocks of two processes disagree about which is the oldest.
        sqlx::query(
            "DELETE FROM sessions WHERE id IN (
                 SELECT id FROM sessions WHERE teacher_id = ? AND id <> ?
                 ORDER BY issued_ms DESC, id DESC LIMIT -1 OFFSET ?)",
        )
        .bind(session.teacher.0)
        .bind(session.id)
        .bind(i64::from(sessions_max.saturating_sub(1)))
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(true)
    }

    async fn session(&self, id: Uuid) -> Result<Option<Session>, StoreError> {
        let row = sqlx::query(
            "SELECT id, teacher_id, current, previous, issued_ms, expires_ms FROM sessions WHERE id = ?",
        )
        .bind(id)
        .fetch_optional(&self.readers)
        .await
        .map_err(database)?;
        row.map(|row| session(&row)).transpose()
    }

    async fn advance_session(&self, next: &Session, was: &[u8; 32]) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE sessions SET current = ?, previous = ?, issued_ms = ?, expires_ms = ? WHERE id = ? AND current = ?",
        )
        .bind(&next.current[..])
        .bind(next.previous.as_ref().map(|hash| &hash[..]))
        .bind(int(next.issued_ms))
        .bind(int(next.expires_ms))
        .bind(next.id)
        .bind(&was[..])
        .execute(&self.writer)
        .await
        .map_err(database)?;
        Ok(done.rows_affected() == 1)
    }

    async fn delete_session(&self, id: Uuid) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM sessions WHERE id = ?")
            .bind(id)
            .execute(&self.writer)
            .await
            .map_err(database)?;
        Ok(())
    }
}

fn account(row: &SqliteRow) -> Result<Account, StoreError> {
    Ok(Account {
        id: TeacherId(get(row, "id")?),
        email: get(row, "email")?,
        name: get(row, "name")?,
    })
}

fn session(row: &SqliteRow) -> Result<Session, StoreError> {
    let previous: Option<&[u8]> = get(row, "previous")?;
    Ok(Session {
        id: get(row, "id")?,
        teacher: TeacherId(get(row, "teacher_id")?),
        current: hash(get(row, "current")?, "current")?,
        previous: previous.map(|bytes| hash(bytes, "previous")).transpose()?,
        issued_ms: uint(row, "issued_ms")?,
        expires_ms: uint(row, "expires_ms")?,
    })
}

fn hash(bytes: &[u8], column: &'static str) -> Result<[u8; 32], StoreError> {
    bytes.try_into().map_err(|_| StoreError::Corrupt { column })
}
