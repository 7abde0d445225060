//! The addresses under which this machine is reached: printed for people, allowed as origins for browsers.

use std::net::{IpAddr, SocketAddr};

use crate::config::Origins;

/// Where people and browsers find the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Addresses {
    /// For a browser on this machine, or the public address.
    pub(crate) main: String,
    /// For phones in the same network; none when only this machine is listened to.
    pub(crate) phones: Vec<String>,
    /// Every origin whose pages may connect.
    pub(crate) origins: Vec<String>,
}

/// Works the addresses out from where the server listens and this machine's `interfaces` and `host_name`.
#[must_use]
pub(crate) fn addresses(
    bound: SocketAddr,
    tls: bool,
    configured: &Origins,
    interfaces: &[IpAddr],
    host_name: Option<&str>,
) -> Addresses {
    let port = bound.port();
    let origin = |host: &str| origin(tls, host, port);
    let reachable: Vec<IpAddr> = if bound.ip().is_unspecified() {
        interfaces
            .iter()
            .copied()
            .filter(|ip| bound.is_ipv6() || ip.is_ipv4())
            .collect()
    } else {
        vec![bound.ip()]
    };
    let lan: Vec<String> = reachable
        .iter()
        .filter(|ip| !ip.is_loopback() && !is_link_local(**ip))
        .map(|ip| origin(&host(*ip)))
        .collect();
    let local = bound.ip().is_unspecified() || bound.ip().is_loopback();

    let mut origins: Vec<String> = configured
        .public
        .iter()
        .chain(&configured.allowed)
        .cloned()
        .collect();
    if local {
        origins.extend(["localhost", "127.0.0.1", "[::1]"].map(origin));
    }
    origins.extend(lan.iter().cloned());
    if let (Some(name), false) = (host_name, bound.ip().is_loopback()) {
        let name = name.to_ascii_lowercase();
        origins.extend([origin(&name), origin(&format!("{name}.local"))]);
    }
    origins.dedup();

    let own = if local {
        origin("localhost")
    } else {
        origin(&host(bound.ip()))
    };
    Addresses {
        main: configured.public.clone().unwrap_or(own),
        phones: if configured.public.is_some() {
            Vec::new()
        } else {
            lan
        },
        origins,
    }
}

/// Addresses of this machine's interfaces; empty when they cannot be read.
#[must_use]
pub(crate) fn interfaces() -> Vec<IpAddr> {
    match if_addrs::get_if_addrs() {
        Ok(found) => found.into_iter().map(|interface| interface.ip()).collect(),
        Err(error) => {
            tracing::warn!(%error, "network interfaces cannot be read: pages are allowed from localhost and --public-url only");
            Vec::new()
        }
    }
}

fn origin(tls: bool, host: &str, port: u16) -> String {
    match (tls, port) {
        (true, 443) => format!("https://{host}"),
        (false, 80) => format!("http://{host}"),
        (true, _) => format!("https://{host}:{port}"),
        (false, _) => format!("http://{host}:{port}"),
    }
}

fn host(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

fn is_link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ips(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|t| t.parse().unwrap()).collect()
    }

    #[test]
    fn on_every_interface_phones_get_the_network_address_and_pages_from_it_may_connect() {
        let interfaces = ips(&["127.0.0.1", "192.168.1.20", "169.254.3.4", "fe80::1", "fd00::5"]);
        let found = addresses(
            "0.0.0.0:8080".parse().unwrap(),
            false,
            &Origins::default(),
            &interfaces,
            Some("Board-3"),
        );
        assert_eq!(found.main, "http://localhost:8080");
        assert_eq!(found.phones, ["http://192.168.1.20:8080"]);
        for origin in [
            "http://localhost:8080",
            "http://192.168.1.20:8080",
            "http://board-3.local:8080",
        ] {
            assert!(
                found.origins.iter().any(|o| o == origin),
                "{origin} is missing in {:?}",
                found.origins
            );
        }
        assert!(
            !found.origins.iter().any(|o| o.contains("fd00")),
            "nothing listens there"
        );
    }

    #[test]
    fn on_loopback_nobody_else_is_invited() {
        let interfaces = ips(&["127.0.0.1", "192.168.1.20"]);
        let found = addresses(
            "127.0.0.1:80".parse().unwrap(),
            false,
            &Origins::default(),
            &interfaces,
            Some("b"),
        );
        assert_eq!(found.main, "http://localhost");
        assert!(found.phones.is_empty());
        assert_eq!(
            found.origins,
            ["http://localhost", "http://127.0.0.1", "http://[::1]"]
        );
    }

    #[test]
    fn the_public_url_comes_first() {
        let configured = Origins {
            public: Some("https://quiz.example".into()),
            allowed: vec!["http://a".into()],
        };
        let found = addresses(
            "[::]:443".parse().unwrap(),
            true,
            &configured,
            &ips(&["fd00::5"]),
            None,
        );
        assert_eq!(found.main, "https://quiz.example");
        assert!(found.phones.is_empty());
        assert_eq!(&found.origins[..2], ["https://quiz.example", "http://a"]);
        assert!(found.origins.contains(&"https://[fd00::5]".to_owned()));
    }
}
