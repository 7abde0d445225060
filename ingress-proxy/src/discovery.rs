//! Finding servers: hosts are looked up again and again, so that a pod may come back at another address, and a set of pods may
//! grow and shrink. Where Kubernetes is asked, `slices` hears of every change.
//!
//! A look-up that fails takes nobody away at once: a server that is gone costs a refused connection, one that was forgotten
//! because the name service hiccuped would move its games.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path as FilePath;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::group::Group;
use crate::members::{MEMBERS_MAX, Member, MembersError, is_name};
use crate::slices::Slices;
use crate::sources_file::{SourcesFile, SourcesFileError};

/// How often hosts are looked up. A restarted pod needs longer to become ready.
const EVERY: Duration = Duration::from_secs(5);
/// How often a file of servers is looked at.
const FILE_EVERY: Duration = Duration::from_secs(1);
/// Time for one look-up.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a server is kept that is not found any more.
const KEPT_FOR: Duration = Duration::from_secs(60);
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
    async fn find(&self) -> Vec<Member> {
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
    fn changes(&self) -> bool {
        match self {
            Self::One { place, .. } => place.host.parse::<std::net::IpAddr>().is_err(),
            Self::Set(_) | Self::All(_) | Self::Service { .. } => true,
        }
    }
}

/// Why a file of servers is refused.
#[derive(Debug, Error)]
pub enum DiscoveryError {
    /// It cannot be read or understood.
    #[error(transparent)]
    File(#[from] SourcesFileError),
    /// Its servers may not stand beside each other.
    #[error(transparent)]
    Members(#[from] MembersError),
}

/// All servers of one kind, as far as they have been found.
#[derive(Debug)]
pub struct Discovery {
    sources: Vec<Source>,
    file: Option<SourcesFile>,
    known: BTreeMap<String, Known>,
    watched: Vec<Slices>,
    /// Whoever is watched has changed.
    news: Arc<Notify>,
}

/// A server that was found.
#[derive(Debug)]
struct Known {
    member: Member,
    /// What it was found by.
    source: Source,
    seen: Instant,
}

impl Discovery {
    /// Looks nothing up yet.
    ///
    /// # Errors
    /// Two sources of one name, or too many.
    pub fn new(sources: Vec<Source>) -> Result<Self, MembersError> {
        check(&sources)?;
        Ok(Self {
            sources,
            file: None,
            known: BTreeMap::new(),
            watched: Vec::new(),
            news: Arc::default(),
        })
    }

    /// Follows a file of game servers. Looks nothing up yet.
    ///
    /// # Errors
    /// It cannot be read or understood, or names a server twice, or too many.
    pub fn of_file(path: &FilePath) -> Result<Self, DiscoveryError> {
        let (file, sources) = SourcesFile::open(path)?;
        Ok(Self {
            file: Some(file),
            ..Self::new(sources)?
        })
    }

    /// Whether [`Discovery::watch`] is needed.
    #[must_use]
    pub fn asks_kubernetes(&self) -> bool {
        let is_service = |source: &Source| matches!(source, Source::Service { .. });
        self.sources.iter().any(is_service)
    }

    /// Begins to listen to Kubernetes about its services. Needs a runtime.
    pub fn watch(&mut self, kubernetes: &kube::Client) {
        for source in &self.sources {
            if let Source::Service {
                name,
                namespace,
                ports,
            } = source
            {
                let namespace = namespace.as_deref().unwrap_or(kubernetes.default_namespace());
                let news = Arc::clone(&self.news);
                self.watched
                    .push(Slices::watch(kubernetes.clone(), namespace, name, *ports, news));
            }
        }
    }

    /// Whether it is worth looking again.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.file.is_some() || self.sources.iter().any(Source::changes)
    }

    /// Looks everything up once.
    pub async fn look(&mut self) -> Vec<Member> {
        let mut found = Vec::new();
        for source in &self.sources {
            let members = source.find().await.into_iter();
            found.extend(members.map(|member| (source.clone(), member)));
        }
        let mut known = self.known_after(found, Instant::now());
        for slices in &self.watched {
            known.extend(slices.told(PATIENCE).await);
        }
        known
    }

    /// Looks once, and gives `group` who was found; nobody is no error.
    ///
    /// # Errors
    /// Too many servers, or two of one name; the list stays as it was.
    pub async fn update(&mut self, group: &Group) -> Result<(), MembersError> {
        match group.replace(self.look().await) {
            Ok(true) => tracing::info!(
                servers = group.now().all().len(),
                "the list of servers has changed"
            ),
            Ok(false) | Err(MembersError::Empty) => {}
            Err(error @ (MembersError::TooMany(_) | MembersError::Repeated(_))) => return Err(error),
        }
        Ok(())
    }

    /// Keeps `group` up to date for as long as the process runs.
    pub async fn keep(mut self, group: Group) {
        while self.changes() {
            let news = Arc::clone(&self.news);
            tokio::select! {
                () = self.wait_for_file() => {}
                () = news.notified() => {}
            }
            if let Err(error) = self.update(&group).await {
                tracing::error!(%error, "the list of servers is left as it was");
            }
        }
    }

    /// Waits until it is time to look again, or a file says something new. What is wrong with it is told, and changes nothing.
    async fn wait_for_file(&mut self) {
        let again = Instant::now() + EVERY;
        while Instant::now() < again {
            let pause = if self.file.is_some() { FILE_EVERY } else { EVERY };
            tokio::time::sleep(pause).await;
            let Some(file) = &mut self.file else { continue };
            let news = file.news().map_err(DiscoveryError::from).and_then(|news| {
                news.as_deref().map_or(Ok(()), check)?;
                Ok(news)
            });
            match news {
                Ok(None) => {}
                Ok(Some(sources)) => {
                    self.sources = sources;
                    return;
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(error, "the list of servers is left as it was");
                }
            }
        }
    }

    /// Who is known now that these were found: they, and those who were found not long ago and are still to be found. When nobody was
    /// found, it is the name service that has gone, and everybody stays.
    fn known_after(&mut self, found: Vec<(Source, Member)>, now: Instant) -> Vec<Member> {
        if found.is_empty() {
            self.known.values_mut().for_each(|known| known.seen = now);
        }
        for (source, member) in found {
            let seen = now;
            self.known
                .insert(member.name.clone(), Known { member, source, seen });
        }
        let sources = &self.sources;
        self.known
            .retain(|_, known| now.duration_since(known.seen) < KEPT_FOR && sources.contains(&known.source));
        self.known.values().map(|known| known.member.clone()).collect()
    }
}

/// Whether these may stand beside each other.
fn check(sources: &[Source]) -> Result<(), MembersError> {
    if sources.len() > MEMBERS_MAX {
        return Err(MembersError::TooMany(sources.len()));
    }
    let mut names = BTreeSet::new();
    for source in sources {
        if let Source::One { name, .. } = source
            && !names.insert(name)
        {
            return Err(MembersError::Repeated(name.clone()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::Kind;

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

    #[tokio::test]
    async fn addresses_are_found_without_a_name_service_and_localhost_with_one() {
        let mut fixed = Discovery::new(vec![
            source("a=127.0.0.1:1/2").unwrap(),
            source("b=[::1]:3").unwrap(),
        ])
        .unwrap();
        assert!(!fixed.changes());
        let found = fixed.look().await;
        let told: Vec<String> = found
            .iter()
            .map(|m| format!("{} {} {:?}", m.name, m.address, m.probe_port))
            .collect();
        assert_eq!(told, ["a 127.0.0.1:1 Some(2)", "b [::1]:3 None"]);

        let mut named = Discovery::new(vec![source("localhost:9").unwrap()]).unwrap();
        assert!(named.changes());
        let found = named.look().await;
        assert!(
            found.iter().any(|m| m.name == "127-0-0-1" || m.name == "--1"),
            "{found:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_not_found_any_more_is_kept_for_a_while() {
        let set: Source = "game-{}.game:1".parse().unwrap();
        let mut discovery = Discovery::new(vec![set.clone()]).unwrap();
        let member = |name: &str| Member {
            name: name.to_owned(),
            address: "10.0.0.7:1".parse().unwrap(),
            probe_port: None,
        };
        let mut names = |found: &[&str], now| -> Vec<String> {
            let found = found.iter().map(|name| (set.clone(), member(name))).collect();
            let known = discovery.known_after(found, now);
            known.into_iter().map(|m| m.name).collect()
        };
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert_eq!(names(&["a", "b"], at(0)), ["a", "b"]);
        assert_eq!(names(&["a"], at(30)), ["a", "b"]);
        // Nobody is found: the name service is away, and time stands still.
        assert_eq!(names(&[], at(500)), ["a", "b"]);
        assert_eq!(names(&["a"], at(559)), ["a", "b"]);
        assert_eq!(names(&["a", "c"], at(560)), ["a", "c"]);
    }

    #[tokio::test]
    async fn whom_a_file_does_not_name_any_more_is_gone_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("servers");
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        write("game-0=127.0.0.1:1\ngame-1=127.0.0.1:2\n");
        let mut discovery = Discovery::of_file(&path).unwrap();
        let group = Group::nobody(Kind::Games);
        discovery.update(&group).await.unwrap();
        tokio::spawn(discovery.keep(group.clone()));
        let names = || -> Vec<String> {
            let now = group.now();
            now.all().iter().map(|server| server.name().to_owned()).collect()
        };
        let wait_for = async |expected: &[&str]| {
            while names() != expected {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        wait_for(&["game-0", "game-1"]).await;
        write("game-1=127.0.0.1:2\ngame-2=127.0.0.1:3\n");
        wait_for(&["game-1", "game-2"]).await;
        write("game-3=127.0.0.1:1\ngame-3=127.0.0.1:2\n");
        let refused = Discovery::of_file(&path).unwrap_err();
        assert!(matches!(
            refused,
            DiscoveryError::Members(MembersError::Repeated(_))
        ));
        write("game-3=127.0.0.1:1\n");
        wait_for(&["game-3"]).await;
    }
}
