//! Who stands behind the proxy: the servers of one kind, by name.

use std::net::SocketAddr;
use std::sync::Arc;

use thiserror::Error;

use crate::upstream::Upstream;
use protocol::placement;

/// Characters of a server's name: a DNS label, as a pod's is.
const NAME_CHARS_MAX: usize = 63;
/// Servers of one kind: four times as many as 100,000 players need, and a list that can be ordered in microseconds.
pub const MEMBERS_MAX: usize = 64;

/// What servers are there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Game servers: each has its own games, so each has its own name for good.
    Games,
    /// APIs: one is as good as another, and a cluster gives each new one a new name.
    Apis,
}

/// One server, as the configuration or the cluster names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member {
    /// Its name among all of its kind; what games are placed by.
    pub name: String,
    /// Where it serves.
    pub address: SocketAddr,
    /// Port of its admin listener, which is asked whether it is ready; none to go by connections alone.
    pub probe_port: Option<u16>,
}

#[cfg(test)]
impl Member {
    /// For tests: `NAME=ADDRESS:PORT`.
    pub(crate) fn of(text: &str) -> Self {
        let (name, address) = text.split_once('=').unwrap();
        Self {
            name: name.to_owned(),
            address: address.parse().unwrap(),
            probe_port: None,
        }
    }
}

/// Whether a server can be called so.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=NAME_CHARS_MAX).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Why a list of members is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MembersError {
    /// Nobody.
    #[error("there is no server in the list")]
    Empty,
    /// More than [`MEMBERS_MAX`].
    #[error("there are {0} servers in the list; it may hold {MEMBERS_MAX}")]
    TooMany(usize),
    /// A name twice: games could not be placed.
    #[error("two servers are named {0}")]
    Repeated(String),
}

/// The servers of one kind at one moment, sorted by name.
#[derive(Debug, Clone)]
pub struct Members {
    kind: Kind,
    all: Arc<[Arc<Upstream>]>,
}

impl Members {
    /// New servers.
    ///
    /// # Errors
    /// Nobody, too many, or a name twice.
    pub fn new(kind: Kind, members: Vec<Member>) -> Result<Self, MembersError> {
        Self::nobody(kind).succeeded_by(members).map(|(all, _)| all)
    }

    /// Nobody yet.
    pub(crate) fn nobody(kind: Kind) -> Self {
        Self {
            kind,
            all: Arc::default(),
        }
    }

    /// A new list in which whoever is in this one as well stays as it is; and those that are new.
    ///
    /// # Errors
    /// As [`Members::new`].
    pub(crate) fn succeeded_by(
        &self,
        mut members: Vec<Member>,
    ) -> Result<(Self, Vec<Arc<Upstream>>), MembersError> {
        members.sort();
        if members.is_empty() {
            return Err(MembersError::Empty);
        }
        if members.len() > MEMBERS_MAX {
            return Err(MembersError::TooMany(members.len()));
        }
        if let Some([member, _]) = members.array_windows().find(|[a, b]| a.name == b.name) {
            return Err(MembersError::Repeated(member.name.clone()));
        }
        let mut new = Vec::new();
        let all = members.into_iter().map(|member| {
            let old = self.named(&member.name).filter(|old| *old.member() == member);
            old.cloned().unwrap_or_else(|| {
                let server = Arc::new(Upstream::new(self.kind, member));
                new.push(Arc::clone(&server));
                server
            })
        });
        let all = all.collect();
        Ok((Self { kind: self.kind, all }, new))
    }

    /// A number that two proxies share when they know the same names, and so place games alike. 32 bits, so that a gauge holds
    /// it exactly.
    #[must_use]
    pub fn digest(&self) -> u32 {
        let names: Vec<&str> = self.all.iter().map(|server| server.name()).collect();
        let weight = placement::weight("", &names.join(","));
        // The upper half; either would do.
        u32::try_from(weight >> 32).unwrap_or_default()
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Arc<Upstream>] {
        &self.all
    }

    /// The one of that name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Arc<Upstream>> {
        let at = self
            .all
            .binary_search_by(|upstream| upstream.name().cmp(name))
            .ok()?;
        self.all.get(at)
    }

    /// All of them in the order in which they are asked for `code`: by rendezvous hashing, those that are ready first.
    #[must_use]
    pub fn ordered(&self, code: &str) -> Vec<Arc<Upstream>> {
        let names: Vec<&str> = self.all.iter().map(|upstream| upstream.name()).collect();
        let order = placement::order(&names, code);
        let mut ordered: Vec<_> = order
            .into_iter()
            .filter_map(|at| self.all.get(at).cloned())
            .collect();
        // Stable, so that the order within each half stays.
        ordered.sort_by_key(|upstream| !upstream.is_ready());
        ordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_each_name_once() {
        let list =
            |texts: &[&str]| Members::new(Kind::Games, texts.iter().map(|text| Member::of(text)).collect());
        assert_eq!(list(&[]).unwrap_err(), MembersError::Empty);
        assert_eq!(
            list(&["a=10.0.0.7:1", "b=10.0.0.7:2", "a=10.0.0.7:3"]).unwrap_err(),
            MembersError::Repeated("a".to_owned())
        );
        let many: Vec<String> = (0..=MEMBERS_MAX).map(|n| format!("g-{n}=10.0.0.7:1")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(list(&many).unwrap_err(), MembersError::TooMany(MEMBERS_MAX + 1));
        let two = list(&["b=10.0.0.7:1", "a=10.0.0.7:2"]).unwrap();
        let alike = list(&["a=10.0.0.8:1", "b=10.0.0.8:2"]).unwrap();
        assert_eq!(two.digest(), alike.digest(), "only names count");
        assert_ne!(two.digest(), list(&["a=10.0.0.7:2"]).unwrap().digest());
        assert_eq!(two.named("b").unwrap().name(), "b");
        assert!(two.named("c").is_none());
    }

    #[test]
    fn who_is_not_ready_is_asked_last() {
        let members: Vec<Member> = (0..5)
            .map(|n| Member::of(&format!("game-{n}=10.0.0.7:1")))
            .collect();
        let members = Members::new(Kind::Games, members).unwrap();
        let names = || -> Vec<String> {
            let ordered = members.ordered("K7Q2MX");
            ordered
                .iter()
                .map(|upstream| upstream.name().to_owned())
                .collect()
        };
        let before = names();
        members.named(&before[1]).unwrap().set_ready(false);
        let expected: Vec<String> = [0, 2, 3, 4, 1].map(|at: usize| before[at].clone()).into();
        assert_eq!(names(), expected);
    }
}
