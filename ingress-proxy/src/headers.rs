//! What becomes of headers on their way: those for one connection stay behind, those that only a proxy may write are written
//! anew.

use std::net::IpAddr;

use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE, VIA,
};
use http::{HeaderMap, HeaderValue, Version};
use protocol::routing;

use crate::traces::TRACEPARENT;

/// This proxy's name in `Via`, by which it knows a request that it has passed on before.
pub(crate) const VIA_NAME: &str = "homeroom-proxy";
/// The same with the version of HTTP by which a request came.
const VIA_HTTP1: &str = "1.1 homeroom-proxy";
const VIA_HTTP2: &str = "2.0 homeroom-proxy";
/// Tells a game server that it may answer 421 with the owner's name instead of passing the connection on itself.
pub(crate) const FOLLOWS: HeaderName = HeaderName::from_static(routing::FOLLOWS_OWNER);
/// The name of the server that holds the game, in a 421.
pub(crate) const OWNER: HeaderName = HeaderName::from_static(routing::OWNER);
/// The names of servers that could not be reached for this request.
pub(crate) const UNREACHABLE: HeaderName = HeaderName::from_static(routing::UNREACHABLE);
/// What headers between proxies and servers begin with.
const INTERNAL: &str = "homeroom-";

const FORWARDED: HeaderName = HeaderName::from_static("forwarded");
pub(crate) use runtime::forwarded::FORWARDED_FOR;
pub(crate) const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PORT: HeaderName = HeaderName::from_static("x-forwarded-port");
const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");
const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");
const HTTP2_SETTINGS: HeaderName = HeaderName::from_static("http2-settings");

/// Headers of one connection (RFC 9110, 7.6.1, and what came before it).
const HOP_BY_HOP: [HeaderName; 10] = [
    CONNECTION,
    KEEP_ALIVE,
    PROXY_CONNECTION,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HTTP2_SETTINGS,
];

/// Headers that stay whatever `Connection` names: without them a server could not tell for whom a request is, or which one it is.
const STAY: [HeaderName; 2] = [HOST, TRACEPARENT];

/// Headers that a client may not write.
const OURS: [HeaderName; 6] = [
    FORWARDED,
    FORWARDED_FOR,
    FORWARDED_PROTO,
    FORWARDED_HOST,
    FORWARDED_PORT,
    REAL_IP,
];

/// Where a request came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Client {
    /// The client's own address.
    pub(crate) address: IpAddr,
    /// Whether it speaks TLS.
    pub(crate) https: bool,
}

/// Makes a request's headers fit for a server behind. The body's length is left to its new connection, and so is leave to send
/// it.
pub(crate) fn for_server(headers: &mut HeaderMap, client: Client, version: Version) {
    remove_hop_by_hop(headers);
    remove_internal(headers);
    for name in OURS.iter().chain([&CONTENT_LENGTH, &EXPECT]) {
        headers.remove(name);
    }
    if let Ok(address) = HeaderValue::try_from(client.address.to_string()) {
        headers.insert(FORWARDED_FOR, address);
    }
    let proto = if client.https { "https" } else { "http" };
    headers.insert(FORWARDED_PROTO, HeaderValue::from_static(proto));
    let via = if version == Version::HTTP_2 {
        VIA_HTTP2
    } else {
        VIA_HTTP1
    };
    headers.append(VIA, HeaderValue::from_static(via));
}

/// Makes an answer's headers fit for the client.
pub(crate) fn for_client(headers: &mut HeaderMap) {
    remove_hop_by_hop(headers);
    remove_internal(headers);
}

/// Makes a handshake's headers, or those of its answer, ask for a WebSocket.
pub(crate) fn for_socket(headers: &mut HeaderMap) {
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
}

fn remove_internal(headers: &mut HeaderMap) {
    let internal = |name: &&HeaderName| name.as_str().starts_with(INTERNAL);
    let names: Vec<HeaderName> = headers.keys().filter(internal).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

fn remove_hop_by_hop(headers: &mut HeaderMap) {
    // First those that the connection's own header names.
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let named = named.iter().filter(|name| !STAY.contains(name));
    for name in named.chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn what_is_for_one_connection_stays_behind_and_nobody_forges_a_sender() {
        let mut sent = headers(&[
            ("host", "quiz.example"),
            ("authorization", "Bearer x"),
            ("connection", "close, x-mine"),
            ("connection", "X-Forwarded-For"),
            ("x-mine", "1"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("content-length", "5"),
            ("expect", "100-continue"),
            ("upgrade", "h2c"),
            ("http2-settings", "x"),
            ("proxy-authorization", "x"),
            ("x-forwarded-for", "1.2.3.4"),
            ("x-forwarded-for", "5.6.7.8"),
            ("x-forwarded-proto", "https"),
            ("forwarded", "for=1.2.3.4"),
            ("x-real-ip", "1.2.3.4"),
            ("homeroom-follows-owner", "1"),
            ("homeroom-unreachable", "game-0"),
            ("homeroom-peer", "game-1"),
        ]);
        let address = "192.0.2.7".parse().unwrap();
        for_server(
            &mut sent,
            Client {
                address,
                https: false,
            },
            Version::HTTP_11,
        );
        let expected = headers(&[
            ("host", "quiz.example"),
            ("authorization", "Bearer x"),
            ("x-forwarded-for", "192.0.2.7"),
            ("x-forwarded-proto", "http"),
            ("via", "1.1 homeroom-proxy"),
        ]);
        assert_eq!(sent, expected);
        assert!(VIA_HTTP1.ends_with(VIA_NAME) && VIA_HTTP2.ends_with(VIA_NAME));
    }

    #[test]
    fn a_client_learns_nothing_of_the_servers_connection() {
        let mut answered = headers(&[
            ("connection", "keep-alive"),
            ("keep-alive", "timeout=5"),
            ("content-length", "3"),
            ("homeroom-owner", "game-1"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
        ]);
        for_client(&mut answered);
        let expected = headers(&[
            ("content-length", "3"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
        ]);
        assert_eq!(answered, expected);
    }
}
