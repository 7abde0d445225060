//! A process: one current-thread tokio runtime with a paused clock, and the real game server in it.
//!
//! Whatever the server spawns, its libraries included, lives in that runtime and nowhere else. Dropping the runtime is the
//! SIGKILL: every task is gone at the await point where it stood. A runtime that is not run stands still, as a stopped process
//! does; it wakes up late when it is caught up. Time passes only when the world says how far.

use std::cell::Cell;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::{Extension, Router};
use game_server::{
    Ambient, Backoffice, Config, DialFuture, Dialer, GameLog, GameServer, Leases, Membership, Source,
};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::Millis;
use crate::dice::Dice;
use crate::emission::{Emission, Emissions};
use crate::keys;
use crate::wire::ServerEnd;

/// Unix time at the beginning of a run, in milliseconds: the year 2100, so that no token of a run is ever past its expiry,
/// which a library compares with the machine's clock.
const WALL_START_MS: u64 = 4_102_444_800_000;
/// How long servers of a cluster show an ended game: a run is not over before.
const ENDED_LINGER: Duration = Duration::from_secs(20);
/// How long their games go on without a host: longer than any fault, and a run is not over before, when the end of a class was lost
/// with its server after everybody had gone home.
const PLAY_WITHOUT_HOST: Duration = Duration::from_secs(90);

/// A game server's process.
pub(crate) struct Process {
    /// Taken out by a kill.
    runtime: Option<Runtime>,
    server: GameServer,
    emissions: Emissions,
    park: Arc<Park>,
    /// The process's own clock when the world's was 0, or would have been.
    start: Instant,
    /// How far it has come.
    clock: Cell<Millis>,
    hurry: Arc<Notify>,
}

