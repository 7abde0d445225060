//! Where a call comes from, as far as that can be believed: the peer, or whom proxies that are named in the configuration say it is.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

/// The header in which proxies say it.
pub const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address that a call from `peer` comes from. Without trust in `peer`, what its headers say counts for nothing; with it, it is the
/// last address in `X-Forwarded-For` that is not itself a trusted proxy's.
#[must_use]
pub fn address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let mut address = peer.to_canonical();
    if !is_trusted(address, trusted) {
        return address;
    }
    let said: Vec<&str> = words(headers, &FORWARDED_FOR).collect();
    for hop in said.iter().rev() {
        // What cannot be read was not written by a proxy that can be trusted; nor was anything before it.
        let Ok(named) = hop.parse::<IpAddr>() else {
            break;
        };
        address = named.to_canonical();
        if !is_trusted(address, trusted) {
            break;
        }
    }
    address
}

/// Whether an address is a trusted proxy's.
#[must_use]
pub fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    let address = address.to_canonical();
    trusted.iter().any(|network| network.contains(&address))
}

/// The words of a header that is a list, in all of its lines.
pub fn words<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> + use<'a> {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed() {
        let trusted: Vec<IpNet> = ["10.0.0.0/8"].map(|network| network.parse().unwrap()).into();
        for (peer, said, expected) in [
            ("203.0.113.9", "1.2.3.4", "203.0.113.9"),
            ("10.0.0.1", "1.2.3.4, 203.0.113.9", "203.0.113.9"),
            ("10.0.0.1", "1.2.3.4, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
            ("10.0.0.1", "203.0.113.9, unknown", "10.0.0.1"),
            ("10.0.0.1", "", "10.0.0.1"),
            ("::ffff:10.0.0.1", "2001:db8::7", "2001:db8::7"),
        ] {
            let mut headers = HeaderMap::new();
            if !said.is_empty() {
                headers.append(FORWARDED_FOR, said.parse().unwrap());
            }
            let found = address(peer.parse().unwrap(), &headers, &trusted);
            assert_eq!(found, expected.parse::<IpAddr>().unwrap(), "{peer} {said}");
        }
        assert_eq!(
            address("10.0.0.1".parse().unwrap(), &HeaderMap::new(), &[]),
            "10.0.0.1".parse::<IpAddr>().unwrap()
        );
    }
}
