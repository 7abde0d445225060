//! Refused HTTP calls as `application/problem+json`, each with a stable code and a sentence.

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use protocol::rest::{Problem, QUOTA_EXCEEDED};

use crate::ambient::Ambient;

/// A refusal on its way to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: StatusCode,
    code: String,
    title: &'static str,
    detail: String,
    /// When to come back, if that is known.
    retry_after_s: Option<u64>,
}

impl Refusal {
    pub(crate) fn new(
        status: StatusCode,
        code: impl Into<String>,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            status,
            code: code.into(),
            title,
            detail: detail.into(),
            retry_after_s: None,
        }
    }

    pub(crate) fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, "Bad request", detail)
    }

    pub(crate) fn bad_game_key() -> Self {
        Self::bad_request(
            "bad-game-key",
            "The address needs exactly one g= with a game code of six upper-case symbols.",
        )
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "Unauthorized",
            "The access token is missing, invalid or expired. Sign in again.",
        )
    }

    pub(crate) fn body_timeout() -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "body-timeout",
            "Body too slow",
            "The body did not arrive in time. Check the connection and try again.",
        )
    }

    pub(crate) fn unknown_route() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "unknown-route",
            "Unknown address",
            "There is nothing at this address.",
        )
    }

    pub(crate) fn method() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method-not-allowed",
            "Method not allowed",
            "This address does not take this method.",
        )
    }

    pub(crate) fn origin() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "origin-not-allowed",
            "Forbidden",
            "Pages of this origin may not open a game. Ask the operator to allow it.",
        )
    }

    /// The same for every code that leads to no game, so that nothing can be learned by trying.
    pub(crate) fn no_such_game() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "no-such-game",
            "Not found",
            "There is no game with this code. Check the code on the board.",
        )
    }

    /// The same for every code, so that nothing can be learned by trying on.
    pub(crate) fn too_many_wrong_codes() -> Self {
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too-many-wrong-codes",
            "Too many wrong codes",
            "Too many wrong codes were tried from this network. Try again in a moment.",
        )
    }

    /// This teacher's own limit, as the API says it.
    pub(crate) fn too_many_games(detail: String, retry_after_s: u64) -> Self {
        Self {
            retry_after_s: Some(retry_after_s),
            ..Self::new(
                StatusCode::TOO_MANY_REQUESTS,
                QUOTA_EXCEEDED,
                "Too many games",
                detail,
            )
        }
    }

    /// A game that the log holds and this server cannot read.
    pub(crate) fn game_lost() -> Self {
        Self::new(
            StatusCode::GONE,
            "game-lost",
            "Gone",
            "This game could not be brought back after the server failed. Start a new one.",
        )
    }

    /// To a proxy that follows: another server has the game.
    pub(crate) fn misdirected() -> Self {
        Self::new(
            StatusCode::MISDIRECTED_REQUEST,
            "game-elsewhere",
            "Misdirected request",
            "Another server has this game.",
        )
    }

    /// Between two servers, or at one that cannot be reached now.
    pub(crate) fn elsewhere() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "game-moving",
            "Temporarily unavailable",
            "It is not clear yet which server has this game. Try again in a moment.",
        )
    }

    pub(crate) fn journal_unavailable() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "journal-unavailable",
            "Temporarily unavailable",
            "The game could not be saved right now. Try again in a moment.",
        )
    }

    pub(crate) fn server_full() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "server-full",
            "Server full",
            "The server holds as many games and players as it can. Try again in a moment.",
        )
    }

    pub(crate) fn stopping() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "server-stopping",
            "Server stopping",
            "This server is about to restart. Try again in a moment.",
        )
    }

    pub(crate) fn api_unavailable() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "api-unavailable",
            "Temporarily unavailable",
            "The quiz library cannot be reached right now. Try again in a moment.",
        )
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = self.status;
        let body = Problem {
            code: self.code,
            status: status.as_u16(),
            title: self.title.to_owned(),
            detail: self.detail,
        };
        let mut response = (status, axum::Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(retry_after_s) = self.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(retry_after_s));
        } else if matches!(
            status,
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
        ) {
            // One to three seconds, so that a school's pages do not come back together.
            headers.insert(RETRY_AFTER, HeaderValue::from(Ambient::machine().jitter_ms(1, 3)));
        }
        response
    }
}
