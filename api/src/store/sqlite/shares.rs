//! Shared quizzes in SQLite.

use async_trait::async_trait;
use protocol::ids::{QuizId, ShareId, TeacherId};

use super::{SqliteStore, database, get, int, json, uint};
use crate::store::{ShareStore, SharedQuiz, StoreError};

#[async_trait]
impl ShareStore for SqliteStore {
    async fn share_quiz(
        &self,
        teacher: TeacherId,
        quiz: QuizId,
        fresh: ShareId,
        now_ms: u64,
    ) -> Result<Option<ShareId>, StoreError> {
        let mut tx = self.begin().await?;
        sqlx::query(
            "INSERT INTO quiz_shares (id, quiz_id, created_ms)
             SELECT ?, id, ? FROM quizzes WHERE id = ? AND teacher_id = ?
             ON CONFLICT (quiz_id) DO NOTHING",
        )
        .bind(fresh.0)
        .bind(int(now_ms))
        .bind(quiz.0)
        .bind(teacher.0)
        .execute(&mut *tx)
        .await
        .map_err(database)?;
        let share = sqlx::query(SHARE_OF)
            .bind(quiz.0)
            .bind(teacher.0)
            .fetch_optional(&mut *tx)
            .await
            .map_err(database)?;
        tx.commit().await.map_err(database)?;
        share.map(|row| Ok(ShareId(get(&row, "id")?))).transpose()
    }

    async fn share_of(&self, teacher: TeacherId, quiz: QuizId) -> Result<Option<ShareId>, StoreError> {
        let row = sqlx::query(SHARE_OF)
            .bind(quiz.0)
            .bind(teacher.0)
            .fetch_optional(&self.readers)
            .await
            .map_err(database)?;
        row.map(|row| Ok(ShareId(get(&row, "id")?))).transpose()
    }

    async fn unshare_quiz(&self, teacher: TeacherId, quiz: QuizId) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "DELETE FROM quiz_shares WHERE quiz_id IN (SELECT id FROM quizzes WHERE id = ? AND teacher_id = ?)",
        )
        .bind(quiz.0)
        .bind(teacher.0)
        .execute(&self.writer)
        .await
        .map_err(database)?;
        Ok(done.rows_affected() == 1)
    }

    async fn shared_quiz(&self, id: ShareId) -> Result<Option<SharedQuiz>, StoreError> {
        let row = sqlx::query(
            "SELECT t.name, q.updated_ms, q.document
             FROM quiz_shares s JOIN quizzes q ON q.id = s.quiz_id JOIN teachers t ON t.id = q.teacher_id
             WHERE s.id = ?",
        )
        .bind(id.0)
        .fetch_optional(&self.readers)
        .await
        .map_err(database)?;
        row.map(|row| {
            Ok(SharedQuiz {
                by: get(&row, "name")?,
                updated_ms: uint(&row, "updated_ms")?,
                quiz: json(&row, "document")?,
            })
        })
        .transpose()
    }
}

const SHARE_OF: &str = "SELECT s.id FROM quizzes q JOIN quiz_shares s ON s.quiz_id = q.id
     WHERE q.id = ? AND q.teacher_id = ?";
