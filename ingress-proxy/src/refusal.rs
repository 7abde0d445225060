//! What the proxy itself answers: `application/problem+json` with a stable code and a sentence.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, RETRY_AFTER, SEC_WEBSOCKET_VERSION};
use http::{HeaderValue, StatusCode};
use protocol::rest::Problem;
use thiserror::Error;

use crate::key::KeyError;

/// Seconds after which a client that found no server may try again: what a failed pod needs to be replaced.
const RETRY_AFTER_S: &str = "2";

/// Why the proxy passes a request on to nobody, or has no answer of a server to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum Refusal {
    /// The address of a game without its key.
    #[error("{0}")]
    Key(KeyError),
    /// Not exactly one `Host`, or one that is not the address's.
    #[error("The request needs exactly one Host header, the same as its address.")]
    Host,
    /// The request line holds no path.
    #[error("The request needs a path.")]
    Target,
    /// A body whose length could be read in two ways, or a coding that is not supported.
    #[error(
        "The body must come with a Content-Length or as Transfer-Encoding: chunked, and with nothing else."
    )]
    TransferCoding,
    /// `CONNECT` or `TRACE`.
    #[error("This server does not take this method.")]
    Method,
    /// A WebSocket handshake that RFC 6455 does not allow.
    #[error("The WebSocket handshake needs GET, HTTP/1.1, no body and exactly one Sec-WebSocket-Key.")]
    Handshake,
    /// Another version of the WebSocket protocol.
    #[error("Only version 13 of the WebSocket protocol is spoken here.")]
    HandshakeVersion,
    /// The body has more than the limit's bytes.
    #[error("The body may have {0} bytes.")]
    TooLarge(u64),
    /// The body is not framed as it says, or the client broke off.
    #[error("The body ended before it was whole, or is not chunked as it says.")]
    BrokenBody,
    /// The body did not come.
    #[error("The body did not arrive in time.")]
    LateBody,
    /// The proxy is its own server.
    #[error("The request has been here before; the operator must look at the proxy's configuration.")]
    Loop,
    /// No server could be reached.
    #[error("No server can be reached right now. Try again in a moment.")]
    NoServer,
    /// The process may open no more connections, or HTTP/2 has its share of them.
    #[error("This server has as many requests as it may. Try again in a moment.")]
    Busy,
    /// Servers send the request to one another.
    #[error("The game is moving between servers. Try again in a moment.")]
    Moving,
    /// The server broke off.
    #[error("The server broke off while it answered. Try again in a moment.")]
    Broken,
    /// The server took too long.
    #[error("The server did not answer in time. Try again in a moment.")]
    Late,
}

impl Refusal {
    fn parts(self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::Key(_) => (StatusCode::BAD_REQUEST, "bad-game-key", "Bad request"),
            Self::Host => (StatusCode::BAD_REQUEST, "bad-host", "Bad request"),
            Self::Target => (StatusCode::BAD_REQUEST, "bad-target", "Bad request"),
            Self::TransferCoding => (StatusCode::BAD_REQUEST, "bad-transfer-coding", "Bad request"),
            Self::Method => (
                StatusCode::METHOD_NOT_ALLOWED,
                "method-not-allowed",
                "Method not allowed",
            ),
            Self::Handshake => (StatusCode::BAD_REQUEST, "bad-handshake", "Bad request"),
            Self::HandshakeVersion => (
                StatusCode::UPGRADE_REQUIRED,
                "bad-handshake-version",
                "Upgrade required",
            ),
            Self::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "body-too-large", "Body too large"),
            Self::BrokenBody => (StatusCode::BAD_REQUEST, "bad-body", "Bad request"),
            Self::LateBody => (StatusCode::REQUEST_TIMEOUT, "body-timeout", "Request timeout"),
            Self::Loop => (StatusCode::LOOP_DETECTED, "proxy-loop", "Loop detected"),
            Self::NoServer => (
                StatusCode::SERVICE_UNAVAILABLE,
                "no-server",
                "Temporarily unavailable",
            ),
            Self::Busy => (
                StatusCode::SERVICE_UNAVAILABLE,
                "proxy-busy",
                "Temporarily unavailable",
            ),
            Self::Moving => (
                StatusCode::SERVICE_UNAVAILABLE,
                "game-moving",
                "Temporarily unavailable",
            ),
            Self::Broken => (StatusCode::BAD_GATEWAY, "server-broke-off", "Bad gateway"),
            Self::Late => (StatusCode::GATEWAY_TIMEOUT, "server-late", "Gateway timeout"),
        }
    }

    /// Whether another server would do no better, and this one has done nothing wrong: it is the client's body, or the proxy itself.
    pub(crate) fn is_no_servers(self) -> bool {
        matches!(
            self,
            Self::TooLarge(_) | Self::BrokenBody | Self::LateBody | Self::Busy
        )
    }

    /// The answer for the client.
    #[must_use]
    pub(crate) fn into_response(self) -> Response<Body> {
        let (status, code, title) = self.parts();
        let body = Problem {
            code: code.to_owned(),
            status: status.as_u16(),
            title: title.to_owned(),
            detail: self.to_string(),
        };
        let mut response = (status, axum::Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match self {
            Self::NoServer | Self::Busy | Self::Moving | Self::Broken | Self::Late => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_S));
            }
            Self::HandshakeVersion => {
                headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
            }
            Self::Method => {
                headers.insert(
                    ALLOW,
                    HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
                );
            }
            // Where its next request begins cannot be known.
            Self::Host
            | Self::Target
            | Self::TransferCoding
            | Self::TooLarge(_)
            | Self::BrokenBody
            | Self::LateBody => {
                headers.insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Self::Key(_) | Self::Handshake | Self::Loop => {}
        }
        response
    }
}
