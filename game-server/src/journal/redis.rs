//! Games in Redis: three keys a game and one hash slot, every step one function in the server, and one task that sends them in
//! groups.
//!
//! What a step does is in `redis/homeroom.lua`. This module speaks the protocol and reports honestly: an answer, "certainly not
//! done", or "nobody knows". It repeats nothing and decides nothing about who may own a game.

mod call;
mod config;
mod flusher;
mod leases;
mod library;
mod link;
mod reply;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fred::types::{Resp3Frame, Value};
use futures_util::future::try_join_all;
use protocol::ids::GameCode;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

use super::{
    Asserted, Batch, Birth, ClaimId, Claimed, Created, GameLog, LogError, LogFuture, Owner, RecordNumber,
    ServerId, StoreId, StoreRun, Stored, Tail, Written,
};
use call::{Call, CallError};
pub use config::{RedisConfig, RedisConfigError};
use flusher::Flusher;
use library::Function;
use reply::Reply;

/// Calls that may wait for the flusher: each game has at most one in flight, and a server has fewer games than this.
const QUEUE_CALLS_MAX: usize = 16_384;
/// Bytes that may wait in it or be in flight: snapshots of 500 players for a thousand games.
const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Games that one step of listing looks at.
const SCAN_COUNT: usize = 512;

/// A [`GameLog`] in Redis 7 or newer.
#[derive(Debug, Clone)]
pub struct RedisLog {
    queue: mpsc::Sender<Call>,
    bytes: Arc<Semaphore>,
    store: watch::Receiver<Option<StoreId>>,
    runs: watch::Receiver<StoreRun>,
    bound: Option<StoreRun>,
}

impl RedisLog {
    /// A log that starts to connect, in a task of its own that ends with the log's last clone. Until it is connected, and
    /// whenever it is not, calls are answered with [`LogError::NotDone`] at once.
    #[must_use]
    pub fn new(config: RedisConfig) -> Self {
        let (queue, calls) = mpsc::channel(QUEUE_CALLS_MAX);
        let (store_sender, store) = watch::channel(None);
        let (runs_sender, runs) = watch::channel(StoreRun::default());
        tokio::spawn(Flusher::new(config, calls, store_sender, runs_sender).supervise());
        Self {
            queue,
            bytes: Arc::new(Semaphore::new(QUEUE_BYTES_MAX)),
            store,
            runs,
            bound: None,
        }
    }

    /// Which run of a store is connected, now and after every change; none while there is no connection. A run that differs
    /// from the one before may lack data.
    #[must_use]
    pub fn store(&self) -> watch::Receiver<Option<StoreId>> {
        self.store.clone()
    }

    /// Queues a call. It is on its way when this returns, whether or not the future is polled.
    fn call(
        &self,
        command: &'static str,
        args: Vec<Value>,
    ) -> impl Future<Output = Result<Resp3Frame, LogError>> + Send + use<> {
        let size = args.iter().map(size_of_value).sum::<usize>();
        let permit = u32::try_from(size)
            .ok()
            .and_then(|size| Arc::clone(&self.bytes).try_acquire_many_owned(size).ok());
        let (answer, answered) = oneshot::channel();
        let call = Call {
            command,
            args,
            connection: self.bound.as_ref().map(|run| run.connection),
            answer,
        };
        let queued = match permit {
            Some(permit) => self
                .queue
                .try_send(call)
                .map(|()| permit)
                .map_err(|_| CallError::Full),
            None => Err(CallError::Full),
        };
        async move {
            let _permit = queued?;
            Ok(answered.await.unwrap_or(Err(CallError::Abandoned))?)
        }
    }

