//! Refusals of the HTTP API, each with its stable code, status and one clear sentence (RFC 9457).

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::http::HeaderValue;
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use protocol::quiz::QuizError;
use protocol::rest::Problem;
use thiserror::Error;

use crate::admission::Shed;
use crate::config::RETRY_AFTER_S;
use crate::export::ExportError;
use crate::quota::Spent;
use crate::store::StoreError;

mod kind;

pub(crate) use kind::Kind;

/// Characters of somebody else's error message that a refusal repeats.
const REASON_CHARS_MAX: usize = 200;

/// Anything that went wrong on our side.
pub(crate) type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Why a call was refused. `Display` is the sentence that the client gets.
#[derive(Debug, Error)]
pub(crate) enum Refusal {
    #[error("The body is not what this call takes: {0}.")]
    MalformedBody(String),
    #[error("This call takes a body of the type application/json.")]
    MediaType,
    #[error("The body is larger than the {0} bytes that this call takes.")]
    BodyTooLarge(usize),
    #[error("The body did not arrive in time. Check the connection and try again.")]
    BodyTimeout,
    #[error("The body broke off before its end. Try again.")]
    BodyBroken,
    #[error("The query is not what this call takes: {0}.")]
    BadQuery(String),
    #[error("\"{0}\" is not an id; ids look like 3f2504e0-4f89-41d3-9a0c-0305e82c3301.")]
    BadId(String),
    #[error("There is nothing at this address.")]
    UnknownRoute,
    #[error("This address does not take this method.")]
    Method(Option<HeaderValue>),
    #[error("Sign in first: this call takes an access token as Authorization: Bearer.")]
    TokenMissing,
    #[error("The access token is not valid. Sign in again.")]
    TokenInvalid,
    #[error("The access token has expired. Refresh it.")]
    TokenExpired,
    #[error("Pages of this origin may not use this sign-in. Ask the operator to allow it.")]
    Origin,
    #[error("The e-mail address or the password is not right.")]
    BadCredentials,
    #[error("This sign-in has ended. Sign in again.")]
    SessionEnded,
    #[error("This link has been used, or its time is over. Ask for a new one.")]
    ResetEnded,
    #[error("This server sends no mail. Ask whoever runs it for a link.")]
    MailOff,
    #[error("The e-mail address cannot be used: {0}.")]
    BadEmail(String),
    #[error("A password has 8 to 256 characters; this one has {0}.")]
    BadPassword(usize),
    #[error("A name has 1 to 80 characters and no control characters.")]
    BadName,
    #[error("There is already an account with this e-mail address. Sign in instead.")]
    EmailTaken,
    #[error("The quiz cannot be saved: {0}.")]
    BadQuiz(#[from] QuizError),
    #[error("There is no such quiz.")]
    NoSuchQuiz,
    #[error("There is no such game.")]
    NoSuchGame,
    #[error("This game has no such student, or no longer.")]
    NoSuchPlayer,
    #[error("This quiz is not shared, or no longer. Ask whoever sent the link for a new one.")]
    NotShared,
    #[error("Your plan stores {0} quizzes, and you have as many. Delete one first.")]
    QuizLimit(u32),
    #[error("Say which version you change: send its number as If-Match.")]
    VersionMissing,
    #[error("If-Match takes the version as a number, such as \"3\".")]
    VersionMalformed,
    #[error("The quiz was changed elsewhere meanwhile; its version is {0} now. Load it again.")]
    VersionStale(u32),
    #[error("The file cannot be imported: {0}")]
    Import(String),
    #[error("The quiz cannot be exported: {0}.")]
    Export(#[from] ExportError),
    #[error("Internal calls need a service token signed with the shared secret.")]
    ServiceToken,
    #[error("This account does not exist any more.")]
    UnknownTeacher,
    #[error("Another result of this game is stored already.")]
    DifferentResult,
    #[error("Another server goes on with this game.")]
    SupersededResult,
    #[error("The server is busy right now. Try again in a moment.")]
    Busy,
    #[error("{} {} within {} s are as many as may be. Try again in {} s.", .0.max, .0.what, .0.window_s, .0.retry_after_s)]
    Quota(Spent),
    #[error("The server's disk is full, so nothing new can be stored. Tell whoever runs it.")]
    StorageFull(#[source] Fault),
    #[error("Something went wrong on our side. Try again in a moment.")]
    Internal(#[source] Fault),
}

impl Refusal {
    /// A fault on our side.
    pub(crate) fn internal(fault: impl Into<Fault>) -> Self {
        Self::Internal(fault.into())
    }

    /// A malformed body, with the beginning of the parser's reason.
    pub(crate) fn malformed(reason: &impl ToString) -> Self {
        Self::MalformedBody(shorten(&reason.to_string()))
    }

    /// A malformed query.
    pub(crate) fn query(reason: &impl ToString) -> Self {
        Self::BadQuery(shorten(&reason.to_string()))
    }

    /// A malformed id, with its beginning.
    pub(crate) fn id(text: &str) -> Self {
        Self::BadId(text.chars().take(40).collect())
    }

    /// What kind of refusal this is.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::MalformedBody(_) => Kind::MalformedBody,
            Self::MediaType => Kind::MediaType,
            Self::BodyTooLarge(_) => Kind::BodyTooLarge,
            Self::BodyTimeout => Kind::BodyTimeout,
            Self::BodyBroken => Kind::BodyBroken,
            Self::BadQuery(_) => Kind::BadQuery,
            Self::BadId(_) => Kind::BadId,
            Self::UnknownRoute => Kind::UnknownRoute,
            Self::Method(_) => Kind::Method,
            Self::TokenMissing => Kind::TokenMissing,
            Self::TokenInvalid => Kind::TokenInvalid,
            Self::TokenExpired => Kind::TokenExpired,
            Self::Origin => Kind::Origin,
            Self::BadCredentials => Kind::BadCredentials,
            Self::SessionEnded => Kind::SessionEnded,
            Self::ResetEnded => Kind::ResetEnded,
            Self::MailOff => Kind::MailOff,
            Self::BadEmail(_) => Kind::BadEmail,
            Self::BadPassword(_) => Kind::BadPassword,
            Self::BadName => Kind::BadName,
            Self::EmailTaken => Kind::EmailTaken,
            Self::BadQuiz(_) => Kind::BadQuiz,
            Self::NoSuchQuiz => Kind::NoSuchQuiz,
            Self::NoSuchGame => Kind::NoSuchGame,
            Self::NoSuchPlayer => Kind::NoSuchPlayer,
            Self::NotShared => Kind::NotShared,
            Self::QuizLimit(_) => Kind::QuizLimit,
            Self::VersionMissing => Kind::VersionMissing,
            Self::VersionMalformed => Kind::VersionMalformed,
            Self::VersionStale(_) => Kind::VersionStale,
            Self::Import(_) => Kind::Import,
            Self::Export(_) => Kind::Export,
            Self::ServiceToken => Kind::ServiceToken,
            Self::UnknownTeacher => Kind::UnknownTeacher,
            Self::DifferentResult => Kind::DifferentResult,
            Self::SupersededResult => Kind::SupersededResult,
            Self::Busy => Kind::Busy,
            Self::Quota(_) => Kind::Quota,
            Self::StorageFull(_) => Kind::StorageFull,
            Self::Internal(_) => Kind::Internal,
        }
    }

    /// Headers that a refusal's status calls for.
    fn decorate(&self, response: &mut Response) {
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        match self {
            Self::TokenMissing | Self::TokenInvalid | Self::TokenExpired | Self::ServiceToken => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::Busy => {
                headers.insert(RETRY_AFTER, HeaderValue::from(retry_after_s()));
            }
            Self::Quota(spent) => spent.decorate(headers),
            Self::Method(Some(allow)) => {
                headers.insert(ALLOW, allow.clone());
            }
            Self::MalformedBody(_)
            | Self::MediaType
            | Self::BodyTooLarge(_)
            | Self::BodyTimeout
            | Self::BodyBroken
            | Self::BadQuery(_)
            | Self::BadId(_)
            | Self::UnknownRoute
            | Self::Method(None)
            | Self::Origin
            | Self::BadCredentials
            | Self::SessionEnded
            | Self::ResetEnded
            | Self::MailOff
            | Self::BadEmail(_)
            | Self::BadPassword(_)
            | Self::BadName
            | Self::EmailTaken
            | Self::BadQuiz(_)
            | Self::NoSuchQuiz
            | Self::NoSuchGame
            | Self::NoSuchPlayer
            | Self::NotShared
            | Self::QuizLimit(_)
            | Self::VersionMissing
            | Self::VersionMalformed
            | Self::VersionStale(_)
            | Self::Import(_)
            | Self::Export(_)
            | Self::UnknownTeacher
            | Self::DifferentResult
            | Self::SupersededResult
            | Self::StorageFull(_)
            | Self::Internal(_) => {}
        }
    }
}

impl From<Shed> for Refusal {
    fn from(Shed: Shed) -> Self {
        Self::Busy
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy(_) => Self::Busy,
            StoreError::Away(_) | StoreError::Silent => {
                // Whoever watches the readiness is told of an outage once; here it would be said by every request.
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "no answer from the database"
                );
                Self::Busy
            }
            StoreError::Full(_) => Self::StorageFull(error.into()),
            StoreError::Database(_)
            | StoreError::Migrate(_)
            | StoreError::SchemaOlder
            | StoreError::SchemaNewer
            | StoreError::Range { .. }
            | StoreError::Corrupt { .. } => Self::internal(error),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let kind = self.kind();
        let status = kind.status();
        if let Self::Internal(fault) | Self::StorageFull(fault) = &self {
            // The one place where a fault is logged; the client gets no detail of it.
            tracing::error!(error = fault.as_ref(), "request failed");
        }
        let problem = Problem {
            code: kind.code().to_owned(),
            status: status.as_u16(),
            title: kind.title().to_owned(),
            detail: self.to_string(),
        };
        let mut response = (status, axum::Json(problem)).into_response();
        self.decorate(&mut response);
        response
    }
}

/// The next of [`RETRY_AFTER_S`].
fn retry_after_s() -> u32 {
    static TOLD: AtomicUsize = AtomicUsize::new(0);
    RETRY_AFTER_S[TOLD.fetch_add(1, Ordering::Relaxed) % RETRY_AFTER_S.len()]
}

fn shorten(reason: &str) -> String {
    reason
        .chars()
        .filter(|c| !c.is_control())
        .take(REASON_CHARS_MAX)
        .collect()
}
