//! A scripted game server for the harness's own tests: right by default, wrong in one seeded way on request.
//!
//! One thread a connection, one lock for the game. It can be killed: all sockets end, and it comes back in a new epoch with
//! what it kept. Several may stand side by side over one store, as game servers do. It knows nothing of the harness but its types' absence: frames are
//! written as JSON by hand, scores by their own formula.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use load::client::Target;
use load::scenario::kill::Victims;
use load::scenario::scale::Fleet;

use serde_json::{Value, json};

mod game;

use game::Game;

/// What the server does wrong, once unless said otherwise: to the first correct answer to question 2, or to the question
/// itself on its way to player 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// An accepted answer gets no ack.
    DroppedAck,
    /// An answer is saved twice.
    DoubledAnswer,
    /// An acked answer is not saved.
    LostAnswer,
    /// An answer is saved that nobody sent.
    Phantom,
    /// An answer earns 7 points too much, consistently everywhere.
    WrongScore,
    /// A question does not reach a player.
    LostFrame,
    /// A question reaches a player twice.
    DoubledFrame,
    /// A question carries its solution.
    Leak,
    /// Every join is told to every player, always.
    Rosters,
    /// Every second join is refused, always.
    RefusedJoins,
    /// The host is shown another total than the player.
    WrongPodium,
    /// A player's socket is dropped in the middle of the game.
    Cut,
    /// A player's socket is closed at the end without a word.
    NoBye,
    /// A player's socket is dropped when the next one joins, in every game.
    CutInLobby,
    /// An answer is neither counted nor acked nor refused.
    SwallowedAnswer,
    /// The final places do not reach a player.
    LostEnd,
    /// A killed server comes back without one answer that it had acked as saved, every time.
    ForgetsOne,
    /// A killed server comes back without its games, every time.
    ForgetsAll,
    /// A killed server comes back without player 2.
    LosesAJoin,
    /// An answer is refused although its question is open.
    RefusedAnswer,
    /// Question 2 closes with its first answer.
    EndedEarly,
    /// The result of question 1 reaches player 2 after question 2.
    Reordered,
    /// Question 1 is asked again after its results.
    AsksAgain,
    /// A phone's ping is not answered, and the next one's twice.
    WrongPongs,
    /// Every second handshake is refused with 503.
    RefusedHandshakes,
    /// A host's click after the results of question 1 shows nothing, ever.
    IgnoresNext,
    /// The report has another total than the phone.
    WrongReport,
    /// The report has two players under each other's names.
    SwappedNames,
    /// A player is in the report that nobody is.
    Stranger,
    /// A player is told a wrong place after question 2.
    WrongRank,
    /// A player is sent a state with wrong points that nothing asked for, after question 1.
    WrongState,
    /// The host is not told of a player.
    LostRoster,
    /// The same, after everything that player 2 was told was marked as unsaved.
    TakesAJoinBack,
    /// Games move when a server comes.
    MovesAtGrowing,
    /// Games move twice when a server goes.
    MovesTwice,
}

/// The store behind one server or several.
#[derive(Debug, Default)]
pub(crate) struct Store {
    games: Mutex<BTreeMap<String, Arc<Mutex<Game>>>>,
    quiz: Mutex<Value>,
}

/// What the threads of a server share.
#[derive(Debug, Default)]
struct Own {
    stopping: AtomicBool,
    down: AtomicBool,
    created: AtomicU32,
    handshakes: AtomicU32,
    sockets: Mutex<Vec<TcpStream>>,
}

/// The server. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    fault: Fault,
    store: Arc<Store>,
    own: Arc<Own>,
    thread: Option<JoinHandle<()>>,
}

/// A server that is down stays so for this time, in milliseconds.
const DOWN_MS: u64 = 40;
/// Between two moves of the same games everybody has come back, in milliseconds.
const AGAIN_MS: u64 = 600;

impl Fake {
    pub(crate) fn start(fault: Fault) -> Self {
        Self::over(fault, Arc::default())
    }

