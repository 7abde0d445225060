//! Quizzes in PostgreSQL.

use async_trait::async_trait;
use protocol::ids::{QuizId, TeacherId};
use protocol::quiz::QuizDocument;
use protocol::rest::{QuizResponse, QuizSummary};
use sqlx::postgres::{PgConnection, PgRow};
use uuid::Uuid;

use super::{CALL_MAX, PostgresStore, database, get, int4, int8, take_turn, uint4, uint8};
use crate::store::documents::{from_json, to_json};
use crate::store::fold::fold;
use crate::store::{Inserted, PageKey, QuizChange, QuizStore, StoreError};

#[async_trait]
impl QuizStore for PostgresStore {
    async fn quizzes(
        &self,
        teacher: TeacherId,
        after: Option<PageKey>,
        limit: u32,
    ) -> Result<Vec<QuizSummary>, StoreError> {
        let query = sqlx::query(
            "SELECT id, title, questions, updated_ms FROM quizzes
             WHERE teacher_id = $1 AND (updated_ms, id) < ($2, $3)
             ORDER BY updated_ms DESC, id DESC LIMIT $4",
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

    async fn find_quizzes(
        &self,
        teacher: TeacherId,
        words: &[String],
        after: Option<PageKey>,
        limit: u32,
    ) -> Result<Vec<QuizSummary>, StoreError> {
        let query = sqlx::query(
            "SELECT id, title, questions, updated_ms FROM quizzes
             WHERE teacher_id = $1 AND (updated_ms, id) < ($2, $3)
               AND NOT EXISTS (SELECT 1 FROM unnest($4::TEXT[]) w
                               WHERE strpos(coalesce(title_folded, lower(title)), w) = 0)
             ORDER BY updated_ms DESC, id DESC LIMIT $5",
        )
        .bind(teacher.0)
        .bind(after.map_or(i64::MAX, |key| int8(key.at_ms)))
        .bind(after.map_or(Uuid::max(), |key| key.id))
        .bind(words)
        .bind(i64::from(limit));
        let rows = self.within(CALL_MAX, async {
            query
                .fetch_all(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        rows.await?.iter().map(summary).collect()
    }

    async fn insert_quiz(
        &self,
        teacher: TeacherId,
        quiz: &QuizResponse,
        quizzes_max: u32,
    ) -> Result<Inserted, StoreError> {
        self.within(CALL_MAX, self.add_quiz(teacher, quiz, quizzes_max))
            .await
    }

    async fn quiz(&self, teacher: TeacherId, id: QuizId) -> Result<Option<QuizResponse>, StoreError> {
        let query = sqlx::query(
            "SELECT id, version, updated_ms, document FROM quizzes WHERE id = $1 AND teacher_id = $2",
        )
        .bind(id.0)
        .bind(teacher.0);
        let row = self.within(CALL_MAX, async {
            query
                .fetch_optional(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        row.await?.map(|row| full(&row)).transpose()
    }

    async fn update_quiz(
        &self,
        teacher: TeacherId,
        id: QuizId,
        version: u32,
        quiz: &QuizDocument,
        now_ms: u64,
    ) -> Result<QuizChange, StoreError> {
        self.within(CALL_MAX, self.change_quiz(teacher, id, version, quiz, now_ms))
            .await
    }

    async fn delete_quiz(&self, teacher: TeacherId, id: QuizId) -> Result<bool, StoreError> {
        self.within(CALL_MAX, self.remove_quiz(teacher, id)).await
    }
}

impl PostgresStore {
    async fn add_quiz(
        &self,
        teacher: TeacherId,
        quiz: &QuizResponse,
        quizzes_max: u32,
    ) -> Result<Inserted, StoreError> {
        let document = to_json(&quiz.quiz, "document")?;
        let mut lent = self.primary.lend().await?;
        let mut tx = lent.transaction().await?;
        // In turn, so that the count stays true until the insert.
        if !take_turn(&mut tx, teacher.0).await? {
            return Ok(Inserted::NoTeacher);
        }
        let stored: i64 = sqlx::query_scalar("SELECT count(*) FROM quizzes WHERE teacher_id = $1")
            .bind(teacher.0)
            .fetch_one(&mut *tx)
            .await
            .map_err(database)?;
        if stored >= i64::from(quizzes_max) {
            return Ok(Inserted::Refused);
        }
        sqlx::query(
            "INSERT INTO quizzes (id, teacher_id, version, title, title_folded, questions, document, created_ms, updated_ms)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)",
        )
        .bind(quiz.id.0)
        .bind(teacher.0)
        .bind(int4(quiz.version, "version")?)
        .bind(&quiz.quiz.title)
        .bind(fold(&quiz.quiz.title))
        .bind(int4(quiz.quiz.questions.len(), "questions")?)
        .bind(document)
        .bind(int8(quiz.updated_ms))
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(Inserted::Yes)
    }

    async fn change_quiz(
        &self,
        teacher: TeacherId,
        id: QuizId,
        version: u32,
        quiz: &QuizDocument,
        now_ms: u64,
    ) -> Result<QuizChange, StoreError> {
        let document = to_json(quiz, "document")?;
        let mut lent = self.primary.lend().await?;
        let mut tx = lent.transaction().await?;
        take_turn(&mut tx, teacher.0).await?;
        let stored = sqlx::query("SELECT version FROM quizzes WHERE id = $1 AND teacher_id = $2")
            .bind(id.0)
            .bind(teacher.0)
            .fetch_optional(&mut *tx)
            .await
            .map_err(database)?;
        let Some(stored) = stored else {
            return Ok(QuizChange::Missing);
        };
        let stored: u32 = uint4(&stored, "version")?;
        if stored != version {
            return Ok(QuizChange::Stale(stored));
        }
        let next = version.saturating_add(1);
        sqlx::query(
            "UPDATE quizzes SET version = $1, title = $2, title_folded = $3, questions = $4, document = $5, updated_ms = $6
             WHERE id = $7",
        )
        .bind(int4(next, "version")?)
        .bind(&quiz.title)
        .bind(fold(&quiz.title))
        .bind(int4(quiz.questions.len(), "questions")?)
        .bind(document)
        .bind(int8(now_ms))
        .bind(id.0)
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(QuizChange::Changed(next))
    }

    async fn remove_quiz(&self, teacher: TeacherId, id: QuizId) -> Result<bool, StoreError> {
        let mut lent = self.primary.lend().await?;
        let mut tx = lent.transaction().await?;
        take_turn(&mut tx, teacher.0).await?;
        let done = sqlx::query("DELETE FROM quizzes WHERE id = $1 AND teacher_id = $2")
            .bind(id.0)
            .bind(teacher.0)
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        if done.rows_affected() == 0 {
            return Ok(false);
        }
        tx.commit().await.map_err(database)?;
        Ok(true)
    }
}

/// Rows of one step of [`fold_titles`].
const FOLDED_AT_ONCE: i64 = 1_000;

/// Folds the titles of quizzes that an earlier release stored, or one that is still running.
pub(super) async fn fold_titles(connection: &mut PgConnection) -> Result<(), StoreError> {
    let mut after = Uuid::nil();
    loop {
        let rows = sqlx::query(
            "SELECT id, title FROM quizzes WHERE id > $1 AND title_folded IS NULL ORDER BY id LIMIT $2",
        )
        .bind(after)
        .bind(FOLDED_AT_ONCE)
        .fetch_all(&mut *connection)
        .await
        .map_err(database)?;
        let mut ids = Vec::with_capacity(rows.len());
        let mut folded = Vec::with_capacity(rows.len());
        for row in &rows {
            ids.push(get::<Uuid>(row, "id")?);
            folded.push(fold(get(row, "title")?));
        }
        let Some(last) = ids.last() else { return Ok(()) };
        after = *last;
        sqlx::query(
            "UPDATE quizzes SET title_folded = f.folded
             FROM unnest($1::UUID[], $2::TEXT[]) f (id, folded) WHERE quizzes.id = f.id",
        )
        .bind(&ids)
        .bind(&folded)
        .execute(&mut *connection)
        .await
        .map_err(database)?;
    }
}

fn summary(row: &PgRow) -> Result<QuizSummary, StoreError> {
    Ok(QuizSummary {
        id: QuizId(get(row, "id")?),
        title: get(row, "title")?,
        questions: uint4(row, "questions")?,
        updated_ms: uint8(row, "updated_ms")?,
    })
}

fn full(row: &PgRow) -> Result<QuizResponse, StoreError> {
    Ok(QuizResponse {
        id: QuizId(get(row, "id")?),
        version: uint4(row, "version")?,
        updated_ms: uint8(row, "updated_ms")?,
        quiz: from_json(get(row, "document")?, "document")?,
    })
}
