//! A class and its teacher, who all come back whenever the process does.

mod host;
mod player;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use rand::Rng;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::Moment;
use crate::ledger::Ledger;
use crate::process::Process;

pub(crate) const PLAYERS: u32 = 12;
const QUESTIONS: u16 = 4;
/// Time to answer, long enough that no question closes by its deadline.
pub(crate) const TIME_MS: u64 = 30_000;
/// Bursts in which a class answers.
pub(crate) const BURSTS: u32 = 5;
/// Kills strike within this time of a question.
const QUESTION_MS: u64 = 1_000;
/// Time between two bursts of answers.
pub(crate) const BURST: Duration = Duration::from_millis(300);
/// How long results and the podium are shown, at least.
pub(crate) const SHOWN: Duration = Duration::from_millis(300);

pub(crate) type Socket = WebSocketStream<TcpStream>;

pub(crate) struct Class {
    token: String,
    quiz: String,
    game: String,
    code: String,
    key: String,
    seed: u64,
}

/// When the process was not there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outage {
    pub(crate) killed: Instant,
    pub(crate) spawned: Instant,
}

/// What everybody in the class knows.
#[derive(Clone)]
pub(crate) struct Room {
    pub(crate) url: String,
    pub(crate) address: std::net::SocketAddr,
    pub(crate) outages: Arc<Mutex<Vec<Outage>>>,
    /// Players welcomed.
    pub(crate) joined: watch::Sender<u32>,
    /// Answers sent and not acked as saved.
    pub(crate) waiting: watch::Sender<i64>,
}

/// What came of it.
pub(crate) struct Report {
    pub(crate) in_flight: i64,
    kills: usize,
    saved: usize,
    resumes: u32,
    times_checked: u32,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            in_flight,
            kills,
            saved,
            resumes,
            times_checked,
        } = self;
        write!(
            f,
            "{kills} kills met {in_flight} answers under way; {saved} saved answers, all in the report once; \
             {resumes} resumes, {times_checked} into an open question with its time kept"
        )
    }
}

impl Class {
    /// Signs a teacher up and starts a game.
    pub(crate) async fn open(process: &Process, seed: u64) -> Self {
        process.answers().await;
        let register = json!({ "email": "t@example.org", "password": "a long password", "name": "T" });
        let (status, session) = process
            .call("POST", "/store/auth/register", None, &register)
            .await;
        assert_eq!(status, 201, "{session}");
        let token = session["access_token"].as_str().unwrap().to_owned();
        let question = |n: u16| {
            let choices: Vec<_> = (0..4)
                .map(|c| json!({ "text": format!("Choice {c}"), "correct": c == n % 4 }))
                .collect();
            json!({ "kind": "single", "text": format!("Question {n}?"), "choices": choices, "time_ms": TIME_MS })
        };
        let questions: Vec<_> = (1..=QUESTIONS).map(question).collect();
        let document = json!({ "title": "Kill", "questions": questions });
        let (status, quiz) = process
            .call("POST", "/store/quizzes", Some(&token), &document)
            .await;
        assert_eq!(status, 201, "{quiz}");
        let quiz = quiz["id"].as_str().unwrap().to_owned();
        let (code, key) = ("K7Q2MX".to_owned(), "kill".to_owned());
        let (status, created) = process.create(&token, &code, &quiz, &key).await;
        assert_eq!(status, 201, "{created}");
        Self {
            game: created["game"].as_str().unwrap().to_owned(),
            token,
            quiz,
            code,
            key,
            seed,
        }
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    pub(crate) fn quiz(&self) -> &str {
        &self.quiz
    }

    pub(crate) fn game(&self) -> &str {
        &self.game
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Plays the game to its end under `kills`, and holds every phone's ledger against the report.
    pub(crate) async fn play(self, mut process: Process, kills: &[Moment], rng: &mut StdRng) -> Report {
        let room = Room {
            url: format!("ws://{}/game/watch?g={}", process.address, self.code),
            address: process.address,
            outages: Arc::default(),
            joined: watch::Sender::new(0),
            waiting: watch::Sender::new(0),
        };
        let (strike, mut strikes) = mpsc::channel(1);
        let host = tokio::spawn(host::play(
            room.clone(),
            self.token.clone(),
            kills.to_vec(),
            strike,
        ));
        let players: Vec<_> = (0..PLAYERS)
            .map(|n| tokio::spawn(player::play(room.clone(), n, self.seed)))
            .collect();
        let mut in_flight = 0;
        let mut count = 0;
        while let Some(moment) = strikes.recv().await {
            let within_ms = match moment {
                Moment::Question(_) => QUESTION_MS,
                Moment::Lobby | Moment::Results(_) | Moment::Podium => 200,
            };
            tokio::time::sleep(Duration::from_millis(rng.random_range(0..within_ms))).await;
            if let Moment::Question(_) = moment {
                // The next burst of answers, if one is left: an ack takes a millisecond, so that chance alone meets none.
                let mut waiting = room.waiting.subscribe();
                let under_way = waiting.wait_for(|waiting| *waiting > 0);
                let _none_left = tokio::time::timeout(BURST, under_way).await;
            }
            let killed = Instant::now();
            in_flight += *room.waiting.borrow();
            process.kill().await;
            tokio::time::sleep(Duration::from_millis(rng.random_range(0..2_000))).await;
            let spawned = Instant::now();
            room.outages.lock().unwrap().push(Outage { killed, spawned });
            process.spawn_again();
            count += 1;
        }
        host.await.unwrap();
        let mut ledgers: Vec<Ledger> = Vec::new();
        for player in players {
            ledgers.push(player.await.unwrap());
        }
        assert_eq!(count, kills.len(), "every kill struck");
        let report = self.report(&process).await;
        assert_eq!(
            report["result"]["players"].as_array().unwrap().len(),
            ledgers.len()
        );
        let saved = ledgers.iter().map(|ledger| ledger.settle(&report)).sum();
        process.stop().await;
        Report {
            in_flight,
            kills: count,
            saved,
            resumes: ledgers.iter().map(|ledger| ledger.resumes).sum(),
            times_checked: ledgers.iter().map(|ledger| ledger.times_checked).sum(),
        }
    }

    /// The report, which is there once the result is saved.
    async fn report(&self, process: &Process) -> Value {
        let path = format!("/store/games/{}/report", self.game);
        loop {
            let (status, report) = process.get(&path, Some(&self.token)).await;
            if status == 200 {
                return report;
            }
            assert_eq!(status, 404, "{report}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Room {
    /// A socket, as soon as there is a process that opens one.
    pub(crate) async fn connect(&self) -> Socket {
        loop {
            if let Ok(stream) = TcpStream::connect(self.address).await
                && let Ok((socket, _)) = tokio_tungstenite::client_async(&self.url, stream).await
            {
                return socket;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// The next frame; none when the socket is closed, with the server's code.
pub(crate) async fn hear(socket: &mut Socket) -> Result<Value, Option<u16>> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
            Some(Ok(Message::Close(close))) => return Err(close.map(|close| close.code.into())),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Err(None),
        }
    }
}
