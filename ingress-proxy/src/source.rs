//! Where servers are to be found, as it is written on the command line or in a file, and one look there. When to look again, and whom
//! to keep meanwhile, is [`crate::discovery`]'s.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::members::{MEMBERS_MAX, Member, is_name};

/// Time for one look-up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);
/// Pods in a row that are not there until a set is at its end: one may be starting anew.
const GAP_MAX: usize = 2;
/// Characters of a host: what DNS allows.
const HOST_CHARS_MAX: usize = 253;
/// What stands for the number in the host of a set's pods.
const ORDINAL: &str = "{}";
/// What a source begins with whose pods Kubernetes is asked for.
const KUBERNETES: &str = "kubernetes:";

/// Where servers are to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// `NAME=HOST:PORT`, one server.
    One {
        /// The server's name.
        name: String,
        /// Its place.
        place: Place,
    },
    /// `game-{}.game:PORT`, the pods of a stateful set, numbered from 0; named by the first label of their hosts.
    Set(Place),
    /// `HOST:PORT`, as many servers as the host has addresses, each named by its address.
    All(Place),
    /// `kubernetes:SERVICE[.NAMESPACE]:PORT`, the pods of a service, as the Kubernetes API tells them; named as they are.
    Service {
        /// The service's name.
        name: String,
        /// Where it is; none for where the proxy is.
        namespace: Option<String>,
        /// Ports of its pods.
        ports: Ports,
    },
}

/// Where pods serve, and where they are asked whether they are ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    pub(crate) own: u16,
    pub(crate) probe: Option<u16>,
}

/// Host and ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    host: String,
    port: u16,
    probe_port: Option<u16>,
}

/// Why a text is no source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SourceError {
    /// It has another form.
    #[error(
        "must be NAME=HOST:PORT, SET-{{}}.SERVICE:PORT, SERVICE:PORT or kubernetes:SERVICE:PORT, each with /PROBE_PORT after it or not"
    )]
    Form,
    /// The name could not be a pod's.
    #[error("a name has 1 to 63 letters, digits and hyphens")]
    Name,
    /// Game servers named by their addresses would be placed anew with each of them.
    #[error("game servers need names of their own: NAME=HOST:PORT or SET-{{}}.SERVICE:PORT")]
    Nameless,
    /// A file is looked at, and Kubernetes listened to.
    #[error("a service of Kubernetes goes with the flag and not into a file")]
    Watched,
}

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        if let Some(service) = text.strip_prefix(KUBERNETES) {
            return Self::service(&service.parse()?);
        }
        if let Some((name, place)) = text.split_once('=') {
            if !is_name(name) {
                return Err(SourceError::Name);
            }
            let place: Place = place.parse()?;
            if place.host.contains(ORDINAL) {
                return Err(SourceError::Form);
            }
            let name = name.to_owned();
            return Ok(Self::One { name, place });
        }
        let place: Place = text.parse()?;
        match place.host.matches(ORDINAL).count() {
            0 => Ok(Self::All(place)),
            1 if is_name(&place.numbered(0).first_label()) => Ok(Self::Set(place)),
            _ => Err(SourceError::Form),
        }
    }
}

impl FromStr for Place {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let (address, probe) = match text.split_once('/') {
            Some((address, port)) => (address, Some(port)),
            None => (text, None),
        };
        let port = |text: &str| {
            text.parse::<u16>()
                .ok()
                .filter(|port| *port > 0)
                .ok_or(SourceError::Form)
        };
        let (host, own) = address.rsplit_once(':').ok_or(SourceError::Form)?;
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        let plain = bare.replacen(ORDINAL, "0", 1);
        let fits = (1..=HOST_CHARS_MAX).contains(&plain.len())
            && plain
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-.:".contains(&b))
            && (bare.len() < host.len() || !bare.contains(':'));
        if !fits {
            return Err(SourceError::Form);
        }
        Ok(Self {
            host: bare.to_owned(),
            port: port(own)?,
            probe_port: probe.map(port).transpose()?,
        })
    }
}

impl Place {
    fn numbered(&self, number: usize) -> Self {
        Self {
            host: self.host.replacen(ORDINAL, &number.to_string(), 1),
            ..self.clone()
        }
    }

    fn first_label(&self) -> String {
        self.host.split('.').next().unwrap_or_default().to_owned()
    }

    fn member(&self, name: String, address: SocketAddr) -> Member {
        Member {
            name,
            address,
            probe_port: self.probe_port,
        }
    }