/// Tells when a runtime has nothing left to do at the present moment.
#[derive(Default)]
struct Park {
    is_asked: AtomicBool,
    is_parked: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Park {
    /// Called by the runtime before it waits.
    fn parked(&self) {
        if self.is_asked.load(Ordering::Relaxed) {
            self.is_parked.store(true, Ordering::Relaxed);
            let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

/// Wall clock and randomness of one process.
struct Seeded {
    dice: Mutex<Dice>,
    born: Instant,
    born_ms: Millis,
    /// What the machine's clock was set wrong by.
    step_ms: Arc<AtomicI64>,
}

impl Source for Seeded {
    fn unix_ms(&self) -> u64 {
        let since = Instant::now().saturating_duration_since(self.born);
        let since_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        (WALL_START_MS + self.born_ms + since_ms).saturating_add_signed(self.step_ms.load(Ordering::Relaxed))
    }

    fn random(&self) -> u128 {
        self.dice.lock().unwrap_or_else(PoisonError::into_inner).bits()
    }
}

/// What a process is started with.
pub(crate) struct Start {
    pub(crate) log: Arc<dyn GameLog>,
    pub(crate) backoffice: Arc<dyn Backoffice>,
    pub(crate) emissions: Emissions,
    pub(crate) dice: Dice,
    pub(crate) now: Millis,
    pub(crate) step_ms: Arc<AtomicI64>,
    pub(crate) name: String,
    /// The seat among others; none for a server that has its log to itself.
    pub(crate) seat: Option<Seat>,
}

/// What makes a process one of several.
pub(crate) struct Seat {
    pub(crate) leases: Arc<dyn Leases>,
    pub(crate) address: String,
}

/// Asks the world for connections to other servers.
struct SimDialer(Emissions);

impl Dialer for SimDialer {
    fn dial(&self, address: &str) -> DialFuture {
        let (reply, dialled) = oneshot::channel();
        let address = address.to_owned();
        self.0.push(Emission::Dial { address, reply });
        // An error means that the world ends.
        Box::pin(async move {
            dialled
                .await
                .unwrap_or_else(|_gone| Err(std::io::ErrorKind::TimedOut.into()))
        })
    }
}

impl Process {
    /// Starts a process, which takes up the games of its log, or joins the others, and then says that it is ready.
    pub(crate) fn start(start: Start) -> anyhow::Result<Self> {
        let park = Arc::new(Park::default());
        let hook = Arc::clone(&park);
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            // One task between two looks at the root, so that a kill can come after any number of them.
            .event_interval(1)
            .on_thread_park(move || hook.parked())
            .build()?;
        let guard = runtime.enter();
        let (born, born_ms, emissions) = (Instant::now(), start.now, start.emissions.clone());
        let server = Self::server(start, born)?;
        drop(guard);
        let start_of_time = born.checked_sub(Duration::from_millis(born_ms)).unwrap_or(born);
        Ok(Self {
            runtime: Some(runtime),
            server,
            emissions,
            park,
            start: start_of_time,
            clock: Cell::new(born_ms),
            hurry: Arc::default(),
        })
    }

    /// Puts the server together, and spawns its first steps into the runtime of the moment.
    fn server(start: Start, born: Instant) -> anyhow::Result<GameServer> {
        let ambient = Ambient::new(Seeded {
            dice: Mutex::new(start.dice),
            born,
            born_ms: start.now,
            step_ms: start.step_ms,
        });
        let config = Config {
            server_name: start.name,
            ..Config::default()
        };
        let (keys, emissions) = (keys::server_keys(), start.emissions);
        let Some(seat) = start.seat else {
            let server = GameServer::with_ambient(config, keys, start.backoffice, start.log, ambient);
            let restoring = server.clone();
            tokio::spawn(async move {
                let restored = restoring.restore().await.ok();
                emissions.push(Emission::Ready { restored });
            });
            return Ok(server);
        };
        let config = Config {
            ended_linger: ENDED_LINGER,
            play_without_host: PLAY_WITHOUT_HOST,
            peers_are_clients: false,
            ..config
        };
        let membership = Membership {
            leases: seat.leases,
            dialer: Arc::new(SimDialer(emissions.clone())),
            address: seat.address,
            secrets: vec![keys::peer_secret()],
        };
        let (backoffice, log) = (start.backoffice, start.log);
        let server = GameServer::in_cluster_with_ambient(config, keys, backoffice, log, membership, ambient)?;
        let joining = server.clone();
        tokio::spawn(async move {
            joining.join().await;
            emissions.push(Emission::Joined);
        });
        Ok(server)
    }

    /// How far it has come: its own time, which a process that stands still does not lose.
    pub(crate) fn clock(&self) -> Millis {
        self.clock.get()
    }

    /// Makes all the time that it stood still go by at once.
    pub(crate) fn catch_up(&self, now: Millis) {
        let Some(runtime) = &self.runtime else {
            return;
        };
        let missed = Duration::from_millis(now.saturating_sub(self.clock.get()));
        runtime.block_on(tokio::time::advance(missed));
        self.clock.set(self.clock.get().max(now));
    }

    /// What the process has sent since this was called last.
    pub(crate) fn take_emissions(&self) -> Vec<Emission> {
        self.emissions.take()
    }

    /// Its way out.
    pub(crate) fn emissions(&self) -> Emissions {
        self.emissions.clone()
    }

    /// Runs until `limit`, or until the process sends something. Says how far it came.
    pub(crate) fn run_to(&self, limit: Millis) -> Millis {
        let Some(runtime) = &self.runtime else {
            return limit;
        };
        let until = self.start + Duration::from_millis(limit);
        let emissions = &self.emissions;
        let reached = runtime.block_on(async {
            tokio::select! {
                biased;
                () = emissions.came() => {}
                () = tokio::time::sleep_until(until) => {}
            }
            Instant::now()
        });
        let since = reached.saturating_duration_since(self.start);
        let reached = u64::try_from(since.as_millis()).unwrap_or(u64::MAX).min(limit);
        self.clock.set(reached);
        reached
    }

    /// Runs everything that can run without time going by.
    pub(crate) fn settle(&self) {
        let Some(runtime) = &self.runtime else {
            return;
        };
        self.park.is_asked.store(true, Ordering::Relaxed);
        runtime.block_on(poll_fn(|context| {
            if self.park.is_parked.swap(false, Ordering::Relaxed) {
                return Poll::Ready(());
            }
            let mut waker = self.park.waker.lock().unwrap_or_else(PoisonError::into_inner);
            *waker = Some(context.waker().clone());
            Poll::Pending
        }));
        self.park.is_asked.store(false, Ordering::Relaxed);
    }

    /// Runs at most so many tasks once, without time going by.
    pub(crate) fn run_tasks(&self, mut count: u64) {
        let Some(runtime) = &self.runtime else {
            return;
        };
        runtime.block_on(poll_fn(|context| {
            if count == 0 {
                return Poll::Ready(());
            }
            count -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        }));
    }

    /// Serves a new connection of a client.
    pub(crate) fn accept(&self, end: ServerEnd, peer: SocketAddr) {
        self.serve(end, self.server.router(), peer);
    }

    /// Serves a new connection of another server.
    pub(crate) fn accept_peer(&self, end: ServerEnd, peer: SocketAddr) {
        self.serve(end, self.server.peer_router(), peer);
    }

    fn serve(&self, end: ServerEnd, router: Router, peer: SocketAddr) {
        let Some(runtime) = &self.runtime else {
            return;
        };
        let router = router.layer(Extension(ConnectInfo(peer)));
        runtime.spawn(async move {
            let service = TowerToHyperService::new(router);
            // How a connection ends is what its client sees of it.
            let _ended = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(end), service)
                .with_upgrades()
                .await;
        });
    }

    /// Asks the server to stop in order, as SIGTERM does: it hands its games over for so long, and says when it has stopped.
    pub(crate) fn stop(&self, drain_ms: Millis) {
        let Some(runtime) = &self.runtime else {
            return;
        };
        let (server, emissions) = (self.server.clone(), self.emissions.clone());
        let hurry = Arc::clone(&self.hurry);
        runtime.spawn(async move {
            tokio::select! {
                biased;
                () = hurry.notified() => {}
                () = server.drain(Duration::from_millis(drain_ms)) => {}
            }
            emissions.push(Emission::StopsListening);
            server.shutdown().await;
            emissions.push(Emission::Stopped);
        });
    }

    /// Asks again, as a second SIGTERM does.
    pub(crate) fn hurry(&self) {
        self.hurry.notify_one();
    }

    /// Kills it: every task is gone where it stands. What the tasks' destructors say is said to nobody.
    pub(crate) fn kill(mut self) {
        drop(self.runtime.take());
        drop(self.emissions.take());
    }
}
