//! Answers of one teacher's reads, kept until something of that teacher's changes.
//!
//! An answer is kept with the version that [`Shared::version`](crate::shared::Shared::version) gave before the database was
//! asked, and is good while the version stays. So nobody is ever shown what was true before a change that was answered.

use std::marker::PhantomData;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use protocol::ids::TeacherId;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use runtime::metrics::{Counter, inc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::openapi::{Answers, Operation, Schemas};
use crate::problem::Refusal;
use crate::service::Api;
use crate::store::PageKey;

/// Bytes of answers kept: five of some kB for each of several thousand teachers.
const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// What one answer takes beside its own bytes: key, places in the tables.
const OVERHEAD_BYTES: u64 = 200;
/// Answers expected, for the tables' first size.
const ANSWERS_EXPECTED: usize = 20_000;
/// How long an answer is good at most. Only matters after a process was killed between storing a change and saying so.
const LIFE_MAX: Duration = Duration::from_secs(30);

/// Which answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum View {
    /// The account.
    Me,
    /// Counts since this time.
    Dashboard { days: u32, since_ms: u64 },
    /// Counts by day since this time.
    History { days: u32, since_ms: u64 },
    /// A page of the library.
    Quizzes { after: Option<PageKey>, limit: u32 },
}

/// The answers kept.
pub(crate) struct ReadCache(Cache<(TeacherId, View), Kept, ByBytes>);

#[derive(Clone)]
struct Kept {
    version: u64,
    since: Instant,
    body: Bytes,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<(TeacherId, View), Kept> for ByBytes {
    fn weight(&self, _key: &(TeacherId, View), kept: &Kept) -> u64 {
        OVERHEAD_BYTES.saturating_add(u64::try_from(kept.body.len()).unwrap_or(u64::MAX))
    }
}

impl ReadCache {
    pub(crate) fn new() -> Self {
        Self(Cache::with_weighter(ANSWERS_EXPECTED, BYTES_MAX, ByBytes))
    }
}

/// A `T` that was written as JSON before.
pub(crate) struct Written<T>(Bytes, PhantomData<fn() -> T>);

impl<T> Written<T> {
    fn new(json: Bytes) -> Self {
        Self(json, PhantomData)
    }

    /// Written for this answer alone.
    pub(crate) fn now(answer: &T) -> Result<Self, Refusal>
    where
        T: Serialize,
    {
        let json = serde_json::to_vec(answer).map_err(Refusal::internal)?;
        Ok(Self::new(json.into()))
    }
}

impl<T: JsonSchema> Answers for Written<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        axum::Json::<T>::describe(operation, schemas);
    }
}

impl<T> IntoResponse for Written<T> {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

impl Api {
    /// The kept answer, or what `read` says.
    pub(crate) async fn remembered<T: Serialize>(
        &self,
        teacher: TeacherId,
        view: View,
        read: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<Written<T>, Refusal> {
        let version = self.shared.version(teacher).await;
        let kept = version.and_then(|version| {
            let kept = self.cache.0.get(&(teacher, view))?;
            (kept.version == version && kept.since.elapsed() < LIFE_MAX).then_some(kept.body)
        });
        if let Some(body) = kept {
            inc(Counter::ApiReadsRememberedTotal);
            return Ok(Written::new(body));
        }
        let answer = read.await?;
        let body: Bytes = serde_json::to_vec(&answer).map_err(Refusal::internal)?.into();
        if let Some(version) = version {
            let kept = Kept {
                version,
                since: Instant::now(),
                body: body.clone(),
            };
            self.cache.0.insert((teacher, view), kept);
        }
        Ok(Written::new(body))
    }

    /// Does what changes something of this teacher's, and then says so to all processes. It is a task of its own: a client that
    /// leaves in between must not leave a change behind that nobody was told of. `permit`, or what holds it, is kept until then: a change
    /// whose client left uses the database all the same.
    pub(crate) async fn changing<T: Send + 'static>(
        &self,
        permit: impl Send + 'static,
        teacher: TeacherId,
        change: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let shared = self.shared.clone();
        let task = tokio::spawn(async move {
            let done = change.await;
            // Also after a failure: a commit may have happened although its answer was lost.
            shared.changed(teacher).await;
            drop(permit);
            done
        });
        match task.await {
            Ok(done) => done,
            Err(broken) => std::panic::resume_unwind(broken.into_panic()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::oneshot;
    use uuid::Uuid;

    use super::*;
    use crate::admission::Class;
    use crate::store::SqliteStore;
    use crate::{Config, Keys};

    #[tokio::test]
    async fn a_change_keeps_its_permit_when_its_client_has_left() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("api.db")).await.unwrap();
        let config = Config {
            permits: 1,
            ..Config::default()
        };
        let api = Api::open(config, Arc::new(store), Keys::generate().unwrap());
        let permit = api.admission.acquire(Class::Edit).await.ok().unwrap();
        let (begun, has_begun) = oneshot::channel();
        let (end, may_end) = oneshot::channel();
        let change = api.changing(permit, TeacherId(Uuid::nil()), async move {
            begun.send(()).unwrap();
            may_end.await.unwrap();
        });
        // The client leaves in the middle.
        tokio::select! {
            () = change => panic!("it has not ended"),
            begun = has_begun => begun.unwrap(),
        }
        assert!(
            api.admission.acquire(Class::Read).await.is_err(),
            "the database is in use"
        );
        end.send(()).unwrap();
        let free = async { while api.admission.acquire(Class::Read).await.is_err() {} };
        tokio::time::timeout(Duration::from_secs(20), free).await.unwrap();
    }
}
