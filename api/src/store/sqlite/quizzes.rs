//! Quizzes in SQLite.

use async_trait::async_trait;
use protocol::ids::{QuizId, TeacherId};
use protocol::quiz::QuizDocument;
use protocol::rest::{QuizResponse, QuizSummary};
use sqlx::sqlite::{SqlitePool, SqliteRow};
use uuid::Uuid;

use super::{SqliteStore, database, get, int, json, to_json, uint};
use crate::store::fold::fold;
use crate::store::{Inserted, PageKey, QuizChange, QuizStore, StoreError};

#[async_trait]
impl QuizStore for SqliteStore {
    async fn quizzes(
        &self,
        teacher: TeacherId,
        after: Option<PageKey>,
        limit: u32,
    ) -> Result<Vec<QuizSummary>, StoreError> {
        let rows = sqlx::query(
            "SELECT id, title, questions, updated_ms FROM quizzes
             WHERE teacher_id = ? AND (updated_ms, id) < (?, ?)
             ORDER BY updated_ms DESC, id DESC LIMIT ?",
        )
        .bind(teacher.0)
        .bind(after.map_or(i64::MAX, |key| int(key.at_ms)))
        .bind(after.map_or(uuid::Uuid::max(), |key| key.id))
        .bind(i64::from(limit))
        .fetch_all(&self.readers)
        .await
        .map_err(database)?;
        rows.iter().map(summary).collect()
    }

    async fn find_quizzes(
        &self,
        teacher: TeacherId,
        words: &[String],
        after: Option<PageKey>,
        limit: u32,
    ) -> Result<Vec<QuizSummary>, StoreError> {
        let words = to_json(&words, "words")?;
        let rows = sqlx::query(
            "SELECT id, title, questions, updated_ms FROM quizzes
             WHERE teacher_id = ? AND (updated_ms, id) < (?, ?)
               AND NOT EXISTS (SELECT 1 FROM json_each(?) w
                               WHERE instr(coalesce(title_folded, lower(title)), w.value) = 0)
             ORDER BY updated_ms DESC, id DESC LIMIT ?",
        )
        .bind(teacher.0)
        .bind(after.map_or(i64::MAX, |key| int(key.at_ms)))
        .bind(after.map_or(uuid::Uuid::max(), |key| key.id))
        .bind(words)
        .bind(i64::from(limit))
        .fetch_all(&self.readers)
        .await
        .map_err(database)?;
        rows.iter().map(summary).collect()
    }

    async fn insert_quiz(
        &self,
        teacher: TeacherId,
        quiz: &QuizResponse,
        quizzes_max: u32,
    ) -> Result<Inserted, StoreError> {
        let document = to_json(&quiz.quiz, "document")?;
        let mut tx = self.begin().await?;
        let stored: Option<i64> = sqlx::query_scalar(
            "SELECT (SELECT count(*) FROM quizzes q WHERE q.teacher_id = t.id) FROM teachers t WHERE t.id = ?",
        )
        .bind(teacher.0)
        .fetch_optional(&mut *tx)
        .await
        .map_err(database)?;
        let Some(stored) = stored else {
            return Ok(Inserted::NoTeacher);
        };
        if stored >= i64::from(quizzes_max) {
            return Ok(Inserted::Refused);
        }
        sqlx::query(
            "INSERT INTO quizzes (id, teacher_id, version, title, title_folded, questions, document, created_ms, updated_ms)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(quiz.id.0)
        .bind(teacher.0)
        .bind(i64::from(quiz.version))
        .bind(&quiz.quiz.title)
        .bind(fold(&quiz.quiz.title))
        .bind(count(&quiz.quiz))
        .bind(document)
        .bind(int(quiz.updated_ms))
        .bind(int(quiz.updated_ms))
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(Inserted::Yes)
    }

    async fn quiz(&self, teacher: TeacherId, id: QuizId) -> Result<Option<QuizResponse>, StoreError> {
        let row = sqlx::query(
            "SELECT id, version, updated_ms, document FROM quizzes WHERE id = ? AND teacher_id = ?",
        )
        .bind(id.0)
        .bind(teacher.0)
        .fetch_optional(&self.readers)
        .await
        .map_err(database)?;
        row.map(|row| full(&row)).transpose()
    }

    async fn update_quiz(
        &self,
        teacher: TeacherId,
        id: QuizId,
        version: u32,
        quiz: &QuizDocument,
        now_ms: u64,
    ) -> Result<QuizChange, StoreError> {
        let document = to_json(quiz, "document")?;
        let mut tx = self.begin().await?;
        let stored = sqlx::query("SELECT version FROM quizzes WHERE id = ? AND teacher_id = ?")
            .bind(id.0)
            .bind(teacher.0)
            .fetch_optional(&mut *tx)
            .await
            .map_err(database)?;
        let Some(stored) = stored else {
            return Ok(QuizChange::Missing);
        };
        let stored: u32 = uint(&stored, "version")?;
        if stored != version {
            return Ok(QuizChange::Stale(stored));
        }
        let next = version.saturating_add(1);
        sqlx::query(
            "UPDATE quizzes SET version = ?, title = ?, title_folded = ?, questions = ?, document = ?, updated_ms = ? WHERE id = ?",
        )
        .bind(i64::from(next))
        .bind(&quiz.title)
        .bind(fold(&quiz.title))
        .bind(count(quiz))
        .bind(document)
        .bind(int(now_ms))
        .bind(id.0)
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(QuizChange::Changed(next))
    }

    async fn delete_quiz(&self, teacher: TeacherId, id: QuizId) -> Result<bool, StoreError> {
        let done = sqlx::query("DELETE FROM quizzes WHERE id = ? AND teacher_id = ?")
            .bind(id.0)
            .bind(teacher.0)
            .execute(&self.writer)
            .await
            .map_err(database)?;
        Ok(done.rows_affected() == 1)
    }
}

/// Folds the titles of quizzes that an earlier release stored.
pub(super) async fn fold_titles(writer: &SqlitePool) -> Result<(), StoreError> {
    let rows = sqlx::query("SELECT id, title FROM quizzes WHERE title_folded IS NULL")
        .fetch_all(writer)
        .await
        .map_err(database)?;
    for row in &rows {
        let (id, title): (Uuid, String) = (get(row, "id")?, get(row, "title")?);
        sqlx::query("UPDATE quizzes SET title_folded = ? WHERE id = ?")
            .bind(fold(&title))
            .bind(id)
            .execute(writer)
            .await
            .map_err(database)?;
    }
    Ok(())
}

fn count(quiz: &QuizDocument) -> i64 {
    i64::try_from(quiz.questions.len()).unwrap_or(i64::MAX)
}

fn summary(row: &SqliteRow) -> Result<QuizSummary, StoreError> {
    Ok(QuizSummary {
        id: QuizId(get(row, "id")?),
        title: get(row, "title")?,
        questions: uint(row, "questions")?,
        updated_ms: uint(row, "updated_ms")?,
    })
}

fn full(row: &SqliteRow) -> Result<QuizResponse, StoreError> {
    Ok(QuizResponse {
        id: QuizId(get(row, "id")?),
        version: uint(row, "version")?,
        updated_ms: uint(row, "updated_ms")?,
        quiz: json(row, "document")?,
    })
}
