//! The store of a run: a [`MemoryLog`] that the world drives, and the log that a process sees of it.
//!
//! A call travels to the store and back like a message: it can be slow, get lost on either way, arrive after its caller has
//! given up, or outlive its caller. What becomes of it is decided by the world's [`Weather`](crate::weather::Weather).

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use game_server::{
    Asserted, Batch, Birth, ClaimId, Claimed, Created, GameLog, LogError, LogFuture, MemoryLog, Owner,
    RecordNumber, ServerId, StoreRun, Stored, Tail, Written,
};
use protocol::ids::GameCode;
use tokio::sync::{oneshot, watch};

use crate::emission::{Emission, Emissions};
use crate::mutation::Mutation;

/// What is asked of the store.
#[derive(Debug, Clone)]
pub(crate) enum Ask {
    Create(GameCode, Box<Birth>),
    Claim(GameCode, ClaimId, ServerId, ClaimId, u32),
    Assert(GameCode, Box<Birth>),
    Append(GameCode, ClaimId, Batch),
    Snapshot(GameCode, ClaimId, RecordNumber, Vec<u8>),
    Tail(GameCode),
    Load(GameCode),
    Release(GameCode, ClaimId),
    Remove(GameCode, ClaimId, Duration),
    Games,
}

impl Ask {
    /// For the trace.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Create(..) => "create",
            Self::Claim(..) => "claim",
            Self::Assert(..) => "assert",
            Self::Append(..) => "append",
            Self::Snapshot(..) => "snapshot",
            Self::Tail(_) => "tail",
            Self::Load(_) => "load",
            Self::Release(..) => "release",
            Self::Remove(..) => "remove",
            Self::Games => "games",
        }
    }

    /// Whether it would change something.
    pub(crate) fn is_write(&self) -> bool {
        match self {
            Self::Create(..)
            | Self::Claim(..)
            | Self::Assert(..)
            | Self::Append(..)
            | Self::Snapshot(..)
            | Self::Release(..)
            | Self::Remove(..) => true,
            Self::Tail(_) | Self::Load(_) | Self::Games => false,
        }
    }
}

/// The store's answer.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    Created(Created),
    Claimed(Claimed),
    Asserted(Asserted),
    Written(Written),
    Tail(Option<Tail>),
    Stored(Option<Box<Stored>>),
    Games(Vec<(GameCode, Option<Owner>)>),
}

/// How a caller learns what became of its call.
pub(crate) type Reply = oneshot::Sender<Result<Said, LogError>>;

/// A call on its way.
pub(crate) struct Call {
    pub(crate) ask: Ask,
    pub(crate) reply: Reply,
}

/// The store as one process sees it.
pub(crate) struct SimLog {
    emissions: Emissions,
    runs: watch::Receiver<StoreRun>,
    mutation: Option<Mutation>,
}

impl SimLog {
    fn ask<T: Send + 'static>(&self, ask: Ask, pick: fn(Said) -> Option<T>) -> LogFuture<T> {
        let emissions = self.emissions.clone();
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            emissions.push(Emission::Call(Call { ask, reply }));
            let said = answer
                .await
                .unwrap_or_else(|gone| Err(LogError::Unavailable(gone.into())))?;
            pick(said).ok_or(LogError::Corrupt { what: "an answer" })
        })
    }

    fn write(&self, ask: Ask) -> LogFuture<Written> {
        self.ask(ask, |said| match said {
            Said::Written(written) => Some(written),
            Said::Created(_)
            | Said::Claimed(_)
            | Said::Asserted(_)
            | Said::Tail(_)
            | Said::Stored(_)
            | Said::Games(_) => None,
        })
    }
}