    /// A server over `store`.
    pub(crate) fn over(fault: Fault, store: Arc<Store>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("free port");
        let address = listener.local_addr().expect("address");
        let own: Arc<Own> = Arc::default();
        let (of_thread, over) = (Arc::clone(&own), Arc::clone(&store));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if of_thread.stopping.load(Ordering::SeqCst) {
                    return;
                }
                let (own, store) = (Arc::clone(&of_thread), Arc::clone(&over));
                let stream = stream.expect("connection");
                if !own.down.load(Ordering::SeqCst) {
                    std::thread::spawn(move || serve(stream, fault, &own, &store));
                }
            }
        });
        Self {
            address,
            fault,
            store,
            own,
            thread: Some(thread),
        }
    }

    pub(crate) fn target(&self) -> Target {
        format!("http://{}", self.address).parse().expect("target")
    }

    /// Games that were opened here.
    pub(crate) fn games(&self) -> u32 {
        self.own.created.load(Ordering::SeqCst)
    }
}

impl Victims for Fake {
    fn count(&self) -> u32 {
        1
    }

    fn name(&self, _victim: u32) -> String {
        "the fake".to_owned()
    }

    fn strike(&mut self, _victim: u32) -> Result<(), String> {
        self.own.down.store(true, Ordering::SeqCst);
        // With all locks held nothing is half done, as if the log were written before every frame.
        let games: Vec<_> = lock(&self.store.games).values().cloned().collect();
        let mut games: Vec<_> = games.iter().map(|game| lock(game)).collect();
        games.iter_mut().for_each(|game| game.fall());
        for socket in lock(&self.own.sockets).drain(..) {
            let _outcome = socket.shutdown(std::net::Shutdown::Both);
        }
        drop(games);
        if self.fault == Fault::ForgetsAll {
            lock(&self.store.games).clear();
        }
        Ok(())
    }

    fn mend(&mut self, _victim: u32) -> Result<(), String> {
        load::sys::clock::pause_ms(DOWN_MS);
        self.own.down.store(false, Ordering::SeqCst);
        Ok(())
    }

    fn counts(&self) -> BTreeMap<&'static str, u64> {
        BTreeMap::new()
    }
}

/// Its games go once round through nowhere, as often as it is told: one server that stands for two.
impl Fleet for Fake {
    fn grow(&mut self) -> Result<(), String> {
        if self.fault == Fault::MovesAtGrowing {
            self.strike(0)?;
            self.mend(0)?;
        }
        Ok(())
    }

    fn shrink(&mut self) -> Result<(), String> {
        self.strike(0)?;
        self.mend(0)?;
        if self.fault == Fault::MovesTwice {
            self.move_again()?;
        }
        Ok(())
    }
}

impl Fake {
    /// Waits until somebody is back, and moves the games once more.
    fn move_again(&mut self) -> Result<(), String> {
        while lock(&self.own.sockets).is_empty() {
            load::sys::clock::pause_ms(1);
        }
        load::sys::clock::pause_ms(AGAIN_MS);
        self.strike(0)?;
        self.mend(0)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.own.stopping.store(true, Ordering::SeqCst);
        let _woken = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("listener");
        }
    }
}

