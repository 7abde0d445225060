//! One game server among others: who lives, who holds which game, and who may take one over.
//!
//! The owner record in the journal's store is the truth ([`crate::journal`]); here it is decided when a server claims a game, and
//! where a connection goes whose game another server holds. A server that is alone has none of this.

mod absent;
mod dial;
mod drain;
mod history;
mod keeper;
mod lease;
mod locate;
mod members;
mod peers;
mod serve;
mod standing;
mod sweep;
mod tunnel;
mod verify;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use protocol::ids::GameCode;
use runtime::secret::Secret;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::journal::{LogError, ServerId, StoreRun};
use crate::server::Shared;
use crate::stored::{self, WriteVersion};
use crate::supervised::supervised;
use crate::tokens::{KeysError, PeerKeys};
use members::Members;

pub use dial::{DialFuture, Dialer, Duplex, TcpDialer};
pub(crate) use drain::drain;
pub(crate) use history::Elsewhere;
pub use lease::{LEASE_TIME, Lease, Leases, Member, MemoryLeases, Renewed};
use locate::Search;
pub(crate) use locate::{Free, Located, is_free, locate, recover};
pub(crate) use serve::{Via, router as peer_router};
pub(crate) use standing::Standing;
pub(crate) use tunnel::pass_on;
pub(crate) use verify::{Stand, Verdict};

/// How long a server that stops waits until its lease is given up.
const LEAVE_MAX: Duration = Duration::from_secs(1);

/// What makes a server one of several.
pub struct Membership {
    /// Where leases are kept.
    pub leases: Arc<dyn Leases>,
    /// How the others are reached: [`TcpDialer`], but in a simulation.
    pub dialer: Arc<dyn Dialer>,
    /// Where other servers reach this one's [`peer_router`](crate::GameServer::peer_router), as `host:port`.
    pub address: String,
    /// The secret that all servers share; more than one while it is changed, the one to sign with first.
    pub secrets: Vec<Secret>,
}

/// What a server knows about the others.
pub(crate) struct Cluster {
    leases: Arc<dyn Leases>,
    dialer: Arc<dyn Dialer>,
    lease: Lease,
    keys: PeerKeys,
    members: Members,
    runs: watch::Receiver<StoreRun>,
    verdicts: watch::Sender<Option<Arc<Verdict>>>,
    /// Searches under way, so that a class that comes back looks for its game once. At most one a connection.
    searches: Mutex<HashMap<GameCode, Search>>,
    /// Rung when a server turned out to be gone.
    orphans: Notify,
    standing: Arc<Standing>,
    writes: Arc<WriteVersion>,
    is_draining: AtomicBool,
    /// What runs from [`join`] to [`Cluster::leave`].
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl Cluster {
    /// `runs` is the log's.
    pub(crate) fn new(
        me: ServerId,
        membership: Membership,
        runs: watch::Receiver<StoreRun>,
    ) -> Result<Self, KeysError> {
        Ok(Self {
            keys: PeerKeys::new(&membership.secrets)?,
            leases: membership.leases,
            dialer: membership.dialer,
            lease: Lease {
                server: me,
                address: membership.address,
                reads: stored::SNAPSHOT_VERSION,
            },
            members: Members::new(runs.clone()),
            runs,
            verdicts: watch::Sender::new(None),
            searches: Mutex::default(),
            orphans: Notify::new(),
            standing: Arc::new(Standing::new()),
            writes: Arc::default(),
            is_draining: AtomicBool::new(false),
            tasks: Mutex::default(),
        })
    }

    /// Gives the lease up and stops looking after others.
    pub(crate) async fn leave(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            task.abort();
            // Aborted, or it ended by itself.
            let _ended = task.await;
        }
        let forgotten = self.leases.forget(self.me().clone());
        if !matches!(tokio::time::timeout(LEAVE_MAX, forgotten).await, Ok(Ok(()))) {
            tracing::warn!("the lease was not given up; it ends by itself");
        }
    }

    /// Whether the games here may be believed to be this server's.
    pub(crate) fn standing(&self) -> &Arc<Standing> {
        &self.standing
    }

    /// The version of snapshots that all servers read.
    pub(crate) fn writes(&self) -> Arc<WriteVersion> {
        Arc::clone(&self.writes)
    }

    /// A server with a lease that reads a version of snapshots.
    pub(crate) fn reader_of(&self, version: u8) -> Option<Lease> {
        let others = self.others().into_iter();
        let mut readers = others.filter(|member| member.is_leased && member.lease.reads >= version);
        readers.next().map(|member| member.lease)
    }

    fn me(&self) -> &ServerId {
        &self.lease.server
    }

    /// Everybody but this server, as of the last look.
    fn others(&self) -> Vec<Member> {
        self.members.but(self.me())
    }

    /// Looks who lives.
    async fn look_around(&self) -> Result<Vec<Member>, LogError> {
        let members = self.members.learn(self.leases.members().await?);
        let leased = members.iter().filter(|member| member.is_leased);
        self.writes.agree(leased.map(|member| member.lease.reads));
        Ok(members)
    }
}

/// Starts what a member does, and waits for the first lease.
pub(crate) async fn join(shared: &Arc<Shared>, cluster: &Arc<Cluster>) {
    let is_leased = Arc::new(Notify::new());
    let (c, leased) = (Arc::clone(cluster), Arc::clone(&is_leased));
    let keeper = tokio::spawn(supervised("lease", move || {
        keeper::keep(Arc::clone(&c), Arc::clone(&leased))
    }));
    is_leased.notified().await;
    let (standing, registry) = (Arc::clone(&cluster.standing), Arc::clone(&shared.registry));
    let beat = tokio::spawn(supervised("beat", move || {
        standing::beat(Arc::clone(&standing), Arc::clone(&registry))
    }));
    let c = Arc::clone(cluster);
    let verifier = tokio::spawn(supervised("verifier", move || verify::keep(Arc::clone(&c))));
    let (s, c) = (Arc::clone(shared), Arc::clone(cluster));
    let sweeper = tokio::spawn(supervised("sweeper", move || {
        sweep::sweep(Arc::clone(&s), Arc::clone(&c))
    }));
    let mut tasks = cluster.tasks.lock().unwrap_or_else(PoisonError::into_inner);
    tasks.extend([keeper, beat, verifier, sweeper]);
}
