//! Which server serves a game: this one, another one, or this one from now on because nobody does.
//!
//! The owner record is the truth, and serving means holding the game loaded under the claim that it names. A game is claimed when it
//! is nobody's, when its owner is gone or says that it does not have it, or when the owner's lease ran out and nobody answers.
//! All living servers are asked first: one that has the game stops the claim, one with a lease that cannot be asked delays it.

mod stale;

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use protocol::ids::GameCode;
use runtime::metrics::{self, Counter};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::peers::Said;
use super::{Cluster, Lease, Member};
use crate::journal::{Owner, ServerId, StoreRun};
use crate::opening::{self, Reached, Seen, Taken};
use crate::registry::Found;
use crate::server::Shared;

/// How long a client waits while nobody can say who serves its game; then it is told to come back.
const SEARCH_MAX: Duration = Duration::from_secs(2);
/// Longest wait for one answer of the store.
const STORE_MAX: Duration = Duration::from_secs(1);
/// Pause before another look, in milliseconds, drawn so that servers do not look in step.
const PAUSE_MS: (u32, u32) = (20, 80);

/// Where a game is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Located {
    /// At this server, be it as one that cannot be read.
    Here,
    /// At another one.
    At(Lease),
    /// Nowhere: there is no such game.
    Nowhere,
    /// Nowhere, as far as this server can say, which has just started: the store may have been emptied before, and whoever holds the game
    /// may be about to write it again. Good enough for who wants the code, and not for who wants the game.
    Unheard,
    /// It cannot be said now.
    Unknown,
}

/// A look that ended, or one that is to be repeated.
enum Look {
    Ends(Located),
    Again,
}

/// Finds out who serves a game, and claims it when nobody does. Everybody who asks for one code at the same time waits for the
/// same search, which goes on when they are gone.
pub(crate) async fn locate(shared: &Arc<Shared>, cluster: &Arc<Cluster>, code: GameCode) -> Located {
    let search = {
        let mut searches = cluster.searches.lock().unwrap_or_else(PoisonError::into_inner);
        let search = searches
            .entry(code)
            .or_insert_with(|| begin(shared, cluster, code));
        search.clone()
    };
    search.await
}

/// Brings a game back whose task died here, unless another server has it by now. What cannot be done yet, the next sweep does.
pub(crate) async fn recover(shared: &Arc<Shared>, cluster: &Arc<Cluster>, code: GameCode) {
    if locate(shared, cluster, code).await == Located::Unknown {
        cluster.orphans.notify_one();
    }
}

/// A search under way. Who has waited for it longest hears first.
pub(super) type Search = futures_util::future::Shared<BoxFuture<'static, Located>>;

fn begin(shared: &Arc<Shared>, cluster: &Arc<Cluster>, code: GameCode) -> Search {
    let (found, search) = oneshot::channel();
    let shared = Arc::clone(shared);
    let under_way = UnderWay {
        cluster: Arc::clone(cluster),
        code,
    };
    tokio::spawn(async move {
        let located = search_for(&shared, &under_way.cluster, code).await;
        // Before the answer, so that who asks after it begins anew.
        drop(under_way);
        // An error means that nobody waits any more.
        let _nobody = found.send(located);
    });
    // An error means that the search died.
    let search = search.map(|found| found.unwrap_or(Located::Unknown));
    search.boxed().shared()
}

/// Takes a search off the list when it ends, a panic included.
struct UnderWay {
    cluster: Arc<Cluster>,
    code: GameCode,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut searches = self
            .cluster
            .searches
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        searches.remove(&self.code);
    }
}

async fn search_for(shared: &Arc<Shared>, cluster: &Cluster, code: GameCode) -> Located {
    let give_up_at = Instant::now() + SEARCH_MAX;
    loop {
        match look(shared, cluster, code).await {
            Look::Ends(located) => return located,
            Look::Again if Instant::now() >= give_up_at => return Located::Unknown,
            Look::Again => {}
        }
        let pause_ms = shared.ambient.jitter_ms(PAUSE_MS.0, PAUSE_MS.1);
        sleep(Duration::from_millis(u64::from(pause_ms))).await;
    }
}

