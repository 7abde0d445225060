//! A scripted game server for the harness's own tests: right by default, wrong in one seeded way on request.
//!
//! One thread a connection, one lock for the game. It knows nothing of the harness but its types' absence: frames are
//! written as JSON by hand, scores by their own formula.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Instant;

use serde_json::{Value, json};

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
}

#[derive(Debug)]
struct FakePlayer {
    name: String,
    stream: TcpStream,
    total: u32,
    joined: bool,
}

#[derive(Debug, Clone)]
struct Saved {
    player: usize,
    q: usize,
    choice: u64,
    elapsed_ms: u64,
    points: u32,
}

#[derive(Debug)]
struct Game {
    fault: Fault,
    quiz: Value,
    host: Option<TcpStream>,
    players: Vec<FakePlayer>,
    joins: u32,
    answers: Vec<Saved>,
    /// Kept apart, as a right server's total counts it once.
    extra: Vec<Saved>,
    seq: u32,
    open_q: usize,
    opened: Instant,
    over: bool,
    /// Whose answer the fault befalls.
    victim: Option<usize>,
}

/// The server. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    pub(crate) fn start(fault: Fault) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("free port");
        let address = listener.local_addr().expect("address");
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopping);
        let games: Arc<Mutex<BTreeMap<String, Arc<Mutex<Game>>>>> = Arc::default();
        let quiz: Arc<Mutex<Value>> = Arc::default();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (games, quiz) = (Arc::clone(&games), Arc::clone(&quiz));
                let stream = stream.expect("connection");
                std::thread::spawn(move || serve(stream, fault, &games, &quiz));
            }
        });
        Self {
            address,
            stopping,
            thread: Some(thread),
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        let _woken = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("listener");
        }
    }
}

type Games = Mutex<BTreeMap<String, Arc<Mutex<Game>>>>;

