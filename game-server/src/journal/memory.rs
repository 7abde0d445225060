//! Games in memory: gone with the process. For the simulation, the tests, and a process that keeps nothing on disk.
//!
//! Its store can be put into trouble on purpose: too slow, away, or answering into the void. Its size is bounded by its
//! writers, who replace a journal by a snapshot at [`JOURNAL_BYTES_MAX`](crate::JOURNAL_BYTES_MAX).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::ids::GameCode;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{
    Asserted, Batch, Birth, ClaimId, Claimed, Created, GameLog, LogError, LogFuture, Owner, RecordNumber,
    ServerId, StoreId, StoreRun, Stored, Tail, Written,
};

/// A [`GameLog`] in memory. Clones share one store.
#[derive(Debug, Clone)]
pub struct MemoryLog {
    inner: Arc<Inner>,
    bound: Option<StoreRun>,
}

#[derive(Debug)]
struct Inner {
    games: Mutex<BTreeMap<GameCode, Kept>>,
    trouble: watch::Sender<Trouble>,
    run: watch::Sender<StoreRun>,
}

/// Everything that a log in memory keeps at one moment.
#[derive(Debug, Clone)]
pub struct MemoryImage(BTreeMap<GameCode, Kept>);

/// What is wrong with the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trouble {
    /// Nothing.
    #[default]
    None,
    /// Every call waits until this changes.
    Stuck,
    /// Every call takes this long.
    Slow(Duration),
    /// Every call fails, and nothing is kept.
    Away,
    /// Writes are kept, and the answer of every call is lost.
    Unanswered,
    /// Every call is refused for certain, as by a store without memory.
    Refusing,
}

#[derive(Debug, Clone)]
struct Kept {
    stored: Stored,
    store: StoreId,
    remove_at: Option<Instant>,
}

impl Default for MemoryLog {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryLog {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self {
            inner: Arc::new(Inner {
                games: Mutex::default(),
                trouble: watch::Sender::new(Trouble::None),
                run: watch::Sender::new(StoreRun::default()),
            }),
            bound: None,
        }
    }

    /// Puts the store into trouble, or out of it.
    pub fn set_trouble(&self, trouble: Trouble) {
        self.inner.trouble.send_replace(trouble);
    }

    /// Loses everything, as a store that restarts without its data.
    pub fn lose_all(&self) {
        self.lock().clear();
    }

    /// What it keeps now.
    #[must_use]
    pub fn image(&self) -> MemoryImage {
        MemoryImage(self.lock().clone())
    }

    /// Keeps what it kept then, as a replica does that takes over and had not heard of everything.
    pub fn go_back(&self, to: MemoryImage) {
        *self.lock() = to.0;
    }

    /// Is reached anew as this run: another one than before may lack data.
    pub fn come_back(&self, store: StoreId) {
        self.inner.run.send_modify(|run| {
            run.connection += 1;
            run.store = store;
        });
    }

    /// Changes what is kept of one game: for tests that damage it.
    pub fn tamper(&self, code: GameCode, change: impl FnOnce(&mut Stored)) {
        if let Some(kept) = self.lock().get_mut(&code) {
            change(&mut kept.stored);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<GameCode, Kept>> {
        // Every change of the map is one step.
        self.inner.games.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `call` as the trouble of the moment has it.
    fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut BTreeMap<GameCode, Kept>) -> T + Send + 'static,
    ) -> LogFuture<T> {
        let log = self.clone();
        Box::pin(async move {
            let mut seen = log.inner.trouble.subscribe();
            // An error means that the sender is gone, and `log` holds it.
            let trouble = seen
                .wait_for(|trouble| *trouble != Trouble::Stuck)
                .await
                .map_or(Trouble::None, |trouble| *trouble);
            match trouble {
                Trouble::None | Trouble::Stuck => {}
                Trouble::Slow(time) => tokio::time::sleep(time).await,
                Trouble::Away => return Err(LogError::Unavailable("in trouble on purpose".into())),
                Trouble::Refusing => return Err(LogError::NotDone("in trouble on purpose".into())),
                Trouble::Unanswered => {
                    log.now(call);
                    return Err(LogError::Unavailable("in trouble on purpose".into()));
                }
            }
            if log
                .bound
                .as_ref()
                .is_some_and(|run| *run != *log.inner.run.borrow())
            {
                return Err(LogError::NotDone("another connection by now".into()));
            }
            Ok(log.now(call))
        })
    }

    /// The run under which owners are written.
    fn store(&self) -> StoreId {
        self.inner.run.borrow().store.clone()
    }

    fn now<T>(&self, call: impl FnOnce(&mut BTreeMap<GameCode, Kept>) -> T) -> T {
        let mut games = self.lock();
        let now = Instant::now();
        games.retain(|_, kept| kept.remove_at.is_none_or(|at| at > now));
        call(&mut games)
    }

    /// A write under a claim.
    fn write(
        &self,
        code: GameCode,
        claim: ClaimId,
        write: impl FnOnce(&mut Kept) -> Written + Send + 'static,
    ) -> LogFuture<Written> {
        self.call(move |games| match games.get_mut(&code) {
            None => Written::Missing,
            Some(kept) if kept.stored.owner.claim != claim => Written::Fenced,
            Some(kept) => write(kept),
        })
    }
}

impl Kept {
    fn born(birth: Birth, store: StoreId) -> Self {
        Self {
            stored: Stored {
                owner: birth.owner,
                facts: birth.facts,
                snapshot: birth.snapshot,
                through: birth.through,
                journal: Vec::new(),
                last: birth.through,
            },
            store,
            remove_at: None,
        }
    }
}

impl GameLog for MemoryLog {
    fn outlives_server(&self) -> bool {
        false
    }

