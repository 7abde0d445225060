//! What a teacher's games came to: the dashboard and its history.

use axum::extract::State;
use protocol::rest::{DashboardResponse, HistoryResponse};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::admission::Class;
use crate::cache::{View, Written};
use crate::config::{DAYS_DEFAULT, DAYS_MAX};
use crate::extract::{Params, Teacher};
use crate::openapi::Verb::Get;
use crate::openapi::{About, Routes};
use crate::problem::Refusal;
use crate::service::Api;
use crate::store::DAY_MS;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .add(
            Some(Class::Read),
            (Get, "/quiz-usage/dashboard"),
            dashboard,
            &About::new("dashboard", "What the games of the last days came to.", &[]),
        )
        .add(
            Some(Class::Read),
            (Get, "/quiz-usage/history"),
            history,
            &About::new("history", "The same day by day.", &[]),
        )
}

/// `?days=30`
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct UsageParams {
    /// Whole days of UTC that are counted, today the last one; 30 unless it is said.
    #[schemars(range(min = 1, max = DAYS_MAX))]
    days: Option<u32>,
}

impl UsageParams {
    /// The days, and where the first of them begins.
    fn window(&self, now_ms: u64) -> Result<(u32, u64), Refusal> {
        let days = self.days.unwrap_or(DAYS_DEFAULT);
        if !(1..=DAYS_MAX).contains(&days) {
            return Err(Refusal::query(&format!("days is a number from 1 to {DAYS_MAX}")));
        }
        let today_ms = now_ms / DAY_MS * DAY_MS;
        Ok((days, today_ms.saturating_sub(u64::from(days - 1) * DAY_MS)))
    }
}

/// `GET /quiz-usage/dashboard`.
pub(super) async fn dashboard(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Params(params): Params<UsageParams>,
) -> Result<Written<DashboardResponse>, Refusal> {
    let (days, since_ms) = params.window(api.clock.now_ms())?;
    let read = async {
        let usage = api.store.usage(teacher, since_ms).await?;
        Ok(DashboardResponse {
            days,
            since_ms,
            quizzes: usage.quizzes,
            played: usage.played,
            most_played: usage.most_played,
        })
    };
    api.remembered(teacher, View::Dashboard { days, since_ms }, read)
        .await
}

/// `GET /quiz-usage/history`.
pub(super) async fn history(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Params(params): Params<UsageParams>,
) -> Result<Written<HistoryResponse>, Refusal> {
    let (days, since_ms) = params.window(api.clock.now_ms())?;
    let read = async {
        let items = api.store.usage_by_day(teacher, since_ms).await?;
        Ok(HistoryResponse {
            days,
            since_ms,
            items,
        })
    };
    api.remembered(teacher, View::History { days, since_ms }, read)
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_whole_and_today_is_the_last() {
        let window = |days| UsageParams { days }.window(100 * DAY_MS + 5).ok();
        assert_eq!(window(None), Some((30, 71 * DAY_MS)));
        assert_eq!(window(Some(1)), Some((1, 100 * DAY_MS)));
        assert_eq!(window(Some(366)), Some((366, 0)), "nothing was before 1970");
        assert_eq!(window(Some(0)), None);
        assert_eq!(window(Some(367)), None);
    }
}