    /// Its addresses, in a fixed order; none when the name is not known or nobody answers.
    async fn look_up(&self) -> Vec<SocketAddr> {
        let looking = tokio::net::lookup_host((self.host.as_str(), self.port));
        let mut found: Vec<SocketAddr> = match tokio::time::timeout(PATIENCE, looking).await {
            Ok(Ok(found)) => found.collect(),
            Ok(Err(_)) | Err(_) => Vec::new(),
        };
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Source {
    fn service(place: &Place) -> Result<Self, SourceError> {
        let (name, namespace) = match place.host.split_once('.') {
            Some((name, namespace)) => (name, Some(namespace)),
            None => (place.host.as_str(), None),
        };
        if !is_name(name) || !namespace.is_none_or(is_name) {
            return Err(SourceError::Name);
        }
        Ok(Self::Service {
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            ports: Ports {
                own: place.port,
                probe: place.probe_port,
            },
        })
    }

    /// The servers that can be found now by looking.
    pub(crate) async fn find(&self) -> Vec<Member> {
        match self {
            Self::One { name, place } => {
                let found = place.look_up().await;
                found
                    .first()
                    .map(|address| place.member(name.clone(), *address))
                    .into_iter()
                    .collect()
            }
            Self::All(place) => {
                let found = place.look_up().await;
                let named = |address: &SocketAddr| {
                    place.member(address.ip().to_string().replace(['.', ':'], "-"), *address)
                };
                found.iter().map(named).collect()
            }
            Self::Set(place) => {
                let (mut found, mut gap) = (Vec::new(), 0);
                for number in 0..MEMBERS_MAX {
                    let pod = place.numbered(number);
                    match pod.look_up().await.first() {
                        Some(address) => {
                            found.push(pod.member(pod.first_label(), *address));
                            gap = 0;
                        }
                        None => gap += 1,
                    }
                    if gap >= GAP_MAX {
                        break;
                    }
                }
                found
            }
            // These are told, not looked for.
            Self::Service { .. } => Vec::new(),
        }
    }

    /// Whether its servers can be other ones tomorrow.
    pub(crate) fn changes(&self) -> bool {
        match self {
            Self::One { place, .. } => place.host.parse::<std::net::IpAddr>().is_err(),
            Self::Set(_) | Self::All(_) | Self::Service { .. } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Result<Source, SourceError> {
        text.parse()
    }

    fn place(host: &str, port: u16, probe_port: Option<u16>) -> Place {
        Place {
            host: host.to_owned(),
            port,
            probe_port,
        }
    }

    #[test]
    fn a_source_is_one_server_a_set_or_all_addresses() {
        let one = |host: &str, probe| Source::One {
            name: "game-0".to_owned(),
            place: place(host, 8080, probe),
        };
        assert_eq!(source("game-0=10.0.0.7:8080"), Ok(one("10.0.0.7", None)));
        assert_eq!(source("game-0=[::1]:8080/9090"), Ok(one("::1", Some(9090))));
        assert_eq!(source("game-0=pod.game:8080"), Ok(one("pod.game", None)));
        assert_eq!(
            source("game-{}.game.homeroom:8080/9090"),
            Ok(Source::Set(place("game-{}.game.homeroom", 8080, Some(9090))))
        );
        assert_eq!(source("api:8080"), Ok(Source::All(place("api", 8080, None))));
        let service = |namespace: Option<&str>, probe| Source::Service {
            name: "game".to_owned(),
            namespace: namespace.map(str::to_owned),
            ports: Ports { own: 8080, probe },
        };
        assert_eq!(source("kubernetes:game:8080"), Ok(service(None, None)));
        assert_eq!(
            source("kubernetes:game.homeroom:8080/9090"),
            Ok(service(Some("homeroom"), Some(9090)))
        );
        for name in ["kubernetes:game.a.b:1", "kubernetes:.a:1", "kubernetes:game.:1"] {
            assert_eq!(source(name), Err(SourceError::Name), "{name:?}");
        }
        for form in [
            "",
            "game-0",
            "game-0=",
            "game-0=host",
            "api:0",
            "api:x",
            "api:1/",
            "api:1/0",
            "::1:80",
            "a b:1",
            "game-0=game-{}.game:1",
            "{}-{}.game:1",
            "{}{}:1",
            "-.{}:1/9/9",
            "kubernetes:game",
            "kubernetes:",
            "kubernetes:a=b:1",
        ] {
            assert_eq!(source(form), Err(SourceError::Form), "{form:?}");
        }
        for name in ["=10.0.0.7:1", "a b=10.0.0.7:1", "ä=10.0.0.7:1"] {
            assert_eq!(source(name), Err(SourceError::Name), "{name:?}");
        }
    }
}
