//! Headers: what a client writes about itself or for one connection does not get past the proxy, whatever else it writes, and what
//! is for the server gets there as it is.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName, HeaderValue, Request};
use ipnet::IpNet;

use crate::admit;
use crate::traces::Traces;

/// Peers: a stranger, and proxies in front in both families.
const PEERS: [&str; 4] = [
    "203.0.113.9:1",
    "10.0.0.1:1",
    "[::ffff:10.0.0.1]:1",
    "[fd00::1]:1",
];
const TRUSTED: [&str; 2] = ["10.0.0.0/8", "fd00::/8"];
/// Whatever `Connection` names, these stay: without them the server could not tell for whom a request is.
const STAY: [&str; 2] = ["host", "traceparent"];
const HOP_BY_HOP: [&str; 10] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
];
const SENDERS: [&str; 6] = [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-real-ip",
];

/// `data` is a byte that says who sends it, and lines of headers.
///
/// # Panics
/// When a header gets through that may not, or one is lost.
pub fn check_headers(data: &[u8]) {
    let Some((who, lines)) = data.split_first() else {
        return;
    };
    let peer: SocketAddr = PEERS[usize::from(*who) % PEERS.len()]
        .parse()
        .unwrap_or_else(|_| unreachable!());
    let trusted: Vec<IpNet> = TRUSTED
        .iter()
        .filter_map(|network| network.parse().ok())
        .collect();
    let mut sent = HeaderMap::new();
    for line in lines.split(|b| *b == b'\n').take(60) {
        let (name, value) = match line.iter().position(|b| *b == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => continue,
        };
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            sent.append(name, value);
        }
    }
    sent.entry("host")
        .or_insert(HeaderValue::from_static("quiz.example"));
    let mut parts = Request::builder()
        .uri("/store/x")
        .body(())
        .map_or_else(|_| unreachable!(), |request| request.into_parts().0);
    parts.headers = sent.clone();
    let traces = Traces::default();
    let asked = admit::look(&mut parts, peer, false, &trusted, &traces);
    if admit::admit(&mut parts, asked, false).is_err() {
        return;
    }
    let got = parts.headers;
    check_sender(&sent, &got, peer.ip(), &trusted);
    check_others(&sent, &got);
}

fn words(headers: &HeaderMap, name: &str) -> Vec<String> {
    let values = headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .map(|word| word.trim().to_owned())
        .collect()
}

/// Read from the back: whoever a trusted proxy names, for as long as the one who names is trusted.
fn check_sender(sent: &HeaderMap, got: &HeaderMap, peer: IpAddr, trusted: &[IpNet]) {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(&address));
    let mut sender = peer.to_canonical();
    let mut hops = words(sent, "x-forwarded-for");
    while is_trusted(sender) {
        match hops.pop().and_then(|hop| hop.parse::<IpAddr>().ok()) {
            Some(named) => sender = named.to_canonical(),
            None => break,
        }
    }
    assert_eq!(words(got, "x-forwarded-for"), [sender.to_string()], "who asks");
    let said = words(sent, "x-forwarded-proto").pop().unwrap_or_default();
    let https = is_trusted(peer.to_canonical()) && said.eq_ignore_ascii_case("https");
    assert_eq!(
        words(got, "x-forwarded-proto"),
        [if https { "https" } else { "http" }]
    );
    for name in HOP_BY_HOP
        .iter()
        .chain(&["forwarded", "x-forwarded-host", "x-forwarded-port", "x-real-ip"])
    {
        assert!(!got.contains_key(*name), "{name} gets through");
    }
    assert!(
        !got.keys().any(|name| name.as_str().starts_with("homeroom-")),
        "{got:?}"
    );
    let traces: Vec<_> = got.get_all("traceparent").iter().collect();
    assert!(matches!(traces[..], [one] if one.len() == 55), "{traces:?}");
}

/// What is neither is as it was, in its order.
fn check_others(sent: &HeaderMap, got: &HeaderMap) {
    let named: Vec<String> = words(sent, "connection")
        .iter()
        .map(|word| word.to_ascii_lowercase())
        .collect();
    for name in sent.keys().map(HeaderName::as_str) {
        let is_ours = HOP_BY_HOP.contains(&name) || SENDERS.contains(&name) || name.starts_with("homeroom-");
        let is_made = ["via", "traceparent", "tracestate", "content-length", "expect"].contains(&name);
        if is_ours || is_made {
            continue;
        }
        let expected: Vec<_> = sent.get_all(name).iter().collect();
        let found: Vec<_> = got.get_all(name).iter().collect();
        if named.iter().any(|own| own == name) && !STAY.contains(&name) {
            assert!(found.is_empty(), "{name} was for one connection");
        } else {
            assert_eq!(found, expected, "{name}");
        }
    }
    let via: Vec<_> = got.get_all("via").iter().collect();
    assert_eq!(
        via.last().map(|via| via.as_bytes()),
        Some(&b"1.1 homeroom-proxy"[..])
    );
}
