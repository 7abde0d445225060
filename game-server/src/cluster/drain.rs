//! Leaving without ending a class: each game goes over to the server that would get it next, at a moment that suits it.
//!
//! A game is saved whole and given back to the log, then its successor is told to take it, then its clients are told to come back
//! ([`crate::actor`]). Whoever comes too early or too late is sent there as for any game of another server.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use http::{Request, StatusCode};
use protocol::ids::GameCode;
use protocol::placement;
use tokio::time::{Instant, sleep, timeout};

use super::peers::{self, PEER_HEADER, PeerError};
use super::{Cluster, Lease};
use crate::server::Shared;

/// Pause between two games that are asked to go: a class that comes back costs its new server some milliseconds.
const PAUSE: Duration = Duration::from_millis(5);
/// Longest wait for the list of servers.
const LOOK_MAX: Duration = Duration::from_secs(1);
/// Time after the deadline for games to be saved and given back.
const LEAVE_MAX: Duration = Duration::from_secs(5);
/// Longest wait until a successor has taken a game: as long as a class may be without service.
const TAKE_MAX: Duration = Duration::from_millis(800);
/// Servers that are asked to take a game, one after another.
const SUCCESSORS_MAX: usize = 2;

impl Cluster {
    /// Whether this server gives its games away.
    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    /// The others with a lease, in the order in which a proxy would ask them for a game.
    fn successors(&self, code: GameCode) -> Vec<Lease> {
        let mut others: Vec<Lease> = self
            .others()
            .into_iter()
            .filter(|member| member.is_leased)
            .map(|member| member.lease)
            .collect();
        let code = code.to_string();
        others.sort_by_cached_key(|lease| std::cmp::Reverse(placement::weight(&lease.server.name, &code)));
        others
    }

    /// The server that gets what this one does not take any more.
    pub(crate) fn successor(&self, code: GameCode) -> Option<Lease> {
        self.successors(code).into_iter().next()
    }

    /// Has another server take a game that was given back. When none does, the first one that is asked for it will.
    pub(crate) async fn hand_over(&self, code: GameCode) {
        for lease in self.successors(code).iter().take(SUCCESSORS_MAX) {
            match timeout(TAKE_MAX, self.have_taken(lease, code)).await {
                Ok(Ok(())) => return,
                Ok(Err(error)) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(%code, server = lease.server.name, error, "a game was not taken over");
                }
                Err(_elapsed) => {
                    tracing::warn!(%code, server = lease.server.name, "a game was not taken over in time");
                }
            }
        }
    }

    async fn have_taken(&self, lease: &Lease, code: GameCode) -> Result<(), PeerError> {
        let request = Request::post(format!("/peer/take?g={code}"))
            .header(http::header::HOST, &lease.address)
            .header(PEER_HEADER, self.keys.token())
            .body(Body::empty())
            .map_err(PeerError::Request)?;
        let answer = peers::send(self.connect(lease).await?, request).await?;
        match answer.status() {
            StatusCode::NO_CONTENT => Ok(()),
            status => Err(PeerError::Status(status)),
        }
    }
}

/// Hands all games over, each at its next quiet moment, and those that have none within `max` then.
pub(crate) async fn drain(shared: &Arc<Shared>, cluster: &Cluster, max: Duration) {
    // Without the store, whoever was there a second ago is asked.
    let _unchanged = timeout(LOOK_MAX, cluster.look_around()).await;
    cluster.is_draining.store(true, Ordering::Release);
    let deadline = Instant::now() + max;
    let all_gone = async {
        loop {
            // Again, since one may have been on its way in.
            for game in shared.registry.all() {
                game.hand_over(deadline);
                sleep(PAUSE).await;
            }
            let emptied = shared.registry.emptied();
            if timeout(Duration::from_secs(1), emptied).await.is_ok() {
                return;
            }
        }
    };
    let games = shared.registry.len();
    tracing::info!(games, "draining");
    if timeout(max + LEAVE_MAX, all_gone).await.is_err() {
        tracing::warn!(games = shared.registry.len(), "not all games were handed over");
    }
}