/// Connections that end are no error of the fake: the harness drops them when it is done.
fn serve(mut stream: TcpStream, fault: Fault, games: &Games, quiz: &Mutex<Value>) {
    stream.set_nodelay(true).expect("option");
    let Ok((head, body)) = read_request(&mut stream) else {
        return;
    };
    let path = head.split(' ').nth(1).expect("path").to_owned();
    let code = path
        .split_once("g=")
        .map(|(_, code)| code.to_owned())
        .unwrap_or_default();
    let found = lock(games).get(&code).cloned();
    let reply = |stream: &mut TcpStream, status: u16, body: &Value| {
        let body = body.to_string();
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n", body.len());
        let _outcome = stream.write_all(&[head.as_bytes(), body.as_bytes()].concat());
    };
    if path.starts_with("/store/auth/") {
        reply(&mut stream, 201, &json!({"access_token": "teacher"}));
    } else if path == "/store/quizzes" {
        *lock(quiz) = serde_json::from_slice(&body).expect("quiz");
        reply(&mut stream, 201, &json!({"id": "quiz-1"}));
    } else if path.starts_with("/game/games") {
        assert!(
            head.contains("Authorization: Bearer teacher"),
            "create without a token"
        );
        let game = Game::new(fault, lock(quiz).clone());
        lock(games).insert(code.clone(), Arc::new(Mutex::new(game)));
        reply(
            &mut stream,
            201,
            &json!({"game": code, "code": code, "players_max": 500}),
        );
    } else if path.starts_with("/game/status") {
        let players = found.map_or(0, |g| lock(&g).players.len());
        reply(
            &mut stream,
            200,
            &json!({"phase": "lobby", "players": players, "locked": false}),
        );
    } else if let Some(game) = path.strip_prefix("/store/games/") {
        let code = game.trim_end_matches("/report");
        let game = lock(games).get(code).cloned().expect("game");
        let report = lock(&game).report();
        let status = if report.is_null() { 404 } else { 200 };
        reply(&mut stream, status, &report);
    } else {
        let accept = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\
                      Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
        stream.write_all(accept.as_bytes()).expect("accept");
        let _ended = watch(&mut stream, &found.expect("game"));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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

impl Game {
    fn new(fault: Fault, quiz: Value) -> Self {
        Self {
            fault,
            quiz,
            host: None,
            players: Vec::new(),
            joins: 0,
            answers: Vec::new(),
            extra: Vec::new(),
            seq: 0,
            open_q: 0,
            opened: Instant::now(),
            over: false,
            victim: None,
        }
    }

    fn handle(&mut self, stream: &TcpStream, me: &mut Option<usize>, frame: &Value) {
        match frame["t"].as_str().expect("type") {
            "host" => {
                assert_eq!(frame["token"], "teacher");
                self.host = Some(stream.try_clone().expect("clone"));
                // A ping, so that the harness must answer one, and a state.
                write_frame(stream, 0x89, b"are you there");
                send(
                    stream,
                    &json!({"t": "sync", "v": 1, "state": {"seq": 0, "phase": "lobby", "roster": []}}),
                );
            }
            "join" => self.join(stream, me, frame["name"].as_str().expect("name")),
            "ping" => send(stream, &json!({"t": "pong", "seq": self.seq})),
            "start" => self.open(1),
            "answer" => self.answer(me.expect("joined"), frame),
            "close" => self.close(),
            "next" => {
                let q = usize::try_from(frame["q"].as_u64().expect("q")).expect("small");
                if q < self.questions() {
                    self.open(q + 1)
                } else {
                    self.podium()
                }
            }
            "finish" => self.end(),
            other => panic!("unexpected {other}"),
        }
    }

    fn questions(&self) -> usize {
        self.quiz["questions"].as_array().map_or(0, Vec::len)
    }

    fn join(&mut self, stream: &TcpStream, me: &mut Option<usize>, name: &str) {
        self.joins += 1;
        if self.fault == Fault::RefusedJoins && self.joins.is_multiple_of(2) {
            send(
                stream,
                &json!({"t": "error", "code": "server_full", "retry_ms": 1000}),
            );
            return;
        }
        let player = FakePlayer {
            name: name.to_owned(),
            stream: stream.try_clone().expect("clone"),
            total: 0,
            joined: true,
        };
        self.players.push(player);
        let id = self.players.len();
        *me = Some(id);
        send(
            stream,
            &json!({"t": "welcome", "v": 1, "id": id, "token": "r", "state": {"seq": self.seq, "name": name, "total": 0}}),
        );
        self.to_host(&json!({"t": "roster", "joined": [{"id": id, "name": name}]}));
        if self.fault == Fault::CutInLobby && id == 3 {
            self.players[1]
                .stream
                .shutdown(std::net::Shutdown::Both)
                .expect("cut");
        }
        if self.fault == Fault::Rosters {
            let names: Vec<_> = self
                .players
                .iter()
                .map(|p| json!({"id": 0, "name": p.name}))
                .collect();
            self.to_players(|_| json!({"t": "roster", "joined": names}));
        }
    }

    fn to_host(&self, frame: &Value) {
        if let Some(host) = &self.host {
            send(host, frame);
        }
    }

    fn to_players(&self, frame: impl Fn(usize) -> Value) {
        for (id, player) in (1..).zip(&self.players) {
            if player.joined {
                send(&player.stream, &frame(id));
            }
        }
    }

    fn open(&mut self, q: usize) {
        self.seq += 1;
        self.open_q = q;
        self.opened = Instant::now();
        let question = &self.quiz["questions"][q - 1];
        let choices: Vec<_> = question["choices"]
            .as_array()
            .expect("choices")
            .iter()
            .map(|c| &c["text"])
            .collect();
        let frame = json!({"t": "question", "seq": self.seq, "q": q, "text": question["text"], "choices": choices, "ms": question["time_ms"]});
        self.to_host(&frame);
        for (id, player) in (1..).zip(&self.players) {
            let mut frame = frame.clone();
            if (id, q) == (2, 2) {
                if self.fault == Fault::LostFrame {
                    continue;
                }
                if self.fault == Fault::DoubledFrame {
                    send(&player.stream, &frame);
                }
                if self.fault == Fault::Leak {
                    frame["correct"] = json!([0]);
                }
                if self.fault == Fault::Cut {
                    player.stream.shutdown(std::net::Shutdown::Both).expect("cut");
                }
            }
            send(&player.stream, &frame);
        }
    }

    fn correct(&self, q: usize) -> u64 {
        let choices = self.quiz["questions"][q - 1]["choices"]
            .as_array()
            .expect("choices");
        u64::try_from(
            choices
                .iter()
                .position(|c| c["correct"] == true)
                .expect("one correct"),
        )
        .expect("small")
    }

    fn answer(&mut self, id: usize, frame: &Value) {
        let q = usize::try_from(frame["q"].as_u64().expect("q")).expect("small");
        let stream = self.players[id - 1].stream.try_clone().expect("clone");
        if q != self.open_q {
            return send(&stream, &json!({"t": "error", "code": "not_open", "q": q}));
        }
        let choice = frame["choice"].as_u64().expect("choice");
        let here = q == 2 && choice == self.correct(q) && self.victim.is_none();
        if here {
            self.victim = Some(id);
        }
        let elapsed_ms = u64::try_from(self.opened.elapsed().as_millis()).expect("short");
        let mut points = if choice == self.correct(q) {
            1_000 - u32::try_from(elapsed_ms * 500 / 20_000).expect("small")
        } else {
            0
        };
        if here && self.fault == Fault::WrongScore {
            points += 7;
        }
        let saved = Saved {
            player: id,
            q,
            choice,
            elapsed_ms,
            points,
        };
        if here && self.fault == Fault::DoubledAnswer {
            self.extra.push(saved.clone());
        }
        self.answers.push(saved);
        if !(here && self.fault == Fault::DroppedAck) {
            send(&stream, &json!({"t": "ack", "q": q, "saved": true}));
        }
    }

    fn close(&mut self) {
        let q = std::mem::take(&mut self.open_q);
        self.seq += 1;
        let answers: Vec<_> = self.answers.iter().filter(|a| a.q == q).cloned().collect();
        for answer in &answers {
            self.players[answer.player - 1].total += answer.points;
        }
        let ranks = self.ranks();
        let (correct, of, seq) = (self.correct(q), self.players.len(), self.seq);
        self.to_players(|id| {
            let mut frame = json!({"t": "result", "seq": seq, "q": q, "points": 0, "total": self.players[id - 1].total, "rank": ranks[id - 1], "of": of, "correct": [correct]});
            if let Some(answer) = answers.iter().find(|a| a.player == id) {
                frame["ok"] = json!(answer.choice == correct);
                frame["points"] = json!(answer.points);
            }
            frame
        });
        let histogram: Vec<_> = (0..4)
            .map(|c| answers.iter().filter(|a| a.choice == c).count())
            .collect();
        let right = answers.iter().filter(|a| a.choice == correct).count();
        self.to_host(&json!({"t": "reveal", "seq": seq, "q": q, "correct": [correct], "histogram": histogram, "answered": answers.len(), "right": right, "board": []}));
    }

    fn ranks(&self) -> Vec<usize> {
        self.players
            .iter()
            .map(|p| 1 + self.players.iter().filter(|o| o.total > p.total).count())
            .collect()
    }

    fn podium(&mut self) {
        self.seq += 1;
        self.over = true;
        let (ranks, of, seq) = (self.ranks(), self.players.len(), self.seq);
        self.to_players(|id| json!({"t": "over", "seq": seq, "rank": ranks[id - 1], "of": of, "total": self.players[id - 1].total, "top": []}));
        let off = |id: usize| u32::from(id == 2 && self.fault == Fault::WrongPodium);
        let places: Vec<_> = (1..)
            .zip(&self.players)
            .map(|(id, p)| json!({"rank": ranks[id - 1], "name": p.name, "total": p.total + off(id)}))
            .collect();
        self.to_host(
            &json!({"t": "over", "seq": seq, "of": of, "questions": self.questions(), "places": places}),
        );
    }

    fn end(&mut self) {
        let bye = json!({"t": "bye", "reason": "ended"});
        let streams = self.players.iter().map(|p| &p.stream).chain(&self.host);
        for (number, stream) in (1..).zip(streams) {
            if (number, self.fault) != (2, Fault::NoBye) {
                send(stream, &bye);
            }
            write_frame(stream, 0x88, &1_000u16.to_be_bytes());
            let _outcome = stream.shutdown(std::net::Shutdown::Write);
        }
    }

    /// The report, null before the podium.
    fn report(&self) -> Value {
        if !self.over {
            return Value::Null;
        }
        let ranks = self.ranks();
        let mut saved: Vec<Saved> = self.answers.iter().chain(&self.extra).cloned().collect();
        if self.fault == Fault::LostAnswer {
            saved.retain(|a| a.q != 2 || Some(a.player) != self.victim);
        }
        if self.fault == Fault::Phantom {
            let (player, q) = self.unanswered();
            let choice = (self.correct(q) + 1) % 4;
            saved.push(Saved {
                player,
                q,
                choice,
                elapsed_ms: 5,
                points: 0,
            });
        }
        let players: Vec<_> = (1..)
            .zip(&self.players)
            .map(|(id, p)| {
                let answers: Vec<_> = saved
                    .iter()
                    .filter(|a| a.player == id)
                    .map(|a| json!({"q": a.q, "choices": [a.choice], "elapsed_ms": a.elapsed_ms, "correct": a.choice == self.correct(a.q), "points": a.points}))
                    .collect();
                json!({"id": id, "name": p.name, "rank": ranks[id - 1], "total": p.total, "answers": answers})
            })
            .collect();
        json!({"result": {"players": players}, "questions": []})
    }

    /// A question that a player did not answer.
    fn unanswered(&self) -> (usize, usize) {
        let all = (1..=self.players.len()).flat_map(|id| (1..=self.questions()).map(move |q| (id, q)));
        let mut open = all.filter(|&(id, q)| !self.answers.iter().any(|a| (a.player, a.q) == (id, q)));
        open.next().expect("five in a hundred never answer")
    }
}
