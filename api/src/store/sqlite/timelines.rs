//! What happened to games, in SQLite: a document beside each game.

use async_trait::async_trait;
use protocol::ids::TeacherId;
use protocol::timeline::GameTimeline;

use super::{SqliteStore, database, json, to_json};
use crate::store::{StoreError, TIMELINES_MAX, TimelineStore, TimelinesOf};

#[async_trait]
impl TimelineStore for SqliteStore {
    async fn save_timeline(&self, timeline: &GameTimeline) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let done = sqlx::query("UPDATE games SET timeline = ? WHERE id = ? AND code = ?")
            .bind(to_json(timeline, "timeline")?)
            .bind(timeline.game.0)
            .bind(timeline.code.as_str())
            .execute(&mut *tx)
            .await
            .map_err(database)?;
        tx.commit().await.map_err(database)?;
        Ok(done.rows_affected() == 1)
    }

    async fn timelines(
        &self,
        teacher: Option<TeacherId>,
        of: TimelinesOf,
    ) -> Result<Vec<GameTimeline>, StoreError> {
        let query = match of {
            TimelinesOf::Game(id) => sqlx::query(
                "SELECT timeline FROM games WHERE id = ?1 AND timeline IS NOT NULL
                 AND (?2 IS NULL OR teacher_id = ?2) LIMIT ?3",
            )
            .bind(id.0),
            TimelinesOf::Code(code) => sqlx::query(
                "SELECT timeline FROM games WHERE code = ?1 AND timeline IS NOT NULL
                 AND (?2 IS NULL OR teacher_id = ?2) ORDER BY ended_ms DESC LIMIT ?3",
            )
            .bind(String::from(code)),
        };
        let rows = query
            .bind(teacher.map(|teacher| teacher.0))
            .bind(i64::from(TIMELINES_MAX))
            .fetch_all(&self.readers)
            .await
            .map_err(database)?;
        rows.iter().map(|row| json(row, "timeline")).collect()
    }
}
