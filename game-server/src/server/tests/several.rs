//! Two servers of one process that share a log, each of which asks the other: moments that processes meet seldom.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Extension;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use futures_util::{SinkExt, StreamExt};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use protocol::ids::GameCode;
use runtime::secret::Secret;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::Role;
use tower::ServiceExt as _;

use super::*;
use crate::cluster::{
    DialFuture, Dialer, Duplex, LEASE_TIME, Lease, Leases, Located, Member, MemoryLeases, Renewed, locate,
};
use crate::journal::{
    Asserted, Batch, ClaimId, Claimed, LogFuture, StoreId, StoreRun, Stored, Tail, Trouble, Written,
};

/// The way from one server to the other.
#[derive(Clone, Default)]
struct Roads(Arc<Mutex<HashMap<String, GameServer>>>);

impl Dialer for Roads {
    fn dial(&self, address: &str) -> DialFuture {
        let server = self.0.lock().unwrap().get(address).cloned();
        Box::pin(async move {
            let server = server.ok_or(io::ErrorKind::ConnectionRefused)?;
            let (near, far) = duplex(16 * 1024);
            serve(far, server.peer_router());
            Ok(Box::new(near) as Box<dyn Duplex>)
        })
    }
}

fn serve(end: DuplexStream, router: Router) {
    let client = SocketAddr::from(([10, 0, 0, 1], 40_000));
    let router = router.layer(Extension(ConnectInfo(client)));
    tokio::spawn(async move {
        let service = TowerToHyperService::new(router);
        let _ended = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(end), service)
            .with_upgrades()
            .await;
    });
}

/// A log that hands out no game while its gate is closed, and that may lose everything just before a game is given back.
struct Gated {
    log: MemoryLog,
    gate: Arc<tokio::sync::Semaphore>,
    is_about_to_lose: Arc<AtomicBool>,
    /// The next list of games makes its caller panic.
    is_about_to_panic: Arc<AtomicBool>,
}

impl GameLog for Gated {
    fn create(&self, code: GameCode, birth: Birth) -> LogFuture<Created> {
        self.log.create(code, birth)
    }

    fn claim(
        &self,
        code: GameCode,
        seen: ClaimId,
        server: ServerId,
        claim: ClaimId,
        least_epoch: u32,
    ) -> LogFuture<Claimed> {
        self.log.claim(code, seen, server, claim, least_epoch)
    }

    fn assert(&self, code: GameCode, birth: Birth) -> LogFuture<Asserted> {
        self.log.assert(code, birth)
    }

    fn append(&self, code: GameCode, claim: ClaimId, batch: Batch) -> LogFuture<Written> {
        self.log.append(code, claim, batch)
    }

    fn snapshot(
        &self,
        code: GameCode,
        claim: ClaimId,
        through: RecordNumber,
        snapshot: Vec<u8>,
    ) -> LogFuture<Written> {
        self.log.snapshot(code, claim, through, snapshot)
    }

    fn tail(&self, code: GameCode) -> LogFuture<Option<Tail>> {
        self.log.tail(code)
    }

    fn load(&self, code: GameCode) -> LogFuture<Option<Stored>> {
        let (load, gate) = (self.log.load(code), Arc::clone(&self.gate));
        Box::pin(async move {
            let _passed = gate.acquire().await;
            load.await
        })
    }

    fn release(&self, code: GameCode, claim: ClaimId) -> LogFuture<Written> {
        if self.is_about_to_lose.swap(false, Ordering::AcqRel) {
            self.log.lose_all();
        }
        self.log.release(code, claim)
    }

    fn remove(&self, code: GameCode, claim: ClaimId, after: Duration) -> LogFuture<Written> {
        self.log.remove(code, claim, after)
    }

    fn games(&self) -> LogFuture<Vec<(GameCode, Option<Owner>)>> {
        assert!(
            !self.is_about_to_panic.swap(false, Ordering::AcqRel),
            "the test says so"
        );
        self.log.games()
    }

    fn runs(&self) -> tokio::sync::watch::Receiver<StoreRun> {
        self.log.runs()
    }
}

struct Pair {
    log: MemoryLog,
    /// In front of the log of the first server alone.
    gate: Arc<tokio::sync::Semaphore>,
    /// The same.
    is_about_to_lose: Arc<AtomicBool>,
    is_about_to_panic: Arc<AtomicBool>,
    roads: Roads,
    leases: MemoryLeases,
    servers: [GameServer; 2],
    code: GameCode,
}