impl GameLog for SimLog {
    fn create(&self, code: GameCode, birth: Birth) -> LogFuture<Created> {
        self.ask(Ask::Create(code, Box::new(birth)), |said| match said {
            Said::Created(created) => Some(created),
            Said::Written(_)
            | Said::Claimed(_)
            | Said::Asserted(_)
            | Said::Tail(_)
            | Said::Stored(_)
            | Said::Games(_) => None,
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
        self.ask(
            Ask::Claim(code, seen, server, claim, least_epoch),
            |said| match said {
                Said::Claimed(claimed) => Some(claimed),
                Said::Written(_)
                | Said::Created(_)
                | Said::Asserted(_)
                | Said::Tail(_)
                | Said::Stored(_)
                | Said::Games(_) => None,
            },
        )
    }

    fn assert(&self, code: GameCode, birth: Birth) -> LogFuture<Asserted> {
        self.ask(Ask::Assert(code, Box::new(birth)), |said| match said {
            Said::Asserted(asserted) => Some(asserted),
            Said::Written(_)
            | Said::Created(_)
            | Said::Claimed(_)
            | Said::Tail(_)
            | Said::Stored(_)
            | Said::Games(_) => None,
        })
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
        self.ask(Ask::Tail(code), |said| match said {
            Said::Tail(tail) => Some(tail),
            Said::Written(_)
            | Said::Created(_)
            | Said::Claimed(_)
            | Said::Asserted(_)
            | Said::Stored(_)
            | Said::Games(_) => None,
        })
    }

    fn load(&self, code: GameCode) -> LogFuture<Option<Stored>> {
        self.ask(Ask::Load(code), |said| match said {
            Said::Stored(stored) => Some(stored.map(|stored| *stored)),
            Said::Written(_)
            | Said::Created(_)
            | Said::Claimed(_)
            | Said::Asserted(_)
            | Said::Tail(_)
            | Said::Games(_) => None,
        })
    }

    fn release(&self, code: GameCode, claim: ClaimId) -> LogFuture<Written> {
        self.write(Ask::Release(code, claim))
    }

    fn remove(&self, code: GameCode, claim: ClaimId, after: Duration) -> LogFuture<Written> {
        self.write(Ask::Remove(code, claim, after))
    }

    fn games(&self) -> LogFuture<Vec<(GameCode, Option<Owner>)>> {
        self.ask(Ask::Games, |said| match said {
            Said::Games(games) => Some(games),
            Said::Written(_)
            | Said::Created(_)
            | Said::Claimed(_)
            | Said::Asserted(_)
            | Said::Tail(_)
            | Said::Stored(_) => None,
        })
    }

    fn runs(&self) -> watch::Receiver<StoreRun> {
        self.runs.clone()
    }
}

/// The store itself.
pub(crate) struct Store {
    log: MemoryLog,
    mutation: Option<Mutation>,
    runs: watch::Sender<StoreRun>,
}

impl Store {
    pub(crate) fn new(mutation: Option<Mutation>) -> Self {
        Self {
            log: MemoryLog::new(),
            mutation,
            runs: watch::Sender::new(StoreRun::default()),
        }
    }

    /// The log that a new process gets.
    pub(crate) fn log(&self, emissions: Emissions) -> Arc<dyn GameLog> {
        Arc::new(SimLog {
            emissions,
            runs: self.runs.subscribe(),
            mutation: self.mutation,
        })
    }

    /// It can be reached again: its callers look after their games.
    pub(crate) fn is_back(&self) {
        self.runs.send_modify(|run| run.connection += 1);
    }

    /// It restarts without its data.
    pub(crate) fn empty(&self) {
        self.log.lose_all();
    }

    /// What it keeps of a game.
    pub(crate) fn kept(&self, code: GameCode) -> Option<Stored> {
        at_once(self.log.load(code)).flatten()
    }

    /// Does what is asked, in one step.
    pub(crate) fn perform(&self, ask: Ask) -> Option<Said> {
        if let Some(mutation) = self.mutation
            && let Some(said) = mutation.perform(&self.log, &ask)
        {
            return Some(said);
        }
        let log = &self.log;
        match ask {
            Ask::Create(code, birth) => at_once(log.create(code, *birth)).map(Said::Created),
            Ask::Claim(code, seen, server, claim, least_epoch) => {
                at_once(log.claim(code, seen, server, claim, least_epoch)).map(Said::Claimed)
            }
            Ask::Assert(code, birth) => at_once(log.assert(code, *birth)).map(Said::Asserted),
            Ask::Append(code, claim, batch) => at_once(log.append(code, claim, batch)).map(Said::Written),
            Ask::Snapshot(code, claim, through, snapshot) => {
                at_once(log.snapshot(code, claim, through, snapshot)).map(Said::Written)
            }
            Ask::Tail(code) => at_once(log.tail(code)).map(Said::Tail),
            Ask::Load(code) => at_once(log.load(code))
                .map(|stored| Said::Stored(stored.map(|stored| Box::new(self.shown(stored))))),
            Ask::Release(code, claim) => at_once(log.release(code, claim)).map(Said::Written),
            Ask::Remove(code, claim, after) => at_once(log.remove(code, claim, after)).map(Said::Written),
            Ask::Games => at_once(log.games()).map(Said::Games),
        }
    }

    fn shown(&self, stored: Stored) -> Stored {
        match self.mutation {
            Some(mutation) => mutation.shown(stored),
            None => stored,
        }
    }

    /// Keeps records longer than it must after `ask`, as a store does that tidies up later: those that a snapshot covers, and
    /// those of an append that were there already. Readers skip both by their numbers.
    pub(crate) fn leave_untidy(&self, ask: &Ask, before: Option<&Stored>) {
        let Some(before) = before else { return };
        match ask {
            Ask::Snapshot(code, ..) => self
                .log
                .tamper(*code, |stored| stored.journal.clone_from(&before.journal)),
            Ask::Append(code, _, batch) if batch.follows() < before.last => {
                self.log.tamper(*code, |stored| {
                    stored.journal.clone_from(&before.journal);
                    stored.journal.extend_from_slice(batch.bytes());
                })
            }
            Ask::Append(..)
            | Ask::Create(..)
            | Ask::Claim(..)
            | Ask::Assert(..)
            | Ask::Tail(_)
            | Ask::Load(_)
            | Ask::Release(..)
            | Ask::Remove(..)
            | Ask::Games => {}
        }
    }

    /// An append that was cut off by the death of both its caller and the store's machine: its first bytes are there.
    pub(crate) fn tear(&self, code: GameCode, claim: ClaimId, batch: &Batch, bytes: usize) {
        self.log.tamper(code, |stored| {
            if stored.owner.claim == claim && batch.follows() == stored.last {
                let torn = batch.bytes().get(..bytes).unwrap_or_default();
                stored.journal.extend_from_slice(torn);
            }
        });
    }
}

/// The answer of a log in memory, which never waits; none when it fails, which it never does without trouble.
pub(crate) fn at_once<T>(call: LogFuture<T>) -> Option<T> {
    let mut call = pin!(call);
    match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer.ok(),
        Poll::Pending => None,
    }
}
