//! The store of a run: a [`MemoryLog`] that the world drives with the leases of the servers, and what a process sees of both.
//!
//! A call travels to the store and back like a message: it can be slow, get lost on either way, arrive after its caller has
//! given up, or outlive its caller. What becomes of it is decided by the world's [`Weather`](crate::weather::Weather).

mod leases;
mod views;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use game_server::{
    Asserted, Batch, Birth, ClaimId, Claimed, Created, GameLog, Lease, Leases, LogError, LogFuture, Member,
    MemoryImage, MemoryLog, Owner, RecordNumber, Renewed, ServerId, StoreId, StoreRun, Stored, Tail, Written,
};
use protocol::ids::GameCode;
use tokio::sync::{oneshot, watch};

use crate::Millis;
use crate::emission::Emissions;
use crate::mutation::{Epochs, Mutation};
use leases::LeaseBook;
use views::{SimLeases, SimLog};

/// Changes that it can go back by: what a replica may miss.
const PAST_MAX: usize = 48;

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
    Renew(Lease),
    Members,
    Forget(ServerId),
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
            Self::Renew(_) => "renew",
            Self::Members => "members",
            Self::Forget(_) => "forget",
        }
    }

    /// Whether it would change a game.
    pub(crate) fn is_write(&self) -> bool {
        match self {
            Self::Create(..)
            | Self::Claim(..)
            | Self::Assert(..)
            | Self::Append(..)
            | Self::Snapshot(..)
            | Self::Release(..)
            | Self::Remove(..) => true,
            Self::Tail(_)
            | Self::Load(_)
            | Self::Games
            | Self::Renew(_)
            | Self::Members
            | Self::Forget(_) => false,
        }
    }

    /// The game whose owner it may change.
    fn code(&self) -> Option<GameCode> {
        match self {
            Self::Create(code, _)
            | Self::Claim(code, ..)
            | Self::Assert(code, _)
            | Self::Release(code, _) => Some(*code),
            Self::Append(..)
            | Self::Snapshot(..)
            | Self::Tail(_)
            | Self::Load(_)
            | Self::Remove(..)
            | Self::Games
            | Self::Renew(_)
            | Self::Members
            | Self::Forget(_) => None,
        }
    }

    /// The game that it writes and the claim that it is made under, if it writes a living game.
    pub(crate) fn claim(&self) -> Option<(GameCode, ClaimId)> {
        match self {
            Self::Append(code, claim, _) | Self::Snapshot(code, claim, ..) => Some((*code, *claim)),
            Self::Create(..)
            | Self::Claim(..)
            | Self::Assert(..)
            | Self::Tail(_)
            | Self::Load(_)
            | Self::Release(..)
            | Self::Remove(..)
            | Self::Games
            | Self::Renew(_)
            | Self::Members
            | Self::Forget(_) => None,
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
    Members(Vec<Member>),
    Done,
    Renewed(Renewed),
}

/// How a caller learns what became of its call.
pub(crate) type Reply = oneshot::Sender<Result<Said, LogError>>;

/// A call on its way.
pub(crate) struct Call {
    pub(crate) ask: Ask,
    pub(crate) reply: Reply,
    /// How often the store had lost something when its caller connected: a connection to what it was before leads nowhere.
    pub(crate) era: u32,
}

/// The store itself.
pub(crate) struct Store {
    log: MemoryLog,
    leases: LeaseBook,
    mutation: Option<Mutation>,
    epochs: Epochs,
    /// How often it lost data: another run of it each time.
    losses: u32,
    /// What it kept before its last changes, the present included.
    past: VecDeque<MemoryImage>,
    /// Tells each server when it can reach the store again, and which run of it.
    runs: Vec<watch::Sender<StoreRun>>,
    /// The era in which each server has connected.
    eras: Vec<Arc<AtomicU32>>,
}

impl Store {
    /// A store for so many servers.
    pub(crate) fn new(mutation: Option<Mutation>, servers: usize) -> Self {
        Self {
            log: MemoryLog::new(),
            leases: LeaseBook::default(),
            mutation,
            epochs: Epochs::default(),
            losses: 0,
            past: VecDeque::new(),
            eras: (0..servers).map(|_| Arc::default()).collect(),
            runs: (0..servers)
                .map(|_| watch::Sender::new(StoreRun::default()))
                .collect(),
        }
    }

    /// What a new process of a server gets of it.
    pub(crate) fn views(&self, server: usize, emissions: Emissions) -> (Arc<dyn GameLog>, Arc<dyn Leases>) {
        let run = self.log.runs().borrow().clone();
        let runs = self.runs.get(server).map(|runs| {
            runs.send_modify(|seen| seen.store = run.store);
            runs.subscribe()
        });
        let line = views::Connection {
            emissions,
            era: self.eras.get(server).map(Arc::clone).unwrap_or_default(),
        };
        line.era.store(self.losses, Ordering::Relaxed);
        let log = SimLog {
            line: line.clone(),
            runs: runs.unwrap_or_else(|| watch::channel(StoreRun::default()).1),
            bound: None,
            mutation: self.mutation,
            cached: views::Cached::default(),
        };
        (Arc::new(log), Arc::new(SimLeases { line }))
    }

    /// A server can reach it again, and looks after its games.
    pub(crate) fn is_back_for(&self, server: usize) {
        let store = self.log.runs().borrow().store.clone();
        if let Some(era) = self.eras.get(server) {
            era.store(self.losses, Ordering::Relaxed);
        }
        if let Some(runs) = self.runs.get(server) {
            runs.send_modify(|run| {
                run.connection += 1;
                run.store = store;
            });
        }
    }

    /// It restarts without its data, as another run.
    pub(crate) fn empty(&mut self) {
        self.log.lose_all();
        self.past.clear();
        self.leases = LeaseBook::default();
        self.is_another_run();
    }

    /// A replica takes over that missed so many of the last changes, with its leases or with those of long ago. False when it kept no
    /// game then.
    pub(crate) fn go_back(&mut self, changes: usize, code: GameCode, are_leases_old: bool) -> bool {
        let Some(index) = self.past.len().checked_sub(changes + 1) else {
            return false;
        };
        let present = self.log.image();
        if let Some(then) = self.past.get(index) {
            self.log.go_back(then.clone());
        }
        if self.kept(code).is_none() {
            self.log.go_back(present);
            return false;
        }
        self.past.truncate(index + 1);
        if are_leases_old {
            self.leases.run_out();
        }
        self.is_another_run();
        true
    }

    fn is_another_run(&mut self) {
        self.losses += 1;
        let id = if self.mutation == Some(Mutation::NoRunId) {
            StoreId::default()
        } else {
            StoreId::new(self.losses.to_string())
        };
        self.log.come_back(id);
    }

    /// Which run of it answers now.
    pub(crate) fn run(&self) -> StoreId {
        self.log.runs().borrow().store.clone()
    }

    /// How often it has lost data.
    pub(crate) fn era(&self) -> u32 {
        self.losses
    }

    /// Whether what it keeps of a game was written in its present run.
    pub(crate) fn is_present(&self, code: GameCode) -> bool {
        let store = self.run();
        at_once(self.log.tail(code))
            .flatten()
            .is_some_and(|tail| tail.store == store)
    }

    /// What it keeps of a game.
    pub(crate) fn kept(&self, code: GameCode) -> Option<Stored> {
        at_once(self.log.load(code)).flatten()
    }

    /// Does what is asked, in one step.
    pub(crate) fn perform(&mut self, now: Millis, ask: Ask) -> Option<Said> {
        let (code, is_write) = (ask.code(), ask.is_write());
        let said = self
            .mutation
            .and_then(|mutation| mutation.perform(&self.log, &self.epochs, &ask))
            .or_else(|| self.perform_well(now, ask));
        if let Some(kept) = code.and_then(|code| self.kept(code)) {
            self.epochs.note(&kept.owner);
        }
        if is_write {
            self.past.push_back(self.log.image());
            while self.past.len() > PAST_MAX {
                self.past.pop_front();
            }
        }
        said
    }

    fn perform_well(&mut self, now: Millis, ask: Ask) -> Option<Said> {
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
            Ask::Games => at_once(log.games()).map(|games| Said::Games(self.listed(games))),
            Ask::Renew(lease) => Some(Said::Renewed(self.leases.renew(now, lease))),
            Ask::Members => Some(Said::Members(self.leases.members(now))),
            Ask::Forget(server) => {
                self.leases.forget(&server);
                Some(Said::Done)
            }
        }
    }

    fn listed(&self, games: Vec<(GameCode, Option<Owner>)>) -> Vec<(GameCode, Option<Owner>)> {
        // A server that is alone has no other way to come to know its games.
        if self.mutation == Some(Mutation::NoSweep) && self.runs.len() > 1 {
            return Vec::new();
        }
        games
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
        if let Ask::Snapshot(code, ..) = ask {
            self.log
                .tamper(*code, |stored| stored.journal.clone_from(&before.journal));
        } else if let Ask::Append(code, _, batch) = ask
            && batch.follows() < before.last
        {
            self.log.tamper(*code, |stored| {
                stored.journal.clone_from(&before.journal);
                stored.journal.extend_from_slice(batch.bytes());
            });
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
