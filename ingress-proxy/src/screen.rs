//! What is wrong with a request before it matters where it goes: RFC 9112 for its framing and its target, RFC 6455 for a
//! handshake. What hyper's parser refuses by itself (bad request lines, header names, lengths, folded lines) never gets here.

use http::header::{
    CONNECTION, HOST, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, TRANSFER_ENCODING, UPGRADE, VIA,
};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Version};
use protocol::handshake;

use crate::headers::VIA_NAME;
use crate::refusal::Refusal;

/// Refuses what must not be passed on.
pub(crate) fn check(parts: &Parts) -> Result<(), Refusal> {
    if parts.method == Method::CONNECT || parts.method == Method::TRACE {
        return Err(Refusal::Method);
    }
    check_host(parts)?;
    if !parts.uri.path().starts_with('/') {
        return Err(Refusal::Target);
    }
    check_framing(&parts.headers)?;
    let been_here = |via: &HeaderValue| {
        via.as_bytes()
            .windows(VIA_NAME.len())
            .any(|w| w == VIA_NAME.as_bytes())
    };
    if parts.headers.get_all(VIA).iter().any(been_here) {
        return Err(Refusal::Loop);
    }
    Ok(())
}

fn check_host(parts: &Parts) -> Result<(), Refusal> {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host,
        (None, _) if parts.version == Version::HTTP_10 => return Ok(()),
        (None, _) | (Some(_), Some(_)) => return Err(Refusal::Host),
    };
    // No place where a server could find a user's name and take it for the host, or the reverse.
    let host = host.to_str().ok().filter(|host| !host.contains('@'));
    let host: Authority = host.and_then(|host| host.parse().ok()).ok_or(Refusal::Host)?;
    match parts.uri.authority() {
        Some(authority) if *authority != host => Err(Refusal::Host),
        Some(_) | None => Ok(()),
    }
}

/// One coding, chunked. hyper drops a `Content-Length` beside it and frames the body anew for the server behind, so that
/// both see the same length.
fn check_framing(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (None, _) => Ok(()),
        (Some(coding), None) if coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked") => Ok(()),
        (Some(_), _) => Err(Refusal::TransferCoding),
    }
}

/// Whether the client wants a WebSocket.
pub(crate) fn wants_socket(headers: &HeaderMap) -> bool {
    has_token(headers, &CONNECTION, "upgrade") && has_token(headers, &UPGRADE, "websocket")
}

/// Whether a handshake for a WebSocket is one.
pub(crate) fn check_handshake(parts: &Parts, has_body: bool) -> Result<(), Refusal> {
    let one = |name: HeaderName| {
        let mut values = parts.headers.get_all(name).iter();
        values.next().filter(|_| values.next().is_none())
    };
    if parts.method != Method::GET || parts.version != Version::HTTP_11 || has_body {
        return Err(Refusal::Handshake);
    }
    if one(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err(Refusal::HandshakeVersion);
    }
    match one(SEC_WEBSOCKET_KEY) {
        Some(key) if handshake::is_key(key.as_bytes()) => Ok(()),
        Some(_) | None => Err(Refusal::Handshake),
    }
}

/// Whether a list header holds a token.
pub(crate) fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|one| one.trim().eq_ignore_ascii_case(token))
}
