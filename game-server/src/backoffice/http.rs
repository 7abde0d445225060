//! The API over HTTP: the internal calls of a game server that runs as a process of its own.
//!
//! On hyper-util's pooling client: hyper is what the listener is built on already, the calls stay within the cluster's
//! network and need neither TLS nor redirects nor cookies, so a larger client would bring only code.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use protocol::ids::{GameId, QuizId, TeacherId};
use protocol::rest::{
    DIFFERENT_RESULT, HasResultRequest, HasResultResponse, NO_SUCH_QUIZ, PlanCheckRequest, PlanCheckResponse,
    Problem, QUOTA_EXCEEDED, ReserveEpochRequest, ReserveEpochResponse, SUPERSEDED_RESULT, UNKNOWN_TEACHER,
};
use protocol::result::GameResult;
use protocol::timeline::GameTimeline;
use runtime::secret::Secret;
use serde::Serialize;
use thiserror::Error;
use tokio::sync::Semaphore;

use super::{Backoffice, BackofficeError, BackofficeFuture, PlanGrant, Reserved};
use crate::tokens::{KeysError, ServiceSigner, TokenError};

/// Time for a plan check: a teacher waits in front of the class, and the page tries again.
const PLAN_CHECK_TIME_MAX: Duration = Duration::from_secs(2);
/// Time for a question about a game: it reads or writes one row.
const GAME_TIME_MAX: Duration = Duration::from_secs(2);
/// Time for one attempt to save a result: the largest has 10 MB and is written in one transaction. Nobody waits.
const RESULT_TIME_MAX: Duration = Duration::from_secs(5);
/// Time to connect, within the above: an address that swallows packets must not use up a call's time.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(1);
/// How long an unused connection is kept. Shorter than the 30 s after which our listeners close one, so that a call does
/// not start on a connection that is being closed.
const IDLE_MAX: Duration = Duration::from_secs(20);
/// Connections kept unused: plan checks of a school's nine o'clock.
const IDLE_CONNECTIONS_MAX: usize = 8;
/// Results on their way at once. When the API comes back after an hour, all of the hour's games want to save; the API
/// writes one at a time, and each result in flight is a body in memory.
const RESULTS_AT_ONCE_MAX: usize = 4;
/// Bytes of an answer: a plan check brings a quiz, which has 4 MiB at most.
const ANSWER_BYTES_MAX: usize = 5 * 1024 * 1024;

/// Seconds to wait when the API does not say: the length of its window.
const RETRY_AFTER_S_UNSAID: u64 = 60;

/// The API at its internal listener.
pub struct HttpBackoffice {
    client: Client<HttpConnector, Full<Bytes>>,
    base: String,
    signer: ServiceSigner,
    saving: Semaphore,
}