async fn look(shared: &Arc<Shared>, cluster: &Cluster, code: GameCode) -> Look {
    match shared.registry.find(code) {
        Found::Game(_) => return Look::Ends(Located::Here),
        Found::Lost => return Look::Ends(unreadable(shared, cluster, code).await),
        Found::Nothing if shared.registry.is_opening(code) => return Look::Again,
        Found::Nothing => {}
    }
    let reached = Reached::now(shared);
    let Ok(Ok(tail)) = timeout(STORE_MAX, reached.log.tail(code)).await else {
        // Without the store nobody can be told to be the owner, but whoever serves the game says so itself.
        return match holder(cluster, code).await {
            Some(lease) => Look::Ends(Located::At(lease)),
            None => Look::Again,
        };
    };
    match tail {
        // A store that was away may have lost the game, which its holder is about to write again.
        None if cluster.members.is_store_doubtful() || is_new(cluster) => missing(cluster, code).await,
        None => Look::Ends(Located::Nowhere),
        Some(tail) if tail.store == reached.run.store => {
            judge(shared, cluster, &reached, code, &tail.owner).await
        }
        Some(tail) => stale::judge(shared, cluster, &reached, code, &tail.owner).await,
    }
}

/// Where a game is that this server could not read, or that made it panic: another release may read it, and have it by now.
async fn unreadable(shared: &Shared, cluster: &Cluster, code: GameCode) -> Located {
    // Without the store, whoever was there a second ago is asked.
    let _unchanged = timeout(STORE_MAX, cluster.look_around()).await;
    match holder(cluster, code).await {
        Some(lease) => {
            shared.registry.forget_lost(code);
            Located::At(lease)
        }
        None => Located::Here,
    }
}

/// Who has a game that the store does not know.
async fn missing(cluster: &Cluster, code: GameCode) -> Look {
    if let Some(lease) = holder(cluster, code).await {
        return Look::Ends(Located::At(lease));
    }
    match everybody_else(cluster, cluster.others(), None, code).await {
        Silence::Complete if is_new(cluster) => Look::Ends(Located::Unheard),
        Silence::Complete => Look::Ends(Located::Nowhere),
        Silence::Broken | Silence::Unsure => Look::Again,
    }
}

/// Whether others may live of whom this server has not heard yet.
fn is_new(cluster: &Cluster) -> bool {
    cluster.standing().is_new(Instant::now())
}

/// The server that says it has the game.
pub(super) async fn holder(cluster: &Cluster, code: GameCode) -> Option<Lease> {
    let others = cluster.others();
    let said = join_all(others.iter().map(|member| cluster.ask(&member.lease, code))).await;
    let mut holders = others
        .into_iter()
        .zip(said)
        .filter_map(|(member, said)| match said {
            Said::Has(held) => Some((held.epoch, member.lease)),
            Said::HasNot | Said::Gone | Said::Nothing => None,
        });
    let first = holders.next()?;
    let (_, lease) = holders.fold(first, |one, other| if other.0 > one.0 { other } else { one });
    Some(lease)
}

/// What the owner record means now.
async fn judge(
    shared: &Arc<Shared>,
    cluster: &Cluster,
    reached: &Reached,
    code: GameCode,
    owner: &Owner,
) -> Look {
    let members = match timeout(STORE_MAX, cluster.look_around()).await {
        Ok(Ok(members)) => members,
        Ok(Err(_)) | Err(_) => return Look::Again,
    };
    if let Some(server) = owner.server.as_ref().filter(|server| *server != cluster.me()) {
        // Without an address there is no lease either: it was forgotten, since it is gone.
        let said = match members.iter().find(|member| member.lease.server == *server) {
            Some(member) => match cluster.ask(&member.lease, code).await {
                Said::Has(held) if held.claim == owner.claim => {
                    return Look::Ends(Located::At(member.lease.clone()));
                }
                // It is about to lose it, or the record is older than its claim.
                Said::Has(_) => return Look::Again,
                Said::Nothing if member.is_leased => return delayed(),
                said @ (Said::HasNot | Said::Gone | Said::Nothing) => said,
            },
            // Or the store lost its leases, and its owner is about to take one again. Who was here before knows where to ask, and who
            // has buried it knows better.
            None if server.name != cluster.me().name
                && is_new(cluster)
                && !cluster.members.is_gone(server) =>
            {
                return delayed();
            }
            None => Said::Gone,
        };
        if said == Said::Gone {
            bury(cluster, server).await;
        }
    }
    if !may_claim(shared, cluster, &reached.run) {
        return Look::Ends(Located::Unknown);
    }
    let asked = owner.server.as_ref();
    match everybody_else(cluster, members, asked, code).await {
        Silence::Complete => claim(shared, reached, code, Seen::Claim(owner.claim)).await,
        Silence::Broken => Look::Again,
        Silence::Unsure => delayed(),
    }
}