    fn create(&self, code: GameCode, birth: Birth) -> LogFuture<Created> {
        let log = self.clone();
        self.call(move |games| {
            if let Some(kept) = games.get(&code) {
                let owner = kept.stored.owner.clone();
                return if owner.is_same_birth(&birth.owner) {
                    Created::Same(owner)
                } else {
                    Created::Taken(owner)
                };
            }
            games.insert(code, Kept::born(birth, log.store()));
            Created::New
        })
    }

    fn claim(
        &self,
        code: GameCode,
        seen: ClaimId,
        server: ServerId,
        claim: ClaimId,
        least_epoch: u32,
    ) -> LogFuture<Claimed> {
        let log = self.clone();
        self.call(move |games| {
            let Some(kept) = games.get_mut(&code) else {
                return Claimed::Missing;
            };
            let owner = &mut kept.stored.owner;
            if owner.claim == claim {
                return Claimed::Yes(owner.clone());
            }
            if owner.claim != seen {
                return Claimed::Beaten(owner.clone());
            }
            *owner = owner.claimed_by(server, claim, least_epoch);
            kept.store = log.store();
            Claimed::Yes(owner.clone())
        })
    }

    fn assert(&self, code: GameCode, mut birth: Birth) -> LogFuture<Asserted> {
        let log = self.clone();
        self.call(move |games| {
            let store = log.store();
            if let Some(kept) = games.get(&code) {
                let is_present = kept.store == store;
                let owner = &kept.stored.owner;
                if is_present && owner.claim != birth.owner.claim {
                    return Asserted::Fenced;
                }
                let last = kept.stored.last;
                if is_present && birth.through < last {
                    return Asserted::Refused { last };
                }
                birth.owner.epoch = owner.epoch_asserted(birth.owner.epoch, is_present);
            }
            let owner = birth.owner.clone();
            games.insert(code, Kept::born(birth, store));
            Asserted::Yes(owner)
        })
    }

    fn append(&self, code: GameCode, claim: ClaimId, batch: Batch) -> LogFuture<Written> {
        self.write(code, claim, move |kept| {
            let last = kept.stored.last;
            let Some(batch) = batch.after(last) else {
                return Written::Refused { last };
            };
            kept.stored.journal.extend_from_slice(batch.bytes());
            kept.stored.last = last.max(batch.last());
            Written::Saved
        })
    }

    fn snapshot(
        &self,
        code: GameCode,
        claim: ClaimId,
        through: RecordNumber,
        snapshot: Vec<u8>,
    ) -> LogFuture<Written> {
        self.write(code, claim, move |kept| {
            let stored = &mut kept.stored;
            if through < stored.last {
                return Written::Refused { last: stored.last };
            }
            stored.snapshot = snapshot;
            stored.through = through;
            stored.last = through;
            stored.journal = Vec::new();
            Written::Saved
        })
    }

    fn tail(&self, code: GameCode) -> LogFuture<Option<Tail>> {
        self.call(move |games| {
            games.get(&code).map(|kept| Tail {
                owner: kept.stored.owner.clone(),
                last: kept.stored.last,
                store: kept.store.clone(),
            })
        })
    }

    fn load(&self, code: GameCode) -> LogFuture<Option<Stored>> {
        self.call(move |games| games.get(&code).map(|kept| kept.stored.clone()))
    }

    fn release(&self, code: GameCode, claim: ClaimId) -> LogFuture<Written> {
        self.write(code, claim, |kept| {
            kept.stored.owner.server = None;
            kept.stored.owner.claim = ClaimId::NONE;
            Written::Saved
        })
    }

    fn remove(&self, code: GameCode, claim: ClaimId, after: Duration) -> LogFuture<Written> {
        let remove_at = Instant::now() + after;
        self.call(move |games| match games.get_mut(&code) {
            None => Written::Missing,
            Some(kept) if kept.stored.owner.claim != claim => Written::Fenced,
            Some(_) if after.is_zero() => {
                games.remove(&code);
                Written::Saved
            }
            Some(kept) => {
                kept.remove_at = Some(remove_at);
                Written::Saved
            }
        })
    }

    fn games(&self) -> LogFuture<Vec<(GameCode, Option<Owner>)>> {
        self.call(|games| {
            games
                .iter()
                .map(|(code, kept)| (*code, Some(kept.stored.owner.clone())))
                .collect()
        })
    }

    fn runs(&self) -> watch::Receiver<StoreRun> {
        let mut runs = self.inner.run.subscribe();
        runs.mark_unchanged();
        runs
    }

    fn bound(&self, run: &StoreRun) -> Option<Arc<dyn GameLog>> {
        Some(Arc::new(Self {
            inner: Arc::clone(&self.inner),
            bound: Some(run.clone()),
        }))
    }
}