    /// Calls a function of the library about a game.
    fn function<T: 'static>(
        &self,
        function: Function,
        code: GameCode,
        args: Vec<Value>,
        read: fn(Reply) -> Result<T, LogError>,
    ) -> LogFuture<T> {
        let mut all: Vec<Value> = vec![function.name().into(), "1".into(), format!("o:{{{code}}}").into()];
        all.extend(args);
        let answer = self.call("FCALL", all);
        Box::pin(async move { read(Reply::new(function.what(), answer.await?)?) })
    }

    /// What is written into owner records as the run of the store. A stale one is possible and only tells that it is stale.
    fn run(&self) -> Value {
        match &self.bound {
            Some(run) => run.store.as_str().into(),
            None => self.runs.borrow().store.as_str().into(),
        }
    }

    /// A game as it is born, for a function.
    fn born(&self, birth: Birth) -> Vec<Value> {
        let owner = birth.owner;
        vec![
            bytes(*owner.game.0.as_bytes()),
            owner.create_key.into(),
            owner.server.as_ref().map_or("", |server| &server.name).into(),
            incarnation(owner.server.as_ref()),
            number(u64::from(owner.epoch)),
            claim_value(owner.claim),
            number(birth.through.0),
            self.run(),
            bytes(birth.facts),
            bytes(birth.snapshot),
        ]
    }
}

impl GameLog for RedisLog {
    fn create(&self, code: GameCode, birth: Birth) -> LogFuture<Created> {
        self.function(
            Function::Create,
            code,
            self.born(birth),
            |mut reply| match reply.text()?.as_str() {
                "new" => Ok(Created::New),
                "same" => Ok(Created::Same(reply.owner()?)),
                "taken" => Ok(Created::Taken(reply.owner()?)),
                _ => Err(reply.corrupt()),
            },
        )
    }

    fn claim(
        &self,
        code: GameCode,
        seen: ClaimId,
        server: ServerId,
        claim: ClaimId,
        least_epoch: u32,
    ) -> LogFuture<Claimed> {
        let incarnation = incarnation(Some(&server));
        let args = vec![
            claim_value(seen),
            claim_value(claim),
            server.name.into(),
            incarnation,
            self.run(),
            number(u64::from(least_epoch)),
        ];
        self.function(Function::Claim, code, args, |mut reply| {
            match reply.text()?.as_str() {
                "yes" => Ok(Claimed::Yes(reply.owner()?)),
                "beaten" => Ok(Claimed::Beaten(reply.owner()?)),
                "missing" => Ok(Claimed::Missing),
                _ => Err(reply.corrupt()),
            }
        })
    }

    fn assert(&self, code: GameCode, birth: Birth) -> LogFuture<Asserted> {
        self.function(
            Function::Assert,
            code,
            self.born(birth),
            |mut reply| match reply.text()?.as_str() {
                "yes" => Ok(Asserted::Yes(reply.owner()?)),
                "fenced" => Ok(Asserted::Fenced),
                "refused" => Ok(Asserted::Refused {
                    last: reply.number()?,
                }),
                _ => Err(reply.corrupt()),
            },
        )
    }

    fn append(&self, code: GameCode, claim: ClaimId, batch: Batch) -> LogFuture<Written> {
        // The claim and the frames are one argument, which saves the bytes of a second one's length.
        let mut sent = claim.0.as_bytes().to_vec();
        sent.extend_from_slice(batch.bytes());
        self.function(Function::Append, code, vec![bytes(sent)], |mut reply| {
            reply.written()
        })
    }

    fn snapshot(
        &self,
        code: GameCode,
        claim: ClaimId,
        through: RecordNumber,
        snapshot: Vec<u8>,
    ) -> LogFuture<Written> {
        let args = vec![claim_value(claim), number(through.0), bytes(snapshot)];
        self.function(Function::Snapshot, code, args, |mut reply| reply.written())
    }

    fn tail(&self, code: GameCode) -> LogFuture<Option<Tail>> {
        self.function(Function::Tail, code, Vec::new(), |mut reply| {
            match reply.text()?.as_str() {
                "found" => reply.tail().map(Some),
                "missing" => Ok(None),
                _ => Err(reply.corrupt()),
            }
        })
    }