/// Connections that end are no error of the fake: the harness drops them when it is done.
fn serve(mut stream: TcpStream, fault: Fault, own: &Own, store: &Store) {
    stream.set_nodelay(true).expect("option");
    let Ok((head, body)) = read_request(&mut stream) else {
        return;
    };
    let path = head.split(' ').nth(1).expect("path").to_owned();
    let code = path
        .split_once("g=")
        .map(|(_, code)| code.to_owned())
        .unwrap_or_default();
    let found = lock(&store.games).get(&code).cloned();
    let reply = |stream: &mut TcpStream, status: u16, body: &Value| {
        let body = body.to_string();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", body.len());
        let _outcome = stream.write_all(&[head.as_bytes(), body.as_bytes()].concat());
    };
    if path.starts_with("/store/auth/") {
        reply(&mut stream, 201, &json!({"access_token": "teacher"}));
    } else if path == "/store/quizzes" {
        *lock(&store.quiz) = serde_json::from_slice(&body).expect("quiz");
        reply(&mut stream, 201, &json!({"id": "quiz-1"}));
    } else if path.starts_with("/game/games") {
        assert!(
            head.contains("Authorization: Bearer teacher"),
            "create without a token"
        );
        let game = Game::new(fault, lock(&store.quiz).clone());
        lock(&store.games).insert(code.clone(), Arc::new(Mutex::new(game)));
        own.created.fetch_add(1, Ordering::SeqCst);
        reply(
            &mut stream,
            201,
            &json!({"game": code, "code": code, "players_max": 500}),
        );
    } else if path.starts_with("/game/status") {
        let players = found.map_or(0, |g| lock(&g).player_count());
        reply(
            &mut stream,
            200,
            &json!({"phase": "lobby", "players": players, "locked": false}),
        );
    } else if let Some(game) = path.strip_prefix("/store/games/") {
        let code = game.trim_end_matches("/report");
        let game = lock(&store.games).get(code).cloned();
        let report = game.map_or(Value::Null, |game| lock(&game).report());
        let status = if report.is_null() { 404 } else { 200 };
        reply(&mut stream, status, &report);
    } else if path == "/metrics" {
        let text = format!(
            "# TYPE homeroom_game_games gauge\nhomeroom_game_games {}\n",
            own.created.load(Ordering::SeqCst)
        );
        let head = format!("HTTP/1.1 200 X\r\ncontent-length: {}\r\n\r\n", text.len());
        let _outcome = stream.write_all(&[head.as_bytes(), text.as_bytes()].concat());
    } else if fault == Fault::RefusedHandshakes
        && found.is_some()
        && own.handshakes.fetch_add(1, Ordering::SeqCst) % 2 == 1
    {
        reply(&mut stream, 503, &json!({"code": "busy"}));
    } else if let Some(game) = found {
        lock(&own.sockets).push(stream.try_clone().expect("clone"));
        let accept = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\
                      Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
        let accepted = stream.write_all(accept.as_bytes());
        let _ended = accepted.and_then(|()| watch(&mut stream, &game));
    } else {
        reply(&mut stream, 404, &json!({"code": "no-such-game"}));
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no poison")
}

fn read_request(stream: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("head");
    let length = head
        .lines()
        .find_map(|l| l.strip_prefix("Content-Length: "))
        .map_or(0, |n| n.parse().expect("length"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((head, body))
}

/// Reads one masked frame: opcode and payload.
fn read_frame(stream: &mut TcpStream) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 2];
    stream.read_exact(&mut head)?;
    assert_eq!(head[1] & 0x80, 0x80, "an unmasked frame");
    let length = match head[1] & 0x7f {
        126 => {
            let mut long = [0; 2];
            stream.read_exact(&mut long)?;
            usize::from(u16::from_be_bytes(long))
        }
        short => usize::from(short),
    };
    let mut mask = [0; 4];
    stream.read_exact(&mut mask)?;
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload)?;
    payload
        .iter_mut()
        .zip(mask.iter().cycle())
        .for_each(|(byte, mask)| *byte ^= mask);
    Ok((head[0] & 0x0f, payload))
}

fn write_frame(stream: &TcpStream, first: u8, payload: &[u8]) {
    let mut frame = vec![first];
    match u8::try_from(payload.len()) {
        Ok(short) if short < 126 => frame.push(short),
        _ => {
            frame.push(126);
            frame.extend_from_slice(&u16::try_from(payload.len()).expect("small frames").to_be_bytes());
        }
    }
    frame.extend_from_slice(payload);
    let _outcome = (&*stream).write_all(&frame);
}

fn send(stream: &TcpStream, frame: &Value) {
    write_frame(stream, 0x81, frame.to_string().as_bytes());
}

fn watch(stream: &mut TcpStream, game: &Mutex<Game>) -> io::Result<()> {
    let mut me = None;
    loop {
        let (opcode, payload) = read_frame(stream)?;
        if opcode == 8 {
            return Ok(());
        }
        if opcode == 10 {
            continue;
        }
        let frame: Value = serde_json::from_slice(&payload).expect("JSON from the harness");
        let own = stream.try_clone()?;
        lock(game).handle(&own, &mut me, &frame);
    }
}
