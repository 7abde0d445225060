//! What happened to a game that another server has, for who may know. Asking changes nothing: nobody takes a game up for it.

use std::time::Duration;

use protocol::ids::GameCode;
use protocol::timeline::GameTimeline;
use tokio::time::timeout;

use super::{Cluster, locate};
use crate::server::Shared;

/// Longest wait for the owner record.
const STORE_MAX: Duration = Duration::from_secs(1);

/// Where a game is that this server does not have, and what happened to it.
#[derive(Debug)]
pub(crate) enum Elsewhere {
    /// At this server, which told it.
    Told(String, Box<GameTimeline>),
    /// At this one, which did not.
    Silent(String),
    /// Kept, and nobody has it.
    Unowned,
    /// The store cannot be asked, and nobody said that he has it.
    Unknown,
    /// Not kept.
    Nowhere,
}

impl Cluster {
    /// Asks whoever has a game what happened to it.
    pub(crate) async fn timeline_elsewhere(&self, shared: &Shared, code: GameCode) -> Elsewhere {
        if let Some(lease) = locate::holder(self, code).await {
            let path = format!("/peer/timeline?g={code}");
            return match self.get::<GameTimeline>(&lease, &path).await {
                Ok(timeline) => Elsewhere::Told(lease.server.name, Box::new(timeline)),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(
                        server = lease.server.name,
                        error,
                        "a game server tells no timeline"
                    );
                    Elsewhere::Silent(lease.server.name)
                }
            };
        }
        let Ok(Ok(tail)) = timeout(STORE_MAX, shared.log.tail(code)).await else {
            return Elsewhere::Unknown;
        };
        match tail {
            None => Elsewhere::Nowhere,
            Some(tail) => match tail.owner.server {
                // An earlier run of a server that lives now has it no longer.
                Some(server) if self.others().iter().any(|other| other.lease.server == server) => {
                    Elsewhere::Silent(server.name)
                }
                Some(_) | None => Elsewhere::Unowned,
            },
        }
    }
}