impl Pair {
    /// With a game in the log that nobody has.
    async fn new() -> Self {
        Self::with(poisoned()).await
    }

    /// With this game in the log.
    async fn with(birth: Birth) -> Self {
        let log = MemoryLog::new();
        let code = testing::facts(testing::mixed_quiz()).code;
        assert_eq!(log.create(code, birth).await.unwrap(), Created::New);
        let gate = Arc::new(tokio::sync::Semaphore::new(1));
        let is_about_to_lose = Arc::new(AtomicBool::new(false));
        let is_about_to_panic = Arc::new(AtomicBool::new(false));
        let gated = Arc::new(Gated {
            log: log.clone(),
            gate: Arc::clone(&gate),
            is_about_to_lose: Arc::clone(&is_about_to_lose),
            is_about_to_panic: Arc::clone(&is_about_to_panic),
        });
        let (roads, leases) = (Roads::default(), MemoryLeases::new());
        let member = |name: &str, log: Arc<dyn GameLog>| {
            let config = Config {
                server_name: name.to_owned(),
                ..Config::default()
            };
            let membership = Membership {
                leases: Arc::new(leases.clone()),
                dialer: Arc::new(roads.clone()),
                address: name.to_owned(),
                secrets: vec![Secret::given(testing::SECRET).unwrap()],
            };
            let api = Arc::new(testing::Taker);
            let server = GameServer::in_cluster(config, testing::keys(), api, log, membership).unwrap();
            roads.0.lock().unwrap().insert(name.to_owned(), server.clone());
            server
        };
        let servers = [member("game-0", gated), member("game-1", Arc::new(log.clone()))];
        Self {
            log,
            gate,
            is_about_to_lose,
            is_about_to_panic,
            roads,
            leases,
            servers,
            code,
        }
    }

    /// The servers know each other, and the first one has the game.
    async fn joined() -> Self {
        let pair = Self::new().await;
        for server in &pair.servers {
            server.join().await;
        }
        let first = pair.servers[0].0.cluster.as_ref().unwrap();
        while first.reader_of(0).is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(pair.until_found(0).await, Located::Here);
        pair
    }

    async fn locate(&self, server: usize) -> Located {
        let shared = &self.servers[server].0;
        locate(shared, shared.cluster.as_ref().unwrap(), self.code).await
    }

    /// Asks a server until it can say where the game is.
    async fn until_found(&self, server: usize) -> Located {
        loop {
            match self.locate(server).await {
                Located::Unknown => {}
                found @ (Located::Here | Located::At(_) | Located::Nowhere | Located::Unheard) => {
                    return found;
                }
            }
        }
    }

    fn found(&self, server: usize) -> Found {
        self.servers[server].0.registry.find(self.code)
    }

    async fn owner(&self) -> Option<String> {
        let stored = self.log.load(self.code).await.unwrap().unwrap();
        stored.owner.server.map(|server| server.name)
    }

