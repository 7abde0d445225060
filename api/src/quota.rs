//! A teacher's own limits, and what is said to somebody who reached one.

use std::time::Duration;

use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use protocol::ids::TeacherId;
use runtime::metrics::{Counter, inc};

use crate::config::QUOTA_WINDOW;
use crate::service::Api;
use crate::shared::{Counted, Quota, Verdict};

/// The headers of draft-ietf-httpapi-ratelimit-headers-10.
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// A quota that is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) what: &'static str,
    pub(crate) max: u32,
    pub(crate) window_s: u64,
    /// At least one.
    pub(crate) retry_after_s: u64,
}

impl Spent {
    /// Of games, as a plan check says it.
    pub(crate) fn games(max: u32, retry_after_s: u64) -> Self {
        Self {
            what: Counted::Games.name(),
            max,
            window_s: QUOTA_WINDOW.as_secs(),
            retry_after_s,
        }
    }

    pub(crate) fn decorate(&self, headers: &mut HeaderMap) {
        let Self {
            what,
            max,
            window_s,
            retry_after_s,
        } = self;
        headers.insert(RETRY_AFTER, HeaderValue::from(*retry_after_s));
        for (name, value) in [
            (POLICY, format!("\"{what}\";q={max};w={window_s}")),
            (LIMIT, format!("\"{what}\";r=0;t={retry_after_s}")),
        ] {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
    }
}

impl Api {
    /// Counts one more for this teacher.
    ///
    /// # Errors
    /// When there were as many as one may.
    pub(crate) async fn count(&self, teacher: TeacherId, counted: Counted) -> Result<(), Spent> {
        let max = match counted {
            Counted::Requests => self.config.teacher_requests_max,
            Counted::Games => self.config.teacher_games_max,
        };
        let quota = Quota {
            max,
            window: QUOTA_WINDOW,
        };
        match self.shared.count(teacher, counted, quota).await {
            Verdict::Within => Ok(()),
            Verdict::Spent(left) => {
                inc(Counter::ApiQuotaSpentTotal);
                Err(Spent {
                    what: counted.name(),
                    max,
                    window_s: QUOTA_WINDOW.as_secs(),
                    retry_after_s: whole_seconds(left),
                })
            }
        }
    }
}

/// Rounded up: who comes back after this time finds the window over.
fn whole_seconds(left: Duration) -> u64 {
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}