    fn load(&self, code: GameCode) -> LogFuture<Option<Stored>> {
        self.function(Function::Load, code, Vec::new(), |mut reply| {
            match reply.text()?.as_str() {
                "found" => reply.stored().map(Some),
                "missing" => Ok(None),
                _ => Err(reply.corrupt()),
            }
        })
    }

    fn release(&self, code: GameCode, claim: ClaimId) -> LogFuture<Written> {
        self.function(Function::Release, code, vec![claim_value(claim)], |mut reply| {
            reply.written()
        })
    }

    fn remove(&self, code: GameCode, claim: ClaimId, after: Duration) -> LogFuture<Written> {
        let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::from(u32::MAX));
        let args = vec![claim_value(claim), number(after_ms)];
        self.function(Function::Remove, code, args, |mut reply| reply.written())
    }

    fn games(&self) -> LogFuture<Vec<(GameCode, Option<Owner>)>> {
        let log = self.clone();
        Box::pin(async move {
            let mut games = BTreeMap::new();
            let mut cursor = "0".to_owned();
            loop {
                let (next, codes) = log.scan(cursor).await?;
                let owners = try_join_all(codes.into_iter().map(|code| log.listed(code))).await?;
                games.extend(owners.into_iter().flatten());
                if next == "0" {
                    return Ok(games.into_iter().collect());
                }
                cursor = next;
            }
        })
    }

    fn runs(&self) -> watch::Receiver<StoreRun> {
        let mut runs = self.runs.clone();
        runs.mark_unchanged();
        runs
    }

    fn bound(&self, run: &StoreRun) -> Option<Arc<dyn GameLog>> {
        Some(Arc::new(Self {
            bound: Some(run.clone()),
            ..self.clone()
        }))
    }
}

impl RedisLog {
    /// A game that was found, with its owner if that can be read; none when it went meanwhile.
    async fn listed(&self, code: GameCode) -> Result<Option<(GameCode, Option<Owner>)>, LogError> {
        match self.tail(code).await {
            Ok(tail) => Ok(tail.map(|tail| (code, Some(tail.owner)))),
            Err(LogError::Corrupt { .. }) => Ok(Some((code, None))),
            Err(error @ (LogError::Unavailable(_) | LogError::NotDone(_))) => Err(error),
        }
    }

    /// One step of listing: where to go on, and codes found. A code can be found twice.
    async fn scan(&self, cursor: String) -> Result<(String, Vec<GameCode>), LogError> {
        let count = number(u64::try_from(SCAN_COUNT).unwrap_or(u64::MAX));
        let args = vec![
            cursor.into(),
            "MATCH".into(),
            "o:{*}".into(),
            "COUNT".into(),
            count,
        ];
        let mut reply = Reply::new("the list of games", self.call("SCAN", args).await?)?;
        let next = reply.text()?;
        let mut keys = reply.list()?;
        let mut codes = Vec::new();
        while keys.len() > 0 {
            let key = keys.text()?;
            let code = key.strip_prefix("o:{").and_then(|key| key.strip_suffix('}'));
            // Keys that are not ours are left alone.
            codes.extend(code.and_then(|code| code.parse::<GameCode>().ok()));
        }
        Ok((next, codes))
    }
}

fn bytes(bytes: impl Into<Vec<u8>>) -> Value {
    Value::Bytes(bytes.into().into())
}

fn number(number: u64) -> Value {
    number.to_string().into()
}

fn claim_value(claim: ClaimId) -> Value {
    bytes(*claim.0.as_bytes())
}

fn incarnation(server: Option<&ServerId>) -> Value {
    bytes(
        *server
            .map_or(uuid::Uuid::nil(), |server| server.incarnation)
            .as_bytes(),
    )
}

fn size_of_value(value: &Value) -> usize {
    value.as_bytes().map_or(0, <[u8]>::len)
}