    /// What `server` says to whoever asks, when the game is at the other one.
    async fn assert_at(&self, server: usize, owner: &str) {
        let found = self.until_found(server).await;
        assert!(
            matches!(&found, Located::At(lease) if lease.server.name == owner),
            "{found:?}"
        );
        assert_eq!(self.owner().await.as_deref(), Some(owner));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_has_just_started_denies_no_game() {
    let pair = Pair::new().await;
    // However long it waited for the store.
    tokio::time::sleep(2 * LEASE_TIME).await;
    pair.servers[0].join().await;
    // As in a store that was emptied before the server came, while the holder of the game cannot reach it.
    let lost: GameCode = "ZZZ222".parse().unwrap();
    let shared = &pair.servers[0].0;
    let cluster = shared.cluster.as_ref().unwrap();
    let ask = async |method: &str, path: &str| {
        let request = Request::builder().method(method).uri(format!("{path}?g={lost}"));
        let request = request.extension(ConnectInfo(SocketAddr::from(([10, 0, 0, 1], 40_000))));
        let answer = pair.servers[0]
            .router()
            .oneshot(request.body(Body::empty()).unwrap());
        answer.await.unwrap().status()
    };
    assert_eq!(locate(shared, cluster, lost).await, Located::Unheard);
    assert_eq!(ask("GET", "/status").await, 503);
    // Who wants the code asks everybody for it anyway; this one shows no token.
    assert_eq!(ask("POST", "/games").await, 401);
    tokio::time::sleep(LEASE_TIME).await;
    assert_eq!(locate(shared, cluster, lost).await, Located::Nowhere);
    assert_eq!(ask("GET", "/status").await, 404);
}

#[tokio::test]
async fn a_game_whose_task_panicked_stays_with_the_server_that_took_it_meanwhile() {
    if !cfg!(debug_assertions) {
        return;
    }
    let pair = Pair::joined().await;
    let Found::Game(game) = pair.found(0) else {
        panic!("it is not there");
    };
    let closed = Arc::clone(&pair.gate).acquire_owned().await.unwrap();
    start(&game).await;
    // The first server says that it does not have it.
    assert_eq!(pair.until_found(1).await, Located::Here);
    drop(closed);
    pair.assert_at(0, "game-1").await;
    assert!(matches!(pair.found(1), Found::Game(_)));
}

#[tokio::test]
async fn a_game_that_one_server_cannot_read_is_not_lost_when_another_one_has_it() {
    let pair = Pair::new().await;
    let read = |bytes: u8| pair.log.tamper(pair.code, |stored| stored.snapshot[0] = bytes);
    // Written by a release that the first server is older than.
    read(99);
    pair.servers[0].join().await;
    assert_eq!(pair.until_found(0).await, Located::Here);
    assert!(matches!(pair.found(0), Found::Lost));
    read(SNAPSHOT_VERSION);
    pair.servers[1].join().await;
    assert_eq!(pair.until_found(1).await, Located::Here);
    pair.assert_at(0, "game-1").await;
}

/// The end of a client's socket that was asked for before a game went to the other server and opens after it.
#[tokio::test]
async fn a_socket_that_opens_just_after_its_game_went_is_sent_on() {
    let pair = Pair::joined().await;
    let Found::Game(game) = pair.found(0) else {
        panic!("it is not there");
    };
    // Too small for the answer's head, so that the socket opens when the client reads.
    let (mut client, end) = duplex(32);
    serve(end, pair.servers[0].router());
    let request = format!(
        "GET /watch?g={} HTTP/1.1\r\nHost: game\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        pair.code
    );
    client.write_all(request.as_bytes()).await.unwrap();
    let mut head = vec![client.read_u8().await.unwrap()];
    game.hand_over(tokio::time::Instant::now());
    while !matches!(pair.found(1), Found::Game(_)) || !matches!(pair.found(0), Found::Nothing) {
        tokio::task::yield_now().await;
    }
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 101 "));
    let mut socket = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
    let join = Frame::text(r#"{"t":"join","name":"Bob"}"#);
    socket.send(join).await.unwrap();
    let told = socket.next().await.unwrap().unwrap().into_text().unwrap();
    assert!(told.contains("moved"), "{told}");
}

/// Its monotonic clock stood still with it, as that of a virtual machine does, so that only the lease can tell.
#[tokio::test(start_paused = true)]
async fn a_server_whose_lease_had_ended_looks_whether_its_games_are_still_its_own() {
    let pair = Pair::joined().await;
    // The game's first snapshot is written, and nobody does anything in its lobby.
    tokio::time::sleep(2 * LEASE_TIME).await;
    let (paused, id) = (&pair.servers[0], pair.servers[0].0.id.clone());
    let road = pair.roads.0.lock().unwrap().remove(&id.name).unwrap();
    pair.leases.forget(id.clone()).await.unwrap();
    assert_eq!(pair.locate(1).await, Located::Here);
    pair.roads.0.lock().unwrap().insert(id.name, road);
    let noticed = async {
        while paused.0.registry.held(pair.code).is_some() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(LEASE_TIME, noticed)
        .await
        .expect("two servers have the game");
    assert_eq!(pair.owner().await.as_deref(), Some("game-1"));
}

/// Its holder joined after the last thing that the store remembers, and has not found it again.
#[tokio::test(start_paused = true)]
async fn a_server_that_has_just_come_takes_no_game_by_a_record_from_before_the_store_changed() {
    let mut birth = poisoned();
    birth.owner.claim = ClaimId::draw();
    birth.owner.server = Some(ServerId {
        name: "game-9".to_owned(),
        incarnation: uuid::Uuid::new_v4(),
    });
    let pair = Pair::with(birth.clone()).await;
    pair.log.come_back(StoreId::new("from an old file"));
    // Redis was away for long.
    tokio::time::sleep(2 * LEASE_TIME).await;
    pair.servers[1].join().await;
    assert_eq!(pair.locate(1).await, Located::Unknown);
    assert_eq!(pair.owner().await.as_deref(), Some("game-9"));
    // Nobody came.
    tokio::time::sleep(LEASE_TIME).await;
    assert_eq!(pair.until_found(1).await, Located::Here);
}

/// The first of its games that is asked for buries it; nothing in the store tells of it when the second one is.
#[tokio::test(start_paused = true)]
async fn a_server_that_has_just_come_takes_all_games_of_one_that_it_found_gone() {
    let mut birth = poisoned();
    let gone = ServerId {
        name: "game-9".to_owned(),
        incarnation: uuid::Uuid::new_v4(),
    };
    (birth.owner.claim, birth.owner.server) = (ClaimId::draw(), Some(gone.clone()));
    let mut pair = Pair::with(birth.clone()).await;
    let second: GameCode = "ZZZ222".parse().unwrap();
    birth.owner.claim = ClaimId::draw();
    assert_eq!(pair.log.create(second, birth).await.unwrap(), Created::New);
    let lease = Lease {
        server: gone,
        address: "nobody listens here".to_owned(),
        reads: 1,
    };
    pair.leases.renew(lease).await.unwrap();
    pair.servers[1].join().await;
    let joined = tokio::time::Instant::now();
    assert_eq!(pair.until_found(1).await, Located::Here);
    pair.code = second;
    assert_eq!(pair.until_found(1).await, Located::Here);
    assert!(joined.elapsed() < LEASE_TIME / 5, "it waited");
}

#[tokio::test(start_paused = true)]
async fn a_game_is_not_handed_over_while_nobody_knows_whether_it_can_be_saved() {
    let pair = Pair::joined().await;
    tokio::time::sleep(LEASE_TIME).await;
    let Found::Game(game) = pair.found(0) else {
        panic!("it is not there");
    };
    pair.log.set_trouble(Trouble::Stuck);
    game.hand_over(tokio::time::Instant::now() + Duration::from_secs(60));
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert!(
        matches!(pair.found(0), Found::Game(_)),
        "its class can go on there"
    );
    pair.log.set_trouble(Trouble::None);
    // Who asks the first server meanwhile would make it take the game again.
    while pair.owner().await.as_deref() != Some("game-1") {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    pair.assert_at(0, "game-1").await;
}

#[tokio::test(start_paused = true)]
async fn a_game_that_the_store_loses_while_it_is_given_back_is_written_again() {
    let pair = Pair::joined().await;
    pair.is_about_to_lose.store(true, Ordering::Release);
    pair.servers[0].shutdown().await;
    let kept = pair.log.tail(pair.code).await.unwrap();
    let owner = kept.expect("nobody has the game any longer").owner;
    assert_eq!((owner.server, owner.claim), (None, ClaimId::NONE));
    assert_eq!(pair.until_found(1).await, Located::Here);
}

#[tokio::test(start_paused = true)]
async fn a_sweep_that_panics_is_begun_again() {
    let pair = Pair::new().await;
    pair.is_about_to_panic.store(true, Ordering::Release);
    pair.servers[0].join().await;
    let taken = async {
        while pair.servers[0].0.registry.held(pair.code).is_none() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(2 * LEASE_TIME, taken)
        .await
        .expect("nobody looks for games that nobody has");
}

/// Leases whose first renewal makes its caller panic.
struct Shaky {
    leases: MemoryLeases,
    is_about_to_panic: AtomicBool,
}

impl Leases for Shaky {
    fn renew(&self, lease: Lease) -> LogFuture<Renewed> {
        assert!(
            !self.is_about_to_panic.swap(false, Ordering::AcqRel),
            "the test says so"
        );
        self.leases.renew(lease)
    }

    fn members(&self) -> LogFuture<Vec<Member>> {
        self.leases.members()
    }

    fn forget(&self, server: ServerId) -> LogFuture<()> {
        self.leases.forget(server)
    }
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_panics_is_begun_again() {
    let leases = MemoryLeases::new();
    let shaky = Shaky {
        leases: leases.clone(),
        is_about_to_panic: AtomicBool::new(true),
    };
    let membership = Membership {
        leases: Arc::new(shaky),
        dialer: Arc::new(Roads::default()),
        address: "game-0".to_owned(),
        secrets: vec![Secret::given(testing::SECRET).unwrap()],
    };
    let (config, api) = (Config::default(), Arc::new(testing::Taker));
    let log = Arc::new(MemoryLog::new());
    let server = GameServer::in_cluster(config, testing::keys(), api, log, membership).unwrap();
    tokio::time::timeout(LEASE_TIME, server.join())
        .await
        .expect("there is no lease");
    assert!(leases.members().await.unwrap()[0].is_leased);
}