/// Whether this server may own another game.
fn may_claim(shared: &Shared, cluster: &Cluster, run: &StoreRun) -> bool {
    let is_leaving = shared.is_stopping() || cluster.is_draining();
    !is_leaving && !cluster.standing.is_unproven() && cluster.is_verified(&run.store)
}

fn delayed() -> Look {
    metrics::inc(Counter::GameClaimsDelayedTotal);
    Look::Again
}

/// A server that is certainly gone.
pub(super) async fn bury(cluster: &Cluster, server: &ServerId) {
    cluster.members.note_gone(server);
    forget(cluster, server).await;
}

/// A server that nobody need ask again: its games are to be taken up.
pub(super) async fn forget(cluster: &Cluster, server: &ServerId) {
    cluster.orphans.notify_one();
    cluster.members.forget(server);
    // Whoever finds it next does it again.
    let _failed = timeout(STORE_MAX, cluster.leases.forget(server.clone())).await;
}

/// What all living servers but one say about a game.
enum Silence {
    /// Nobody has it.
    Complete,
    /// Somebody has it.
    Broken,
    /// One with a lease cannot be asked.
    Unsure,
}

async fn everybody_else(
    cluster: &Cluster,
    members: Vec<Member>,
    but: Option<&ServerId>,
    code: GameCode,
) -> Silence {
    let others = members
        .into_iter()
        .filter(|member| member.lease.server != *cluster.me() && Some(&member.lease.server) != but);
    let said = others.map(async |member| (cluster.ask(&member.lease, code).await, member));
    let mut silence = Silence::Complete;
    for (said, member) in join_all(said).await {
        match said {
            Said::Has(_) => return Silence::Broken,
            Said::Nothing if member.is_leased => silence = Silence::Unsure,
            Said::Gone if !member.is_leased => bury(cluster, &member.lease.server).await,
            Said::HasNot | Said::Gone | Said::Nothing => {}
        }
    }
    silence
}

/// What the other servers say about a code that is free in the store: one may hold a game that the store has lost.
pub(crate) async fn is_free(cluster: &Cluster, run: &StoreRun, code: GameCode) -> Free {
    let Ok(Ok(members)) = timeout(STORE_MAX, cluster.look_around()).await else {
        return Free::Unknown;
    };
    if cluster.standing.is_unproven() || !cluster.is_verified(&run.store) {
        return Free::Unknown;
    }
    match everybody_else(cluster, members, None, code).await {
        Silence::Complete => Free::Yes,
        Silence::Broken => Free::No,
        Silence::Unsure => Free::Unknown,
    }
}

/// Whether nobody holds a game with a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Free {
    Yes,
    No,
    Unknown,
}

async fn claim(shared: &Arc<Shared>, reached: &Reached, code: GameCode, seen: Seen) -> Look {
    let Some(opening) = shared.registry.begin_restore(code) else {
        return Look::Again;
    };
    match opening::take_up(shared, reached, opening, code, seen).await {
        Ok(Taken::Game(_) | Taken::Unreadable) => Look::Ends(Located::Here),
        Ok(Taken::For(lease)) => Look::Ends(Located::At(lease)),
        // Somebody else was faster: the record says who.
        Ok(Taken::Gone) => Look::Again,
        Err(error) => {
            tracing::warn!(%code, error = &error as &dyn std::error::Error, "a game could not be taken up yet");
            Look::Again
        }
    }
}
