//! The copy of the database that counts are read from, as long as it answers and is up to date.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use protocol::ids::TeacherId;
use runtime::metrics::{Counter, inc};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Postgres, Transaction};

use super::pool::{Lent, Patience, Pool};
use super::{ACQUIRE_MAX, BACK_MAX, PostgresStore, database};
use crate::store::StoreError;

/// Time for the copy to show how far it is; the primary is asked after that.
pub(super) const COPY_MAX: Duration = Duration::from_millis(250);
/// Time for a count in the copy: what is left of a call's time is the primary's.
const COUNT_MAX: Duration = Duration::from_secs(1);
/// How long a copy that did not answer is left alone. Then one call tries it: of all the others, whose permits would be held
/// meanwhile, none pays for it.
const REST_MS: u64 = 5_000;

/// A copy that may lag, and may be away.
#[derive(Debug, Clone)]
pub(super) struct Replica {
    pool: Pool,
    started: Instant,
    /// Milliseconds since `started`; zero while it answers.
    resting_until_ms: Arc<AtomicU64>,
}

/// A copy at hand, and how far it must be.
#[derive(Debug)]
pub(super) struct Copy {
    replica: Replica,
    lent: Lent,
    wanted: Option<i64>,
}

impl Replica {
    /// Not asked yet: an absent copy is no reason not to start.
    pub(super) fn lazy(connections: u32, server: PgConnectOptions) -> Self {
        let patience = Patience {
            acquire: ACQUIRE_MAX,
            back: BACK_MAX,
        };
        Self {
            pool: Pool::lazy(connections, patience, server),
            started: Instant::now(),
            resting_until_ms: Arc::default(),
        }
    }

    pub(super) async fn close(&self) {
        self.pool.close().await;
    }

    /// Whether to ask it: always while it answers, and one call of many when it has rested.
    fn is_due(&self) -> bool {
        let until_ms = self.resting_until_ms.load(Ordering::Relaxed);
        let now_ms = self.now_ms();
        let next_ms = now_ms.saturating_add(REST_MS);
        until_ms == 0
            || (now_ms >= until_ms
                && self
                    .resting_until_ms
                    .compare_exchange(until_ms, next_ms, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok())
    }

    fn answered(&self) {
        self.resting_until_ms.store(0, Ordering::Relaxed);
    }

    fn missed(&self, why: &StoreError) {
        tracing::debug!(error = why as &dyn std::error::Error, "the copy does not answer");
        self.pool.suspect();
        let until_ms = self.now_ms().saturating_add(REST_MS);
        self.resting_until_ms.store(until_ms, Ordering::Relaxed);
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl PostgresStore {
    /// A connection to the copy, if there is one that answered lately. Asks the primary how far it must be: to every change to this
    /// teacher's quizzes and games that was answered.
    pub(super) async fn copy(&self, teacher: TeacherId) -> Result<Option<Copy>, StoreError> {
        let Some(replica) = &self.replica else {
            return Ok(None);
        };
        if !replica.is_due() {
            inc(Counter::ApiCopyPassedTotal);
            return Ok(None);
        }
        let wanted = revision(&mut *self.primary.lend().await?, teacher).await;
        let wanted = wanted.map_err(database)?;
        match replica.pool.lend().await {
            Ok(lent) => Ok(Some(Copy {
                replica: replica.clone(),
                lent,
                wanted,
            })),
            Err(error) => {
                replica.missed(&error);
                inc(Counter::ApiCopyPassedTotal);
                Ok(None)
            }
        }
    }

    /// What was counted in the copy; none when it failed, or took too long.
    pub(super) async fn counted_in_copy<T>(
        &self,
        count: impl Future<Output = Result<T, StoreError>>,
    ) -> Option<T> {
        let counted = tokio::time::timeout(COUNT_MAX, count).await;
        match (counted.unwrap_or(Err(StoreError::Silent)), &self.replica) {
            (Ok(counted), _) => Some(counted),
            (Err(error), Some(replica)) => {
                replica.missed(&error);
                None
            }
            (Err(_), None) => None,
        }
    }
}

impl Copy {
    /// A moment of the copy that has all that it must have. None when it lags, or does not answer: the primary can always be asked.
    pub(super) async fn up_to_date(&mut self, teacher: TeacherId) -> Option<Transaction<'_, Postgres>> {
        let lent = &mut self.lent;
        let copied = tokio::time::timeout(COPY_MAX, async {
            let mut moment = lent.moment().await?;
            let copied = revision(&mut moment, teacher).await.map_err(database)?;
            Ok((copied, moment))
        });
        match copied.await.unwrap_or(Err(StoreError::Silent)) {
            Ok((copied, moment)) => {
                self.replica.answered();
                let used = copied >= self.wanted;
                inc(if used {
                    Counter::ApiCopyUsedTotal
                } else {
                    Counter::ApiCopyPassedTotal
                });
                used.then_some(moment)
            }
            Err(error) => {
                self.replica.missed(&error);
                inc(Counter::ApiCopyPassedTotal);
                None
            }
        }
    }
}

async fn revision(db: &mut PgConnection, teacher: TeacherId) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar("SELECT revision FROM teachers WHERE id = $1")
        .bind(teacher.0)
        .fetch_optional(db)
        .await
}
