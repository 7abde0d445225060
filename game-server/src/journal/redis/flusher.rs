//! The one task that talks to Redis. It sends everything that waits, waits for all answers, and sends what came meanwhile:
//! groups form by themselves, as large as the round trip is long.
//!
//! No call is ever sent twice. While there is no connection calls are refused at once; when one is lost, those in flight are
//! answered as unknown. Repeating is up to whoever called.

use std::time::Duration;

use fred::types::Resp3Frame;
use futures_util::future::join_all;
use runtime::metrics::{Alive, Gauge};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::call::{Call, CallError};
use super::config::RedisConfig;
use super::link::{Link, LinkError};
use super::reply;
use crate::journal::{StoreId, StoreRun};
use crate::supervised::has_panicked;

/// Calls sent before their answers are awaited: at 100 bytes an append one group fills a few dozen packets.
pub(super) const GROUP_CALLS_MAX: usize = 512;
/// First and longest pause between attempts to connect: a server that is back is found within a second, and one that is
/// away is not asked more often than that.
const RECONNECT_FIRST: Duration = Duration::from_millis(20);
const RECONNECT_MAX: Duration = Duration::from_secs(1);

/// How often it is looked whether Redis still is the run that it was. One that is emptied by hand, or whose replicas change, ends no
/// connection.
const LOOK: Duration = Duration::from_secs(1);

/// The task's state.
pub(super) struct Flusher {
    config: RedisConfig,
    calls: mpsc::Receiver<Call>,
    store: watch::Sender<Option<StoreId>>,
    /// The last connection.
    runs: watch::Sender<StoreRun>,
}

/// Why a link is served no longer.
enum End {
    /// It is lost.
    Lost,
    /// Nobody can call any more.
    Unused,
}

impl Flusher {
    /// A flusher that is not connected. `store` says who is connected, or none.
    pub(super) fn new(
        config: RedisConfig,
        calls: mpsc::Receiver<Call>,
        store: watch::Sender<Option<StoreId>>,
        runs: watch::Sender<StoreRun>,
    ) -> Self {
        Self {
            config,
            calls,
            store,
            runs,
        }
    }

    /// Connects and serves until nobody can call any more. What it was doing when it panicked is answered as unknown.
    pub(super) async fn supervise(mut self) {
        while has_panicked("flusher", Box::pin(self.run())).await {}
    }

    async fn run(&mut self) {
        // After a panic.
        self.store.send_if_modified(|store| store.take().is_some());
        while let Some(mut link) = self.connect().await {
            self.greet(link.store().clone());
            let connected = Alive::new(Gauge::RedisConnected);
            let end = self.serve(&mut link).await;
            drop((link, connected));
            self.store.send_replace(None);
            if matches!(end, End::Unused) {
                return;
            }
            tracing::warn!(redis = %self.config, "connection to Redis lost");
        }
    }

    fn greet(&mut self, store: StoreId) {
        let before = self.runs.borrow().clone();
        let changed = before.connection > 0 && before.store != store;
        if changed {
            tracing::warn!(redis = %self.config, %store, "connected to Redis, which is not the run it was: data may be missing");
        } else {
            tracing::info!(redis = %self.config, %store, "connected to Redis");
        }
        self.runs.send_replace(StoreRun {
            connection: before.connection + 1,
            store: store.clone(),
        });
        self.store.send_replace(Some(store));
    }

    /// Tries until there is a link, refusing calls meanwhile; none when nobody can call any more.
    async fn connect(&mut self) -> Option<Link> {
        let mut pause = RECONNECT_FIRST;
        let mut said = false;
        loop {
            let opened = {
                let config = self.config.clone();
                let opening = async move { Link::open(&config).await };
                refuse_until(&mut self.calls, opening).await?
            };
            match opened {
                Ok(link) => return Some(link),
                Err(error) => self.say_once(&mut said, &error),
            }
            refuse_until(&mut self.calls, sleep_until(Instant::now() + pause)).await?;
            pause = (pause * 2).min(RECONNECT_MAX);
        }
    }

    fn say_once(&self, said: &mut bool, error: &LinkError) {
        if !std::mem::replace(said, true) {
            tracing::warn!(redis = %self.config, error = error as &dyn std::error::Error, "no connection to Redis, trying again");
        }
    }

    async fn serve(&mut self, link: &mut Link) -> End {
        let mut group = Vec::new();
        let mut look_at = Instant::now() + LOOK;
        loop {
            let received = tokio::select! {
                received = self.calls.recv_many(&mut group, GROUP_CALLS_MAX) => received,
                () = link.lost() => return End::Lost,
                () = sleep_until(look_at) => {
                    if !link.is_the_same().await {
                        return End::Lost;
                    }
                    look_at = Instant::now() + LOOK;
                    continue;
                }
            };
            if received == 0 {
                return End::Unused;
            }
            let connection = self.runs.borrow().connection;
            if send(link, meant_for(connection, std::mem::take(&mut group)))
                .await
                .is_err()
            {
                return End::Lost;
            }
        }
    }
}

