//! Finding servers: hosts are looked up again and again, so that a pod may come back at another address, and a set of pods may
//! grow and shrink. Where Kubernetes is asked, `slices` hears of every change.
//!
//! A look-up that fails takes nobody away at once: a server that is gone costs a refused connection, one that was forgotten
//! because the name service hiccuped would move its games.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::group::Group;
use crate::members::{MEMBERS_MAX, Member, MembersError};
use crate::slices::Slices;
use crate::source::{PATIENCE, Source};
use crate::sources_file::{SourcesFile, SourcesFileError};

/// How often hosts are looked up. A restarted pod needs longer to become ready.
const EVERY: Duration = Duration::from_secs(5);
/// How often a file of servers is looked at.
const FILE_EVERY: Duration = Duration::from_secs(1);
/// How long a server is kept that is not found any more.
const KEPT_FOR: Duration = Duration::from_secs(60);

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

    /// Who is known now that these were found: they, and those who were found not long ago and are still to be found. When no
    /// name was found, it is the name service that has gone, and everybody stays; an address is found without one.
    fn known_after(&mut self, found: Vec<(Source, Member)>, now: Instant) -> Vec<Member> {
        if !found.iter().any(|(source, _)| source.changes()) {
            let named = self.known.values_mut().filter(|known| known.source.changes());
            named.for_each(|known| known.seen = now);
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
    use crate::source::SourceError;

    fn source(text: &str) -> Result<Source, SourceError> {
        text.parse()
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

    /// An address needs no name service, so finding it says nothing of one that has gone.
    #[tokio::test(start_paused = true)]
    async fn while_no_name_is_found_everybody_who_was_found_by_one_stays() {
        let (fixed, named): (Source, Source) = (
            "a=10.0.0.7:1".parse().unwrap(),
            "b=pod.example:1".parse().unwrap(),
        );
        let mut discovery = Discovery::new(vec![fixed.clone(), named.clone()]).unwrap();
        let begun = Instant::now();
        let mut names = |found: &[&Source], seconds| -> Vec<String> {
            let member = |source: &Source| match source {
                Source::One { name, .. } => Member::of(&format!("{name}=10.0.0.7:1")),
                Source::Set(_) | Source::All(_) | Source::Service { .. } => unreachable!(),
            };
            let found = found
                .iter()
                .map(|source| ((*source).clone(), member(source)))
                .collect();
            let known = discovery.known_after(found, begun + Duration::from_secs(seconds));
            known.into_iter().map(|m| m.name).collect()
        };
        assert_eq!(names(&[&fixed, &named], 0), ["a", "b"]);
        for seconds in [30, 60, 500] {
            assert_eq!(names(&[&fixed], seconds), ["a", "b"]);
        }
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
