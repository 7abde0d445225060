//! What is decided about a request before a server is chosen: who asks, whether it may go on, for which game, and in what form.
//!
//! Nothing here waits or connects. The fuzz targets compile these modules by themselves, so what they call is what the proxy does.

use std::net::SocketAddr;

use http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderValue, Uri, Version};
use ipnet::IpNet;
use protocol::ids::GameCode;

use crate::headers::{self, Client};
use crate::refusal::Refusal;
use crate::route::{self, Route};
use crate::traces::Traces;
use crate::{forwarded, http2, key, screen};

/// A request as it came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    /// What kind of server it is for.
    pub(crate) route: Route,
    /// Who sent it.
    pub(crate) client: Client,
    /// Whether it asks for a WebSocket.
    pub(crate) socket: bool,
}

/// Where a request may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    /// The WebSocket of a game; its headers ask for one.
    Socket(GameCode),
    /// A call about a game.
    Game(GameCode),
    /// A page, or a call to the API.
    Api,
}

/// Looks at a request from `peer`, and gives it the form of HTTP/1.1 and a trace.
pub(crate) fn look(
    parts: &mut Parts,
    peer: SocketAddr,
    https: bool,
    trusted: &[IpNet],
    traces: &Traces,
) -> Asked {
    http2::as_http1(parts);
    let is_trusted = forwarded::is_trusted(peer.ip(), trusted);
    traces.adopt(&mut parts.headers, is_trusted);
    Asked {
        route: Route::of(parts.uri.path()),
        client: forwarded::client(peer, https, &parts.headers, trusted),
        socket: screen::wants_socket(&parts.headers),
    }
}

/// Whether a request may go on and where; then it is one for a server.
///
/// # Errors
/// Why it may not.
pub(crate) fn admit(parts: &mut Parts, asked: Asked, has_body: bool) -> Result<To, Refusal> {
    screen::check(parts)?;
    let to = match asked.route {
        Route::Game => {
            let code = key::parse(parts.uri.query().unwrap_or_default()).map_err(Refusal::Key)?;
            if asked.socket {
                screen::check_handshake(parts, has_body)?;
                To::Socket(code)
            } else {
                To::Game(code)
            }
        }
        Route::Store | Route::Page => To::Api,
    };
    give_host(parts);
    let has_open_end = has_body && !parts.headers.contains_key(CONTENT_LENGTH);
    headers::for_server(&mut parts.headers, asked.client, parts.version);
    if has_open_end {
        // Said here, since hyper takes a body of unknown length for none where the method is GET or HEAD.
        let chunked = HeaderValue::from_static("chunked");
        parts.headers.insert(TRANSFER_ENCODING, chunked);
    }
    match to {
        To::Socket(_) => headers::for_socket(&mut parts.headers),
        To::Game(_) | To::Api => {}
    }
    parts.uri = server_uri(&parts.uri, asked.route);
    parts.version = Version::HTTP_11;
    Ok(to)
}

/// HTTP/1.0 needs no `Host`, and the HTTP/1.1 of the servers does: that of the address, or an empty one (RFC 9110, 7.2).
fn give_host(parts: &mut Parts) {
    if parts.headers.contains_key(HOST) {
        return;
    }
    let authority = parts.uri.authority().map_or("", |authority| authority.as_str());
    if let Ok(host) = HeaderValue::try_from(authority) {
        parts.headers.insert(HOST, host);
    }
}

/// The path as the server knows it, without scheme and authority.
fn server_uri(uri: &Uri, route: Route) -> Uri {
    let path = match route {
        Route::Game => route::game_path(uri.path()),
        Route::Store | Route::Page => uri.path(),
    };
    let whole = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    // A part of a valid path is a valid path.
    whole
        .parse::<PathAndQuery>()
        .map_or_else(|_| Uri::default(), Uri::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the body's length is known, hyper says it.
    #[test]
    fn a_body_whose_end_is_open_goes_on_in_chunks_whatever_the_method() {
        for method in ["GET", "HEAD", "POST", "DELETE"] {
            for (name, has_body, framing) in [
                ("transfer-encoding", true, Some("chunked")),
                ("content-length", true, None),
                ("x-other", false, None),
            ] {
                let value = if name == "content-length" { "5" } else { "chunked" };
                let request = http::Request::builder().method(method).uri("/store/x");
                let request = request.header(HOST, "quiz.example").header(name, value);
                let mut parts = request.body(()).unwrap().into_parts().0;
                let traces = Traces::default();
                let peer = "192.0.2.7:1".parse().unwrap();
                let asked = look(&mut parts, peer, false, &[], &traces);
                assert_eq!(admit(&mut parts, asked, has_body), Ok(To::Api));
                let found = parts.headers.get(TRANSFER_ENCODING);
                assert_eq!(
                    found.map(HeaderValue::as_bytes),
                    framing.map(str::as_bytes),
                    "{method} {name}"
                );
                assert!(!parts.headers.contains_key(CONTENT_LENGTH));
            }
        }
    }

    #[test]
    fn a_server_sees_its_own_path_and_the_query_as_it_came() {
        for (uri, route, seen) in [
            (
                "/game/watch?g=K7Q2MX&a=%20;b",
                Route::Game,
                "/watch?g=K7Q2MX&a=%20;b",
            ),
            ("/game?g=K7Q2MX", Route::Game, "/?g=K7Q2MX"),
            ("/game/watch?", Route::Game, "/watch?"),
            (
                "http://quiz.example/game/%2e%2e/x?g=K7Q2MX",
                Route::Game,
                "/%2e%2e/x?g=K7Q2MX",
            ),
            ("/store/quizzes?after=1", Route::Store, "/store/quizzes?after=1"),
            ("/", Route::Page, "/"),
        ] {
            assert_eq!(server_uri(&uri.parse().unwrap(), route).to_string(), seen);
        }
    }
}
