//! Accounts and sessions in PostgreSQL.

use async_trait::async_trait;
use protocol::ids::TeacherId;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::{CALL_MAX, PostgresStore, database, get, int8, uint8};
use crate::session::Session;
use crate::store::{Account, AccountStore, Inserted, StoreError};

#[async_trait]
impl AccountStore for PostgresStore {
    async fn insert_account(
        &self,
        account: &Account,
        password_hash: &str,
        now_ms: u64,
    ) -> Result<Inserted, StoreError> {
        let insert = sqlx::query(
            "INSERT INTO teachers (id, email, name, password_hash, created_ms) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (email) DO NOTHING",
        )
        .bind(account.id.0)
        .bind(&account.email)
        .bind(&account.name)
        .bind(password_hash)
        .bind(int8(now_ms));
        let done = self.within(CALL_MAX, async {
            insert
                .execute(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        Ok(if done.await?.rows_affected() == 1 {
            Inserted::Yes
        } else {
            Inserted::Refused
        })
    }

    async fn account_by_email(&self, email: &str) -> Result<Option<(Account, String)>, StoreError> {
        let query =
            sqlx::query("SELECT id, email, name, password_hash FROM teachers WHERE email = $1").bind(email);
        let row = self.within(CALL_MAX, async {
            query
                .fetch_optional(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        row.await?
            .map(|row| Ok((account(&row)?, get(&row, "password_hash")?)))
            .transpose()
    }

    async fn account(&self, id: TeacherId) -> Result<Option<Account>, StoreError> {
        let query = sqlx::query("SELECT id, email, name FROM teachers WHERE id = $1").bind(id.0);
        let row = self.within(CALL_MAX, async {
            query
                .fetch_optional(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        row.await?.map(|row| account(&row)).transpose()
    }

    async fn replace_hash(&self, id: TeacherId, was: &str, password_hash: &str) -> Result<bool, StoreError> {
        let update =
            sqlx::query("UPDATE teachers SET password_hash = $1 WHERE id = $2 AND password_hash = $3")
                .bind(password_hash)
                .bind(id.0)
                .bind(was);
        let done = self.within(CALL_MAX, async {
            update
                .execute(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        Ok(done.await?.rows_affected() == 1)
    }

    async fn insert_session(
        &self,
        session: &Session,
        checked_hash: &str,
        now_ms: u64,
        sessions_max: u32,
    ) -> Result<bool, StoreError> {
        self.within(
            CALL_MAX,
            self.store_session(session, checked_hash, now_ms, sessions_max),
        )
        .await
    }

    async fn session(&self, id: Uuid) -> Result<Option<Session>, StoreError> {
        let query = sqlx::query(
            "SELECT id, teacher_id, current, previous, issued_ms, expires_ms FROM sessions WHERE id = $1",
        )
        .bind(id);
        let row = self.within(CALL_MAX, async {
            query
                .fetch_optional(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        row.await?.map(|row| session(&row)).transpose()
    }

    async fn advance_session(&self, next: &Session, was: &[u8; 32]) -> Result<bool, StoreError> {
        let update = sqlx::query(
            "UPDATE sessions SET current = $1, previous = $2, issued_ms = $3, expires_ms = $4
             WHERE id = $5 AND current = $6",
        )
        .bind(&next.current[..])
        .bind(next.previous.as_ref().map(|hash| &hash[..]))
        .bind(int8(next.issued_ms))
        .bind(int8(next.expires_ms))
        .bind(next.id)
        .bind(&was[..]);
        let done = self.within(CALL_MAX, async {
            update
                .execute(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        Ok(done.await?.rows_affected() == 1)
    }

    async fn delete_session(&self, id: Uuid) -> Result<(), StoreError> {
        let delete = sqlx::query("DELETE FROM sessions WHERE id = $1").bind(id);
        self.within(CALL_MAX, async {
            delete
                .execute(&mut *self.primary.lend().await?)
                .await
                .map(drop)
                .map_err(database)
        })
        .await
    }
}

impl PostgresStore {
    async fn store_session(
        &self,
        session: &Session,
        checked_hash: &str,
        now_ms: u64,
        sessions_max: u32,
    ) -> Result<bool, StoreError> {
        let mut lent = self.primary.lend().await?;
        let mut tx = lent.transaction().await?;
        // Waits for whoever sets another password now, and is waited for by whoever does it next: the one finds the hash changed, the
        // other the session.
        let done = sqlx::query(
            "INSERT INTO sessions (id, teacher_id, current, previous, issued_ms, expires_ms)
             SELECT $1, id, $3, $4, $5, $6 FROM teachers WHERE id = $2 AND password_hash = $7 FOR SHARE",
        )
        .bind(session.id)
        .bind(session.teacher.0)
        .bind(&session.current[..])
        .bind(session.previous.as_ref().map(|hash| &hash[..]))
        .bind(int8(session.issued_ms))
        .bind(int8(session.expires_ms))
        .bind(checked_hash)
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        // The new session stays even when clocks of two processes disagree about which is the oldest. Two browsers that sign in
        // at the same moment do not see each other's session, and may leave one too many until the next sign-in.
        sqlx::query(
            "DELETE FROM sessions WHERE teacher_id = $1 AND id <> $2 AND (expires_ms <= $3 OR id IN (
                 SELECT id FROM sessions WHERE teacher_id = $1 AND id <> $2 AND expires_ms > $3
                 ORDER BY issued_ms DESC, id DESC OFFSET $4))",
        )
        .bind(session.teacher.0)
        .bind(session.id)
        .bind(int8(now_ms))
        .bind(i64::from(sessions_max.saturating_sub(1)))
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(true)
    }
}

fn account(row: &PgRow) -> Result<Account, StoreError> {
    Ok(Account {
        id: TeacherId(get(row, "id")?),
        email: get(row, "email")?,
        name: get(row, "name")?,
    })
}

fn session(row: &PgRow) -> Result<Session, StoreError> {
    let previous: Option<&[u8]> = get(row, "previous")?;
    Ok(Session {
        id: get(row, "id")?,
        teacher: TeacherId(get(row, "teacher_id")?),
        current: hash(get(row, "current")?, "current")?,
        previous: previous.map(|bytes| hash(bytes, "previous")).transpose()?,
        issued_ms: uint8(row, "issued_ms")?,
        expires_ms: uint8(row, "expires_ms")?,
    })
}

fn hash(bytes: &[u8], column: &'static str) -> Result<[u8; 32], StoreError> {
    bytes.try_into().map_err(|_| StoreError::Corrupt { column })
}
