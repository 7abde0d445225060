//! Shared quizzes in PostgreSQL.

use async_trait::async_trait;
use protocol::ids::{QuizId, ShareId, TeacherId};
use sqlx::postgres::PgRow;

use super::{CALL_MAX, PostgresStore, database, get, int8, take_turn, uint8};
use crate::store::documents::from_json;
use crate::store::{ShareStore, SharedQuiz, StoreError};

const SHARE_OF: &str = "SELECT s.id FROM quizzes q JOIN quiz_shares s ON s.quiz_id = q.id
     WHERE q.id = $1 AND q.teacher_id = $2";

#[async_trait]
impl ShareStore for PostgresStore {
    async fn share_quiz(
        &self,
        teacher: TeacherId,
        quiz: QuizId,
        fresh: ShareId,
        now_ms: u64,
    ) -> Result<Option<ShareId>, StoreError> {
        self.within(CALL_MAX, self.add_share(teacher, quiz, fresh, now_ms))
            .await
    }

    async fn share_of(&self, teacher: TeacherId, quiz: QuizId) -> Result<Option<ShareId>, StoreError> {
        let query = sqlx::query(SHARE_OF).bind(quiz.0).bind(teacher.0);
        let row = self.within(CALL_MAX, async {
            query
                .fetch_optional(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        row.await?.map(|row| Ok(ShareId(get(&row, "id")?))).transpose()
    }

    async fn unshare_quiz(&self, teacher: TeacherId, quiz: QuizId) -> Result<bool, StoreError> {
        let delete = sqlx::query(
            "DELETE FROM quiz_shares s USING quizzes q WHERE s.quiz_id = $1 AND q.id = s.quiz_id AND q.teacher_id = $2",
        )
        .bind(quiz.0)
        .bind(teacher.0);
        let done = self.within(CALL_MAX, async {
            delete
                .execute(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        Ok(done.await?.rows_affected() == 1)
    }

    async fn shared_quiz(&self, id: ShareId) -> Result<Option<SharedQuiz>, StoreError> {
        let query = sqlx::query(
            "SELECT t.name, q.updated_ms, q.document
             FROM quiz_shares s JOIN quizzes q ON q.id = s.quiz_id JOIN teachers t ON t.id = q.teacher_id
             WHERE s.id = $1",
        )
        .bind(id.0);
        let row = self.within(CALL_MAX, async {
            query
                .fetch_optional(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        row.await?.map(|row| shared(&row)).transpose()
    }
}

impl PostgresStore {
    async fn add_share(
        &self,
        teacher: TeacherId,
        quiz: QuizId,
        fresh: ShareId,
        now_ms: u64,
    ) -> Result<Option<ShareId>, StoreError> {
        let mut lent = self.primary.lend().await?;
        let mut tx = lent.transaction().await?;
        // In turn, so that the quiz is not deleted in between.
        take_turn(&mut tx, teacher.0).await?;
        sqlx::query(
            "INSERT INTO quiz_shares (id, quiz_id, created_ms)
             SELECT $1, id, $2 FROM quizzes WHERE id = $3 AND teacher_id = $4
             ON CONFLICT (quiz_id) DO NOTHING",
        )
        .bind(fresh.0)
        .bind(int8(now_ms))
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
}

fn shared(row: &PgRow) -> Result<SharedQuiz, StoreError> {
    Ok(SharedQuiz {
        by: get(row, "name")?,
        updated_ms: uint8(row, "updated_ms")?,
        quiz: from_json(get(row, "document")?, "document")?,
    })
}
