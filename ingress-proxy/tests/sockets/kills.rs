//! One server of each kind dies and comes back at random, again and again, while everybody asks and plays: whatever healthy
//! servers were asked is answered, their sockets live on, and nobody waits.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use futures_util::{SinkExt as _, StreamExt as _};
use ingress_proxy::{Kind, Proxy};
use protocol::ids::GameCode;

use crate::support::{Running, SOON, get, group, listen, listen_on, say, settings, socket, telling};

/// Nobody may wait longer for an answer, whoever dies: connections within a machine are refused at once.
const ANSWER_MAX: Duration = Duration::from_secs(5);
const GAMES: [&str; 3] = ["game-0", "game-1", "game-2"];
/// Who dies.
const VICTIM: &str = "game-1";

/// A server in a runtime of its own, which dies as a process does: all its sockets are closed in the middle of whatever they do.
struct Mortal {
    name: &'static str,
    address: SocketAddr,
    alive: Option<(Runtime, Running)>,
}

impl Mortal {
    async fn start(name: &'static str) -> Self {
        let address = crate::support::nobody().await;
        let mut mortal = Self {
            name,
            address,
            alive: None,
        };
        mortal.live().await;
        mortal
    }

    async fn live(&mut self) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (address, name) = (self.address, self.name);
        let serving = runtime.spawn(async move {
            let listener = TcpListener::bind(address).await.unwrap();
            listen_on(listener, telling(name))
        });
        self.alive = Some((runtime, serving.await.unwrap()));
    }

    async fn die(&mut self) {
        if let Some((runtime, running)) = self.alive.take() {
            // Before its listener hears of a stop, which would be a graceful one.
            runtime.shutdown_background();
            drop(running);
        }
        while TcpStream::connect(self.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        if let Some((runtime, _)) = self.alive.take() {
            runtime.shutdown_background();
        }
    }
}

/// Whole numbers below `bound`, the same in every run.
fn draw(state: &mut u64, bound: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % bound
}

/// Codes of `server`, one after the other, for good. What a server has taken in a dead one's place, the proxy remembers; so the
/// victim is asked for ever new games.
fn codes(server: &'static str, from: u32) -> impl Iterator<Item = String> {
    let code = |number: u32| {
        let digit = |place: u32| u8::try_from(number / 30_u32.pow(place) % 30).unwrap();
        GameCode::from_positions([0, 1, 2, 3, 4, 5].map(digit)).to_string()
    };
    (from..).map(code).filter(move |code| owner(code) == server)
}

fn owner(code: &str) -> &'static str {
    GAMES[protocol::placement::order(&GAMES, code)[0]]
}

#[derive(Default)]
struct Seen {
    over: AtomicBool,
    healthy: AtomicUsize,
    victims: AtomicUsize,
    taken_over: AtomicUsize,
    calls: AtomicUsize,
    rounds: AtomicUsize,
    again: AtomicUsize,
}

