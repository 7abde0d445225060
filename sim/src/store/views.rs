//! The store as one process sees it: calls that leave as messages, and answers that come as such.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use game_server::{
    Asserted, Batch, Birth, ClaimId, Claimed, Created, GameLog, Lease, Leases, LogError, LogFuture, Member,
    Owner, RecordNumber, Renewed, ServerId, StoreRun, Stored, Tail, Written,
};
use protocol::ids::GameCode;
use tokio::sync::{oneshot, watch};

use super::{Ask, Call, Said};
use crate::emission::{Emission, Emissions};
use crate::mutation::Mutation;

/// A process's way to the store.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) emissions: Emissions,
    pub(super) era: Arc<AtomicU32>,
}

/// Sends a call on its way and waits for what comes back.
fn ask<T: Send + 'static>(line: &Connection, ask: Ask, pick: fn(Said) -> Option<T>) -> LogFuture<T> {
    let line = line.clone();
    Box::pin(async move {
        let (reply, answer) = oneshot::channel();
        let era = line.era.load(Ordering::Relaxed);
        line.emissions.push(Emission::Call(Call { ask, reply, era }));
        let said = answer
            .await
            .unwrap_or_else(|gone| Err(LogError::Unavailable(gone.into())))?;
        pick(said).ok_or(LogError::Corrupt { what: "an answer" })
    })
}

/// Takes out of an answer what was asked for.
macro_rules! said {
    ($variant:ident) => {
        |said| {
            if let Said::$variant(it) = said {
                Some(it)
            } else {
                None
            }
        }
    };
}

/// A game as it was once.
pub(super) type Cached = Arc<Mutex<Option<Stored>>>;

/// Keeps the game, unless it was kept under this owner before.
fn preload(cached: &Cached, stored: Option<&Stored>) {
    let mut cached = cached.lock().unwrap_or_else(PoisonError::into_inner);
    let claim = |stored: &Stored| stored.owner.claim;
    if cached.as_ref().map(claim) != stored.map(claim) {
        *cached = stored.cloned();
    }
}

/// The game as it was when its last owner was first seen, under the owner of now.
fn as_of_before(cached: &Cached, stored: Stored) -> Stored {
    let before = cached.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match before {
        Some(before) => Stored {
            owner: stored.owner,
            ..before
        },
        None => stored,
    }
}

/// The log as one process sees it.
#[derive(Clone)]
pub(super) struct SimLog {
    pub(super) line: Connection,
    pub(super) runs: watch::Receiver<StoreRun>,
    /// The only connection that its calls may take.
    pub(super) bound: Option<StoreRun>,
    pub(super) mutation: Option<Mutation>,
    /// The game as it was when the process first saw its owner: for one mutation.
    pub(super) cached: Cached,
}

impl SimLog {
    fn ask<T: Send + 'static>(&self, what: Ask, pick: fn(Said) -> Option<T>) -> LogFuture<T> {
        if self.bound.as_ref().is_some_and(|run| *run != *self.runs.borrow()) {
            return Box::pin(std::future::ready(Err(LogError::NotDone(
                "another connection by now".into(),
            ))));
        }
        ask(&self.line, what, pick)
    }

    fn write(&self, ask: Ask) -> LogFuture<Written> {
        self.ask(ask, said!(Written))
    }
}

impl GameLog for SimLog {
    fn create(&self, code: GameCode, birth: Birth) -> LogFuture<Created> {
        self.ask(Ask::Create(code, Box::new(birth)), said!(Created))
    }

    fn claim(
        &self,
        code: GameCode,
        seen: ClaimId,
        server: ServerId,
        claim: ClaimId,
        least_epoch: u32,
    ) -> LogFuture<Claimed> {
        self.ask(Ask::Claim(code, seen, server, claim, least_epoch), said!(Claimed))
    }

    fn assert(&self, code: GameCode, birth: Birth) -> LogFuture<Asserted> {
        self.ask(Ask::Assert(code, Box::new(birth)), said!(Asserted))
    }

    fn append(&self, code: GameCode, claim: ClaimId, batch: Batch) -> LogFuture<Written> {
        let acks_early = self.mutation.is_some_and(|mutation| mutation.acks_early(&batch));
        let written = self.write(Ask::Append(code, claim, batch));
        if acks_early {
            return Box::pin(async move {
                // The call goes out as ever, and is not waited for.
                let mut written = written;
                let _first_step =
                    std::future::poll_fn(|context| Poll::Ready(written.as_mut().poll(context))).await;
                Ok(Written::Saved)
            });
        }
        written
    }

    fn snapshot(
        &self,
        code: GameCode,
        claim: ClaimId,
        through: RecordNumber,
        snapshot: Vec<u8>,
    ) -> LogFuture<Written> {
        self.write(Ask::Snapshot(code, claim, through, snapshot))
    }

    fn tail(&self, code: GameCode) -> LogFuture<Option<Tail>> {
        if self.mutation != Some(Mutation::LoadBeforeClaim) {
            return self.ask(Ask::Tail(code), said!(Tail));
        }
        let stored = self.ask(Ask::Load(code), said!(Stored));
        let cached = Arc::clone(&self.cached);
        let store = self.runs.borrow().store.clone();
        Box::pin(async move {
            let stored = stored.await?.map(|stored| *stored);
            preload(&cached, stored.as_ref());
            Ok(stored.map(|stored| Tail {
                last: stored.last,
                owner: stored.owner,
                store,
            }))
        })
    }

    fn load(&self, code: GameCode) -> LogFuture<Option<Stored>> {
        let stored = self.ask(Ask::Load(code), said!(Stored));
        let stale = (self.mutation == Some(Mutation::LoadBeforeClaim)).then(|| Arc::clone(&self.cached));
        Box::pin(async move {
            let stored = stored.await?.map(|stored| *stored);
            Ok(match (stale, stored) {
                (Some(stale), Some(stored)) => Some(as_of_before(&stale, stored)),
                (Some(_) | None, stored) => stored,
            })
        })
    }

    fn release(&self, code: GameCode, claim: ClaimId) -> LogFuture<Written> {
        self.write(Ask::Release(code, claim))
    }

    fn remove(&self, code: GameCode, claim: ClaimId, after: Duration) -> LogFuture<Written> {
        self.write(Ask::Remove(code, claim, after))
    }

    fn games(&self) -> LogFuture<Vec<(GameCode, Option<Owner>)>> {
        self.ask(Ask::Games, said!(Games))
    }

    fn runs(&self) -> watch::Receiver<StoreRun> {
        self.runs.clone()
    }

    fn bound(&self, run: &StoreRun) -> Option<Arc<dyn GameLog>> {
        Some(Arc::new(Self {
            bound: Some(run.clone()),
            ..self.clone()
        }))
    }
}

/// The leases as one process sees them.
pub(super) struct SimLeases {
    pub(super) line: Connection,
}

impl Leases for SimLeases {
    fn renew(&self, lease: Lease) -> LogFuture<Renewed> {
        ask(&self.line, Ask::Renew(lease), said!(Renewed))
    }

    fn members(&self) -> LogFuture<Vec<Member>> {
        ask(&self.line, Ask::Members, said!(Members))
    }

    fn forget(&self, server: ServerId) -> LogFuture<()> {
        ask(&self.line, Ask::Forget(server), |said| {
            matches!(said, Said::Done).then_some(())
        })
    }
}