/// Why a call came to nothing; the same call may succeed later.
#[derive(Debug, Error)]
enum CallError {
    #[error("the call cannot be put together")]
    Request(#[source] http::Error),
    #[error("the body cannot be written as JSON")]
    Encode(#[source] serde_json::Error),
    #[error("the service token cannot be signed")]
    Sign(#[source] TokenError),
    #[error("the API could not be reached")]
    Send(#[source] hyper_util::client::legacy::Error),
    #[error("the API's answer broke off")]
    Read(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the API did not answer in time")]
    Timeout,
    #[error("the API answered {status} ({code})")]
    Status { status: StatusCode, code: String },
    #[error("the API's answer cannot be read")]
    Decode(#[source] serde_json::Error),
}

impl From<CallError> for BackofficeError {
    fn from(error: CallError) -> Self {
        Self::Unavailable(Box::new(error))
    }
}

impl HttpBackoffice {
    /// Calls the API at `base`, an origin such as `http://api:8082`, as the server `name`, and signs with `secret`.
    ///
    /// # Errors
    /// When the secret cannot be signed with.
    pub fn new(base: &str, name: String, secret: &Secret) -> Result<Self, KeysError> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT_TIME_MAX));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_MAX)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .build(connector);
        Ok(Self {
            client,
            base: base.trim_end_matches('/').to_owned(),
            signer: ServiceSigner::new(name, secret)?,
            saving: Semaphore::new(RESULTS_AT_ONCE_MAX),
        })
    }

    /// Posts `body`; a success gives the answer's bytes.
    async fn post(
        &self,
        path: &str,
        body: &impl Serialize,
        time_max: Duration,
    ) -> Result<Bytes, BackofficeError> {
        let body = serde_json::to_vec(body).map_err(CallError::Encode)?;
        let token = self.signer.sign().map_err(CallError::Sign)?;
        let request = Request::post(format!("{}{path}", self.base))
            .header(CONTENT_TYPE, "application/json")
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .body(Full::from(body))
            .map_err(CallError::Request)?;
        let call = async {
            let answer = self.client.request(request).await.map_err(CallError::Send)?;
            let status = answer.status();
            let retry_after_s = answer.headers().get(RETRY_AFTER);
            let retry_after_s = retry_after_s.and_then(|value| value.to_str().ok()?.parse().ok());
            let bytes = Limited::new(answer.into_body(), ANSWER_BYTES_MAX)
                .collect()
                .await
                .map_err(CallError::Read)?
                .to_bytes();
            Ok::<_, CallError>((status, retry_after_s, bytes))
        };
        let (status, retry_after_s, bytes) = tokio::time::timeout(time_max, call)
            .await
            .map_err(|_elapsed| CallError::Timeout)??;
        if status.is_success() {
            Ok(bytes)
        } else {
            Err(refusal(status, retry_after_s, &bytes))
        }
    }
}

/// Only these codes are final. Everything else is "later": a wrong secret, an older API, a proxy in between are an
/// operator's to repair, and no finished game may be lost until then.
fn refusal(status: StatusCode, retry_after_s: Option<u64>, body: &[u8]) -> BackofficeError {
    let problem: Option<Problem> = serde_json::from_slice(body).ok();
    match problem {
        Some(problem) if problem.code == NO_SUCH_QUIZ => BackofficeError::NotFound,
        Some(problem) if [UNKNOWN_TEACHER, DIFFERENT_RESULT].contains(&problem.code.as_str()) => {
            BackofficeError::Refused {
                code: problem.code,
                detail: problem.detail,
            }
        }
        Some(problem) if problem.code == SUPERSEDED_RESULT => BackofficeError::Superseded,
        Some(problem) if problem.code == QUOTA_EXCEEDED => BackofficeError::TooMany {
            detail: problem.detail,
            retry_after_s: retry_after_s.unwrap_or(RETRY_AFTER_S_UNSAID),
        },
        Some(Problem { code, .. }) => CallError::Status { status, code }.into(),
        None => CallError::Status {
            status,
            code: "no problem document".to_owned(),
        }
        .into(),
    }
}

impl Backoffice for HttpBackoffice {
    fn plan_check(&self, teacher: TeacherId, quiz: Option<QuizId>) -> BackofficeFuture<'_, PlanGrant> {
        Box::pin(async move {
            let asked = PlanCheckRequest { teacher, quiz };
            let bytes = self
                .post("/internal/plan-check", &asked, PLAN_CHECK_TIME_MAX)
                .await?;
            let granted: PlanCheckResponse = serde_json::from_slice(&bytes).map_err(CallError::Decode)?;
            Ok(PlanGrant {
                players_max: granted.players_max,
                quiz: quiz.zip(granted.quiz),
            })
        })
    }

    fn save_result<'a>(&'a self, result: &'a GameResult, epoch: u32) -> BackofficeFuture<'a, ()> {
        Box::pin(async move {
            // Never closed, so there is always a permit to wait for; the caller bounds the wait.
            let _permit = self.saving.acquire().await;
            self.post(
                &format!("/internal/results?epoch={epoch}"),
                result,
                RESULT_TIME_MAX,
            )
            .await
            .map(drop)
        })
    }

    fn reserve_epoch(&self, game: GameId, above: u32) -> BackofficeFuture<'_, Reserved> {
        Box::pin(async move {
            let asked = ReserveEpochRequest { game, above };
            let bytes = self.post("/internal/games/epoch", &asked, GAME_TIME_MAX).await?;
            let reserved: ReserveEpochResponse = serde_json::from_slice(&bytes).map_err(CallError::Decode)?;
            Ok(reserved.epoch.map_or(Reserved::Over, Reserved::Epoch))
        })
    }

    fn has_result(&self, game: GameId) -> BackofficeFuture<'_, bool> {
        Box::pin(async move {
            let asked = HasResultRequest { game };
            let bytes = self
                .post("/internal/games/has-result", &asked, GAME_TIME_MAX)
                .await?;
            let known: HasResultResponse = serde_json::from_slice(&bytes).map_err(CallError::Decode)?;
            Ok(known.has_result)
        })
    }

    fn save_timeline<'a>(&'a self, timeline: &'a GameTimeline) -> BackofficeFuture<'a, ()> {
        Box::pin(async move {
            let _permit = self.saving.acquire().await;
            self.post("/internal/timelines", timeline, RESULT_TIME_MAX)
                .await
                .map(drop)
        })
    }
}

impl fmt::Debug for HttpBackoffice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpBackoffice")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
