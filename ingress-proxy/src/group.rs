//! The servers of one kind as they are now: who they are may change while requests are on their way.

use std::sync::{Arc, PoisonError, RwLock};

use runtime::metrics::{self, Gauge};

use crate::health;
use crate::members::{Kind, Member, Members, MembersError};
use crate::tunnels::Tunnels;

/// Servers of one kind. Cheap to clone; all clones see the same.
#[derive(Debug, Clone)]
pub struct Group {
    kind: Kind,
    now: Arc<RwLock<Members>>,
    tunnels: Tunnels,
}

impl Group {
    /// Nobody yet.
    #[must_use]
    pub fn nobody(kind: Kind) -> Self {
        Self {
            kind,
            now: Arc::new(RwLock::new(Members::nobody(kind))),
            tunnels: Tunnels::default(),
        }
    }

    /// Servers to begin with.
    ///
    /// # Errors
    /// As [`Group::replace`].
    pub fn new(kind: Kind, members: Vec<Member>) -> Result<Self, MembersError> {
        let group = Self::nobody(kind);
        group.replace(members)?;
        Ok(group)
    }

    /// The tunnels to them.
    pub(crate) const fn tunnels(&self) -> &Tunnels {
        &self.tunnels
    }

    /// The servers at this moment.
    #[must_use]
    pub fn now(&self) -> Members {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes a new list; who is in both stays as it is, with its connections, and who is new is asked from now on whether it is
    /// ready. Whether anything changed. Needs a runtime.
    ///
    /// # Errors
    /// As [`Members::new`]; the old list stays then.
    pub fn replace(&self, members: Vec<Member>) -> Result<bool, MembersError> {
        let before = self.now();
        let (after, new) = before.succeeded_by(members)?;
        let changed = !new.is_empty() || after.all().len() != before.all().len();
        if changed {
            for server in new {
                tokio::spawn(health::watch(server, self.tunnels.clone()));
            }
            *self.now.write().unwrap_or_else(PoisonError::into_inner) = after;
            self.publish();
        }
        Ok(changed)
    }

    /// Tells the metrics how many there are and, of game servers, which.
    pub fn publish(&self) {
        let now = self.now();
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let ready = now.all().iter().filter(|server| server.is_ready()).count();
        match self.kind {
            Kind::Games => {
                metrics::set(Gauge::ProxyGameServers, count(now.all().len()));
                metrics::set(Gauge::ProxyGameServersReady, count(ready));
                metrics::set(Gauge::ProxyMembershipDigest, f64::from(now.digest()));
            }
            Kind::Apis => {
                metrics::set(Gauge::ProxyApis, count(now.all().len()));
                metrics::set(Gauge::ProxyApisReady, count(ready));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(texts: &[&str]) -> Vec<Member> {
        texts.iter().map(|text| Member::of(text)).collect()
    }

    #[tokio::test]
    async fn who_stays_keeps_its_connections_and_a_bad_list_changes_nothing() {
        let group = Group::new(Kind::Games, list(&["a=10.0.0.7:1", "b=10.0.0.7:2"])).unwrap();
        let before = group.now();
        assert_eq!(group.replace(list(&["b=10.0.0.7:2", "a=10.0.0.7:1"])), Ok(false));
        assert_eq!(
            group.replace(list(&["c=10.0.0.7:4", "b=10.0.0.7:2", "a=10.0.0.7:3"])),
            Ok(true)
        );
        let after = group.now();
        let same = |name: &str| Arc::ptr_eq(before.named(name).unwrap(), after.named(name).unwrap());
        assert!(same("b") && !same("a"), "b is as it was, a has moved");
        assert_eq!(after.all().len(), 3);
        assert_eq!(group.replace(Vec::new()), Err(MembersError::Empty));
        assert_eq!(group.now().all().len(), 3);
        assert_eq!(group.replace(list(&["a=10.0.0.7:3"])), Ok(true));
        assert_eq!(group.now().all().len(), 1);
    }
}