impl Seen {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// Asks for games until it is over.
async fn ask(proxy: SocketAddr, codes: impl Iterator<Item = String> + Send, seen: Arc<Seen>) {
    for code in codes {
        if seen.is_over() {
            return;
        }
        let path = format!("/game/status?g={code}");
        let answer = timeout(ANSWER_MAX, get(proxy, &path))
            .await
            .expect("an answer in time");
        let by = answer
            .split("x-server: ")
            .nth(1)
            .and_then(|rest| rest.split("\r\n").next());
        // What changes nothing is asked of the next server, so that a death costs nobody an answer.
        let by = by.unwrap_or_else(|| panic!("{code} of {}: {answer}", owner(&code)));
        if owner(&code) != VICTIM {
            assert_eq!(by, owner(&code), "{code}");
            seen.healthy.fetch_add(1, Ordering::Relaxed);
        } else if by == VICTIM {
            seen.victims.fetch_add(1, Ordering::Relaxed);
        } else {
            seen.taken_over.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Calls the API until it is over.
async fn call(proxy: SocketAddr, seen: Arc<Seen>) {
    while !seen.is_over() {
        let answer = timeout(ANSWER_MAX, get(proxy, "/store/x"))
            .await
            .expect("an answer in time");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        seen.calls.fetch_add(1, Ordering::Relaxed);
    }
}

/// Plays one healthy server's game until it is over: its socket lives on.
async fn play(proxy: SocketAddr, server: &'static str, from: u32, seen: Arc<Seen>) {
    let code = codes(server, from).next().unwrap();
    let path = format!("/game/watch?g={code}");
    let mut open = timeout(ANSWER_MAX, socket(proxy, &path)).await.unwrap().unwrap();
    while !seen.is_over() {
        assert_eq!(say(&mut open, "hello").await, format!("{server}: hello"));
        seen.rounds.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
    }
}

/// Plays games of the victim until it is over. A death ends the socket, and nobody waits for that.
async fn play_with_the_victim(proxy: SocketAddr, from: u32, seen: Arc<Seen>) {
    for code in codes(VICTIM, from) {
        if seen.is_over() {
            return;
        }
        let path = format!("/game/watch?g={code}");
        let opened = timeout(ANSWER_MAX, socket(proxy, &path))
            .await
            .expect("a socket in time");
        // It may die between its 101 and anything else.
        let Ok(mut open) = opened else {
            continue;
        };
        // Not for good, or it would stay with whoever has taken a game in the victim's place.
        for _ in 0..20 {
            let said = open.send("hello".into()).await;
            match timeout(SOON, open.next()).await.expect("an echo or an end") {
                Some(Ok(_)) if said.is_ok() => sleep(Duration::from_millis(5)).await,
                Some(Ok(_) | Err(_)) | None => {
                    seen.again.fetch_add(1, Ordering::Relaxed);
                    break;
                }
            }
        }
    }
}

async fn kill_for(long: Duration) {
    let (zero, two) = (listen(telling(GAMES[0])).await, listen(telling(GAMES[2])).await);
    let api = listen(telling("api-0")).await;
    let (mut game, mut other) = (Mortal::start(VICTIM).await, Mortal::start("api-1").await);
    let games = [
        (GAMES[0], zero.address),
        (VICTIM, game.address),
        (GAMES[2], two.address),
    ];
    let apis = [("api-0", api.address), ("api-1", other.address)];
    let proxy = listen(Proxy::new(
        group(Kind::Games, &games),
        group(Kind::Apis, &apis),
        settings(),
    ))
    .await;
    let seen = Arc::new(Seen::default());
    let mut everybody = JoinSet::new();
    for from in [0, 100_000, 200_000] {
        for server in [GAMES[0], GAMES[2]] {
            let code = codes(server, from).next().unwrap();
            everybody.spawn(ask(proxy.address, std::iter::repeat(code), Arc::clone(&seen)));
            everybody.spawn(play(proxy.address, server, from, Arc::clone(&seen)));
        }
        everybody.spawn(ask(proxy.address, codes(VICTIM, from), Arc::clone(&seen)));
    }
    for from in [500_000, 600_000, 700_000, 800_000] {
        everybody.spawn(play_with_the_victim(proxy.address, from, Arc::clone(&seen)));
    }
    everybody.spawn(call(proxy.address, Arc::clone(&seen)));
    let (mut state, mut deaths) = (7, 0_usize);
    let end = Instant::now() + long;
    while Instant::now() < end {
        for victim in [&mut game, &mut other] {
            victim.die().await;
            deaths += 1;
            sleep(Duration::from_millis(draw(&mut state, 200))).await;
            victim.live().await;
            sleep(Duration::from_millis(draw(&mut state, 200))).await;
        }
        // Three connections that fail make a server suspected for a second; after that it must be asked again.
        sleep(Duration::from_millis(800 + draw(&mut state, 1_200))).await;
        // Whoever has failed says why.
        while let Some(ended) = everybody.try_join_next() {
            ended.unwrap();
        }
    }
    seen.over.store(true, Ordering::Relaxed);
    // Healthy servers' games are repeated for good, and end by themselves.
    while let Some(ended) = everybody.join_next().await {
        ended.unwrap();
    }
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    let figures = format!(
        "{deaths} deaths; {} answers of healthy servers, {} of the victim, {} in its place; {} calls; {} rounds on sockets, {} opened again",
        count(&seen.healthy),
        count(&seen.victims),
        count(&seen.taken_over),
        count(&seen.calls),
        count(&seen.rounds),
        count(&seen.again),
    );
    println!("{figures}");
    for counter in [
        &seen.healthy,
        &seen.victims,
        &seen.taken_over,
        &seen.calls,
        &seen.rounds,
        &seen.again,
    ] {
        assert!(count(counter) > 0, "{figures}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deaths_of_one_server_touch_nobody_elses_requests_and_sockets() {
    kill_for(Duration::from_secs(6)).await;
}

#[cfg(feature = "long")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_deaths_of_one_server_touch_nobody_elses_requests_and_sockets() {
    kill_for(Duration::from_secs(60)).await;
}
