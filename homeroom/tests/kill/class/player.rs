//! A student's phone: joins once, resumes ever after, keeps an answer until it is saved.

use std::time::Duration;

use futures_util::SinkExt;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use super::{BURST, BURSTS, Room, Socket, TIME_MS, hear};
use crate::ledger::Ledger;

/// What clocks and busy machines may differ by.
const SLACK: Duration = Duration::from_millis(300);
/// What a crash may give back to an open question beside the outage.
const TICK: Duration = Duration::from_secs(1);

struct Phone {
    room: Room,
    rng: StdRng,
    ledger: Ledger,
    token: Option<String>,
    epoch: u64,
    /// The answer that is kept until it is saved.
    kept: Option<(u16, u8)>,
    is_waiting: bool,
    /// The open question, and when it opened.
    open: Option<(u16, Instant)>,
    answer_at: Option<Instant>,
}

/// Plays until the game is closed.
pub(super) async fn play(room: Room, n: u32, seed: u64) -> Ledger {
    let mut phone = Phone {
        room,
        rng: StdRng::seed_from_u64(seed ^ u64::from(n) << 32),
        ledger: Ledger {
            name: format!("Student {n}"),
            ..Ledger::default()
        },
        token: None,
        epoch: 0,
        kept: None,
        is_waiting: false,
        open: None,
        answer_at: None,
    };
    loop {
        let mut socket = phone.room.connect().await;
        if phone.session(&mut socket).await {
            return phone.ledger;
        }
    }
}

impl Phone {
    /// One socket's life; true when the game is over for good.
    async fn session(&mut self, socket: &mut Socket) -> bool {
        let first = match &self.token {
            None => json!({ "t": "join", "name": self.ledger.name }),
            Some(token) => json!({ "t": "resume", "token": token, "seq": 0 }),
        };
        if socket.send(Message::text(first.to_string())).await.is_err() {
            return false;
        }
        loop {
            let answer_at = self
                .answer_at
                .unwrap_or_else(|| Instant::now() + Duration::from_secs(60));
            tokio::select! {
                heard = hear(socket) => match heard {
                    Ok(frame) => if self.take(&frame) { return true },
                    Err(_closed) => return false,
                },
                () = tokio::time::sleep_until(answer_at), if self.answer_at.is_some() => {
                    self.answer_at = None;
                    if let Some((q, choice)) = self.kept {
                        self.wait_for_ack(true);
                        let frame = json!({ "t": "answer", "q": q, "choice": choice });
                        let _sent = socket.send(Message::text(frame.to_string())).await;
                    }
                }
            }
        }
    }

    /// Takes a frame; true when the game is over for good.
    fn take(&mut self, frame: &Value) -> bool {
        match frame["t"].as_str().unwrap() {
            "welcome" => self.welcome(frame),
            "question" => self.opened(q(frame)),
            "ack" if frame["saved"] == true => {
                let q = q(frame);
                if let Some((kept, choice)) = self.kept.take_if(|(kept, _)| *kept == q) {
                    self.ledger.saved.insert(kept, choice);
                    self.wait_for_ack(false);
                }
            }
            "ack" => {}
            "result" => {
                self.ledger.result(frame);
                self.closed();
            }
            "over" => self.ledger.total = frame["total"].as_u64().unwrap(),
            "bye" => return frame["reason"] == "ended",
            "error" => panic!("{}: {frame}", self.ledger.name),
            other => panic!("{other}: {frame}"),
        }
        false
    }

    fn welcome(&mut self, frame: &Value) {
        let state = &frame["state"];
        let epoch = state["epoch"].as_u64().unwrap();
        assert!(epoch >= self.epoch, "an older epoch: {frame}");
        self.epoch = epoch;
        let is_new = self.token.is_none();
        self.token = frame["token"].as_str().map(str::to_owned);
        if is_new {
            self.ledger.id = frame["id"].as_u64().unwrap();
            self.room.joined.send_modify(|joined| *joined += 1);
            return;
        }
        assert_eq!(frame["id"], self.ledger.id);
        self.ledger.resumes += 1;
        self.ledger.state(state);
        if state["phase"] != "question" {
            return self.closed();
        }
        let question = &state["question"];
        let number = q(question);
        match self.open {
            Some((open, since)) if open == number => self.check_time(question, since),
            Some(_) | None => self.opened(number),
        }
        match (state.get("answered"), self.kept) {
            // It is in the game; the same answer again brings its ack.
            (Some(answered), Some((_, choice))) => assert_eq!(*answered, json!([choice])),
            (Some(answered), None) => assert_eq!(*answered, json!([self.ledger.saved[&number]])),
            (None, None) => panic!("{} lost its answer to {number}", self.ledger.name),
            (None, Some(_)) => {}
        }
        if self.kept.is_some() && self.answer_at.is_none() {
            self.answer_at = Some(Instant::now());
        }
    }

    fn opened(&mut self, number: u16) {
        self.open = Some((number, Instant::now()));
        self.kept = Some((number, self.rng.random_range(0..4)));
        // In bursts, as a class does that waits for the clever one.
        let bursts = self.rng.random_range(0..BURSTS);
        self.answer_at = Some(Instant::now() + BURST * bursts);
    }

    fn closed(&mut self) {
        self.open = None;
        self.kept = None;
        self.answer_at = None;
        self.wait_for_ack(false);
    }

    fn wait_for_ack(&mut self, waits: bool) {
        let was = std::mem::replace(&mut self.is_waiting, waits);
        self.room
            .waiting
            .send_modify(|waiting| *waiting += i64::from(waits) - i64::from(was));
    }

    /// The time left is the whole time without what went by while somebody served it.
    fn check_time(&mut self, question: &Value, since: Instant) {
        let outages = self.room.outages.lock().unwrap().clone();
        let in_question: Vec<_> = outages.iter().filter(|outage| outage.killed > since).collect();
        let Some(first) = in_question.first() else {
            return;
        };
        let whole = Duration::from_millis(TIME_MS);
        let left = question["left"].as_u64().map_or(whole, Duration::from_millis);
        let away: Duration = in_question
            .iter()
            .map(|outage| outage.spawned - outage.killed)
            .sum();
        let least = whole.saturating_sub(since.elapsed() - away + SLACK);
        let most = whole + TICK + SLACK - (first.killed - since);
        assert!(left >= least, "{left:?} left, at least {least:?} expected");
        assert!(left <= most, "{left:?} left, at most {most:?} expected");
        self.ledger.times_checked += 1;
    }
}

fn q(frame: &Value) -> u16 {
    u16::try_from(frame["q"].as_u64().unwrap()).unwrap()
}
