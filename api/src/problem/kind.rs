//! The kinds of refusals: status, stable code and title of each, as the public document tells them.

use axum::http::StatusCode;
use protocol::rest::{DIFFERENT_RESULT, NO_SUCH_QUIZ, QUOTA_EXCEEDED, SUPERSEDED_RESULT, UNKNOWN_TEACHER};

/// What kind of refusal it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    MalformedBody,
    MediaType,
    BodyTooLarge,
    BodyTimeout,
    BodyBroken,
    BadQuery,
    BadId,
    UnknownRoute,
    Method,
    TokenMissing,
    TokenInvalid,
    TokenExpired,
    Origin,
    BadCredentials,
    SessionEnded,
    ResetEnded,
    MailOff,
    BadEmail,
    BadPassword,
    BadName,
    EmailTaken,
    BadQuiz,
    NoSuchQuiz,
    NoSuchGame,
    NoSuchPlayer,
    NotShared,
    QuizLimit,
    VersionMissing,
    VersionMalformed,
    VersionStale,
    Import,
    Export,
    ServiceToken,
    UnknownTeacher,
    DifferentResult,
    SupersededResult,
    Busy,
    Quota,
    StorageFull,
    Internal,
}

impl Kind {
    /// HTTP status.
    pub(crate) fn status(self) -> StatusCode {
        self.facts().0
    }

    /// Stable code, kebab-case.
    pub(crate) fn code(self) -> &'static str {
        self.facts().1
    }

    /// Short name.
    pub(crate) fn title(self) -> &'static str {
        self.facts().2
    }

    #[rustfmt::skip]
    fn facts(self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::MalformedBody => (StatusCode::BAD_REQUEST, "malformed-body", "Malformed body"),
            Self::MediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type", "Unsupported media type"),
            Self::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", "Body too large"),
            Self::BodyTimeout => (StatusCode::REQUEST_TIMEOUT, "body-timeout", "Body too slow"),
            Self::BodyBroken => (StatusCode::BAD_REQUEST, "body-broken", "Body broke off"),
            Self::BadQuery => (StatusCode::BAD_REQUEST, "bad-query", "Malformed query"),
            Self::BadId => (StatusCode::BAD_REQUEST, "bad-id", "Malformed id"),
            Self::UnknownRoute => (StatusCode::NOT_FOUND, "unknown-route", "Unknown address"),
            Self::Method => (StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "Method not allowed"),
            Self::TokenMissing => (StatusCode::UNAUTHORIZED, "token-missing", "Not signed in"),
            Self::TokenInvalid => (StatusCode::UNAUTHORIZED, "token-invalid", "Not signed in"),
            Self::TokenExpired => (StatusCode::UNAUTHORIZED, "token-expired", "Sign-in expired"),
            Self::Origin => (StatusCode::FORBIDDEN, "origin-not-allowed", "Forbidden"),
            Self::BadCredentials => (StatusCode::UNAUTHORIZED, "bad-credentials", "Sign-in failed"),
            Self::SessionEnded => (StatusCode::UNAUTHORIZED, "session-ended", "Sign-in ended"),
            Self::ResetEnded => (StatusCode::GONE, "reset-ended", "Link ended"),
            Self::MailOff => (StatusCode::FORBIDDEN, "mail-off", "No mail"),
            Self::BadEmail => (StatusCode::UNPROCESSABLE_ENTITY, "bad-email", "E-mail address refused"),
            Self::BadPassword => (StatusCode::UNPROCESSABLE_ENTITY, "bad-password", "Password refused"),
            Self::BadName => (StatusCode::UNPROCESSABLE_ENTITY, "bad-name", "Name refused"),
            Self::EmailTaken => (StatusCode::CONFLICT, "email-taken", "Address taken"),
            Self::BadQuiz => (StatusCode::UNPROCESSABLE_ENTITY, "bad-quiz", "Quiz refused"),
            Self::NoSuchQuiz => (StatusCode::NOT_FOUND, NO_SUCH_QUIZ, "No such quiz"),
            Self::NoSuchGame => (StatusCode::NOT_FOUND, "no-such-game", "No such game"),
            Self::NoSuchPlayer => (StatusCode::NOT_FOUND, "no-such-player", "No such student"),
            Self::NotShared => (StatusCode::NOT_FOUND, "not-shared", "Not shared"),
            Self::QuizLimit => (StatusCode::FORBIDDEN, "quiz-limit", "Plan's limit reached"),
            Self::VersionMissing => (StatusCode::PRECONDITION_REQUIRED, "version-missing", "Version missing"),
            Self::VersionMalformed => (StatusCode::BAD_REQUEST, "version-malformed", "Malformed version"),
            Self::VersionStale => (StatusCode::PRECONDITION_FAILED, "version-stale", "Changed"),
            Self::Import => (StatusCode::UNPROCESSABLE_ENTITY, "import-refused", "File refused"),
            Self::Export => (StatusCode::UNPROCESSABLE_ENTITY, "export-refused", "Cannot be exported"),
            Self::ServiceToken => (StatusCode::UNAUTHORIZED, "service-token-invalid", "Refused"),
            Self::UnknownTeacher => (StatusCode::FORBIDDEN, UNKNOWN_TEACHER, "Unknown teacher"),
            Self::DifferentResult => (StatusCode::CONFLICT, DIFFERENT_RESULT, "Another result"),
            Self::SupersededResult => (StatusCode::CONFLICT, SUPERSEDED_RESULT, "Superseded result"),
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, "temporary-reduced-capacity", "Busy"),
            Self::Quota => (StatusCode::TOO_MANY_REQUESTS, QUOTA_EXCEEDED, "Too many requests"),
            Self::StorageFull => (StatusCode::INSUFFICIENT_STORAGE, "storage-full", "Disk full"),
            Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "internal-error", "Internal error"),
        }
    }
}