/// The calls that may take this connection; the others are answered.
fn meant_for(connection: u64, group: Vec<Call>) -> Vec<Call> {
    let is_outlived = |call: &mut Call| call.connection.is_some_and(|only| only != connection);
    let mut group = group;
    for call in group.extract_if(.., is_outlived) {
        let _gone = call.answer.send(Err(CallError::Outlived));
    }
    group
}

/// The link must be given up.
struct Condemned;

/// Sends a group and hands out the answers.
async fn send(link: &Link, group: Vec<Call>) -> Result<(), Condemned> {
    let mut condemned = false;
    let mut without_library = Vec::new();
    for (call, answer) in ask_all(link, group).await? {
        match answer {
            Err(error) if error.wants_library() => without_library.push(call),
            answer => condemned |= hand_out(call, answer),
        }
    }
    if !without_library.is_empty() {
        // Those were refused before anything ran, so sending them is no repetition.
        if let Err(error) = link.load_library().await {
            condemned |= error.condemns_connection();
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "Redis does not take our functions"
            );
        }
        for (call, answer) in ask_all(link, without_library).await? {
            condemned |= hand_out(call, answer);
        }
    }
    if condemned { Err(Condemned) } else { Ok(()) }
}

/// Calls with their answers. That a game is missing is believed only of a store that has not lost everything since it was met: after
/// that the connection is another one, and so is what its caller has to do.
async fn ask_all(
    link: &Link,
    group: Vec<Call>,
) -> Result<Vec<(Call, Result<Resp3Frame, CallError>)>, Condemned> {
    let answers = join_all(group.into_iter().map(async |call| {
        let answer = link.ask(call.command, call.args.clone()).await;
        (call, answer)
    }))
    .await;
    let says_missing =
        |(_, answer): &(Call, Result<Resp3Frame, CallError>)| answer.as_ref().is_ok_and(reply::says_missing);
    if !answers.iter().any(says_missing) || link.is_the_same().await {
        return Ok(answers);
    }
    for answered in answers {
        let is_missing = says_missing(&answered);
        let (call, answer) = answered;
        hand_out(
            call,
            if is_missing {
                Err(CallError::Emptied)
            } else {
                answer
            },
        );
    }
    Err(Condemned)
}

/// Whether the answer condemns the connection.
fn hand_out(call: Call, answer: Result<Resp3Frame, CallError>) -> bool {
    let condemns = answer.as_ref().is_err_and(CallError::condemns_connection);
    // Whoever asked may be gone.
    let _gone = call.answer.send(answer);
    condemns
}

/// Waits for `until` and refuses all calls that come meanwhile; none when nobody can call any more.
async fn refuse_until<T>(calls: &mut mpsc::Receiver<Call>, until: impl Future<Output = T>) -> Option<T> {
    tokio::pin!(until);
    loop {
        tokio::select! {
            done = &mut until => return Some(done),
            call = calls.recv() => {
                let _gone = call?.answer.send(Err(CallError::Away));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    /// Counts warnings, and panics at the first one, so that whoever warns does.
    #[derive(Clone, Default)]
    struct Touchy(Arc<AtomicU32>);

    impl Subscriber for Touchy {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() == Level::WARN
        }

        fn new_span(&self, _span: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _span: &Id, _values: &Record<'_>) {}

        fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

        fn event(&self, _event: &Event<'_>) {
            assert_ne!(self.0.fetch_add(1, Ordering::AcqRel), 0, "the test says so");
        }

        fn enter(&self, _span: &Id) {}

        fn exit(&self, _span: &Id) {}
    }

    #[tokio::test]
    async fn one_that_panics_begins_again() {
        let warnings = Touchy::default();
        let _guard = tracing::subscriber::set_default(warnings.clone());
        // Nobody listens there, which is warned of.
        let config = RedisConfig::parse("redis://127.0.0.1:1").unwrap();
        let (_calls, receiver) = mpsc::channel(1);
        let (store, _) = watch::channel(None);
        let (runs, _) = watch::channel(StoreRun::default());
        let flusher = tokio::spawn(Flusher::new(config, receiver, store, runs).supervise());
        let again = async {
            while warnings.0.load(Ordering::Acquire) < 2 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), again)
            .await
            .expect("nobody talks to Redis any more");
        flusher.abort();
    }
}
