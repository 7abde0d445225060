//! Who the client is: the peer, or whoever proxies in front of this one say it is, as far as they are trusted.

use std::net::SocketAddr;

use http::HeaderMap;
use ipnet::IpNet;
use runtime::forwarded;
pub(crate) use runtime::forwarded::is_trusted;

use crate::headers::{Client, FORWARDED_PROTO};

/// The client of a request. Without trust in `peer`, what its headers say counts for nothing; with it, the last address in
/// `X-Forwarded-For` that is not itself a trusted proxy's, and the last word of `X-Forwarded-Proto`.
pub(crate) fn client(peer: SocketAddr, https: bool, headers: &HeaderMap, trusted: &[IpNet]) -> Client {
    let address = forwarded::address(peer.ip(), headers, trusted);
    if !is_trusted(peer.ip(), trusted) {
        return Client { address, https };
    }
    let https = match forwarded::words(headers, &FORWARDED_PROTO).last() {
        Some(proto) if proto.eq_ignore_ascii_case("https") => true,
        Some(proto) if proto.eq_ignore_ascii_case("http") => false,
        Some(_) | None => https,
    };
    Client { address, https }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::FORWARDED_FOR;

    #[test]
    fn only_trusted_proxies_are_believed() {
        let trusted: Vec<IpNet> = ["10.0.0.0/8", "fd00::/8"]
            .map(|network| network.parse().unwrap())
            .into();
        for (peer, forwarded, proto, address, https) in [
            // Nobody in between: whatever the client writes is nothing.
            ("203.0.113.9:1", "1.2.3.4", "https", "203.0.113.9", false),
            ("203.0.113.9:1", "", "", "203.0.113.9", false),
            // One proxy, which appends to what the client made up.
            ("10.0.0.1:1", "203.0.113.9", "https", "203.0.113.9", true),
            ("10.0.0.1:1", "1.2.3.4, 203.0.113.9", "http", "203.0.113.9", false),
            (
                "10.0.0.1:1",
                "10.9.9.9, 203.0.113.9",
                "https, http",
                "203.0.113.9",
                false,
            ),
            // Two.
            (
                "10.0.0.1:1",
                "1.2.3.4, 203.0.113.9, 10.0.0.2",
                "https",
                "203.0.113.9",
                true,
            ),
            // Itself the client, or one that says nothing.
            ("10.0.0.1:1", "", "", "10.0.0.1", false),
            ("10.0.0.1:1", "10.0.0.5", "ftp", "10.0.0.5", false),
            // Nonsense ends the chain.
            ("10.0.0.1:1", "203.0.113.9, unknown", "", "10.0.0.1", false),
            (
                "10.0.0.1:1",
                "203.0.113.9, nonsense, 10.0.0.2",
                "",
                "10.0.0.2",
                false,
            ),
            // A listener for both families gives IPv4 in IPv6.
            ("[::ffff:10.0.0.1]:1", "2001:db8::7", "https", "2001:db8::7", true),
            ("[fd00::1]:1", "::ffff:203.0.113.9", "https", "203.0.113.9", true),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in [(FORWARDED_FOR, forwarded), (FORWARDED_PROTO, proto)] {
                if !value.is_empty() {
                    headers.append(name, value.parse().unwrap());
                }
            }
            let found = client(peer.parse().unwrap(), false, &headers, &trusted);
            let expected = Client {
                address: address.parse().unwrap(),
                https,
            };
            assert_eq!(found, expected, "{peer} {forwarded} {proto}");
        }
    }
}
