//! What happened to games, in PostgreSQL: a document beside each game.

use async_trait::async_trait;
use protocol::ids::TeacherId;
use protocol::timeline::GameTimeline;

use super::{CALL_MAX, PostgresStore, database, get};
use crate::store::documents::{from_json, to_json};
use crate::store::{StoreError, TIMELINES_MAX, TimelineStore, TimelinesOf};

#[async_trait]
impl TimelineStore for PostgresStore {
    async fn save_timeline(&self, timeline: &GameTimeline) -> Result<bool, StoreError> {
        // No turn is taken: nothing that a teacher's caches hold changes.
        let update = sqlx::query("UPDATE games SET timeline = $1 WHERE id = $2 AND code = $3")
            .bind(to_json(timeline, "timeline")?)
            .bind(timeline.game.0)
            .bind(timeline.code.as_str());
        let done = self.within(CALL_MAX, async {
            update
                .execute(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        Ok(done.await?.rows_affected() == 1)
    }

    async fn timelines(
        &self,
        teacher: Option<TeacherId>,
        of: TimelinesOf,
    ) -> Result<Vec<GameTimeline>, StoreError> {
        let query = match of {
            TimelinesOf::Game(id) => sqlx::query(
                "SELECT timeline FROM games WHERE id = $1 AND timeline IS NOT NULL
                 AND ($2::UUID IS NULL OR teacher_id = $2) LIMIT $3",
            )
            .bind(id.0),
            TimelinesOf::Code(code) => sqlx::query(
                "SELECT timeline FROM games WHERE code = $1 AND timeline IS NOT NULL
                 AND ($2::UUID IS NULL OR teacher_id = $2) ORDER BY ended_ms DESC LIMIT $3",
            )
            .bind(String::from(code)),
        };
        let query = query
            .bind(teacher.map(|teacher| teacher.0))
            .bind(i64::from(TIMELINES_MAX));
        let rows = self.within(CALL_MAX, async {
            query
                .fetch_all(&mut *self.primary.lend().await?)
                .await
                .map_err(database)
        });
        let timelines = rows.await?;
        let timelines = timelines
            .iter()
            .map(|row| from_json(get(row, "timeline")?, "timeline"));
        timelines.collect()
    }
}
