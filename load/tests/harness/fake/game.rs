//! The game of the scripted server: its rules, its own arithmetic, its faults.

use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};

use super::{Fault, send, write_frame};

#[derive(Debug)]
struct FakePlayer {
    name: String,
    stream: TcpStream,
    total: u32,
    /// Has a socket; one that was cut off stays until its player comes back.
    joined: bool,
    /// Was forgotten when the server fell.
    gone: bool,
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
pub(super) struct Game {
    fault: Fault,
    quiz: Value,
    host: Option<TcpStream>,
    players: Vec<FakePlayer>,
    joins: u32,
    epoch: u32,
    answers: Vec<Saved>,
    /// Kept apart, as a right server's total counts it once.
    extra: Vec<Saved>,
    seq: u32,
    open_q: usize,
    /// The question whose results are shown.
    shown_q: usize,
    opened: Instant,
    over: bool,
    /// Whose answer the fault befalls.
    victim: Option<usize>,
    /// What is kept back for player 2.
    held: Option<Value>,
    asked_again: bool,
}

impl Game {
    pub(super) fn new(fault: Fault, quiz: Value) -> Self {
        Self {
            fault,
            quiz,
            host: None,
            players: Vec::new(),
            joins: 0,
            epoch: 1,
            answers: Vec::new(),
            extra: Vec::new(),
            seq: 0,
            open_q: 0,
            shown_q: 0,
            opened: Instant::now(),
            over: false,
            victim: None,
            held: None,
            asked_again: false,
        }
    }

    pub(super) fn player_count(&self) -> usize {
        self.players.len()
    }

    pub(super) fn handle(&mut self, stream: &TcpStream, me: &mut Option<usize>, frame: &Value) {
        let q = usize::try_from(frame["q"].as_u64().unwrap_or(0)).expect("small");
        match frame["t"].as_str().expect("type") {
            "host" => {
                assert_eq!(frame["token"], "teacher");
                self.host = Some(stream.try_clone().expect("clone"));
                // A ping, so that the harness must answer one, and a state.
                write_frame(stream, 0x89, b"are you there");
                send(stream, &json!({"t": "sync", "v": 1, "state": self.host_state()}));
            }
            "join" => self.join(stream, me, frame["name"].as_str().expect("name")),
            "resume" => self.resume(stream, me, frame),
            "ping" => {
                let times = match (self.fault, *me) {
                    (Fault::WrongPongs, Some(2)) => 0,
                    (Fault::WrongPongs, Some(3)) => 2,
                    _ => 1,
                };
                (0..times).for_each(|_| send(stream, &json!({"t": "pong", "seq": self.seq})));
            }
            "next" if self.fault == Fault::IgnoresNext && q == 1 => {}
            "next" if self.fault == Fault::AsksAgain && q == 1 && !self.asked_again => {
                self.asked_again = true;
                self.open(1);
            }
            "start" if self.open_q + self.shown_q == 0 && !self.over => self.open(1),
            "answer" => self.answer(me.expect("joined"), frame),
            "close" if self.open_q == q => self.close(),
            "next" if !self.over && self.open_q == 0 && self.shown_q == q && q < self.questions() => {
                self.open(q + 1)
            }
            "next" if !self.over && self.open_q == 0 && self.shown_q == q => self.podium(),
            "end" if !self.over && self.shown_q + self.open_q > 0 => {
                if self.open_q > 0 {
                    self.close();
                }
                self.podium();
            }
            "close" | "next" | "end" | "start" => send(stream, &json!({"t": "error", "code": "wrong_phase"})),
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
            gone: false,
        };
        self.players.push(player);
        let id = self.players.len();
        *me = Some(id);
        let welcome =
            json!({"t": "welcome", "v": 1, "id": id, "token": format!("r{id}"), "state": self.state(id)});
        send(stream, &self.marked(id, welcome));
        if (self.fault, id) != (Fault::LostRoster, 2) {
            self.to_host(&json!({"t": "roster", "joined": [{"id": id, "name": name}]}));
        }
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

    fn resume(&mut self, stream: &TcpStream, me: &mut Option<usize>, frame: &Value) {
        let token = frame["token"].as_str().expect("token");
        let id: usize = token
            .strip_prefix('r')
            .and_then(|id| id.parse().ok())
            .expect("own token");
        if self.players[id - 1].gone {
            send(stream, &json!({"t": "error", "code": "bad_token"}));
            write_frame(stream, 0x88, &4_401u16.to_be_bytes());
            return;
        }
        *me = Some(id);
        let player = &mut self.players[id - 1];
        (player.stream, player.joined) = (stream.try_clone().expect("clone"), true);
        let welcome = json!({"t": "welcome", "v": 1, "id": id, "token": token, "state": self.state(id)});
        send(stream, &welcome);
    }

    fn phase(&self) -> &'static str {
        match (self.over, self.open_q, self.shown_q) {
            (true, _, _) => "podium",
            (false, 0, 0) => "lobby",
            (false, 0, _) => "results",
            (false, _, _) => "question",
        }
    }

    fn question(&self) -> Value {
        match self.open_q.max(self.shown_q) {
            0 => Value::Null,
            q => json!({"q": q, "text": self.quiz["questions"][q - 1]["text"]}),
        }
    }

    fn roster(&self) -> Vec<Value> {
        (1..)
            .zip(&self.players)
            .filter(|(_, p)| !p.gone)
            .map(|(id, p)| json!({"id": id, "name": p.name}))
            .collect()
    }

    fn host_state(&self) -> Value {
        let mut state = json!({"epoch": self.epoch, "seq": self.seq, "phase": self.phase(), "roster": self.roster(), "question": self.question(), "answered": 0});
        if self.over {
            state["over"] = json!({"of": self.there(), "places": self.places()});
        } else if self.shown_q > 0 && self.open_q == 0 {
            state["reveal"] = self.reveal(self.shown_q);
        }
        state
    }

    fn state(&self, id: usize) -> Value {
        let player = &self.players[id - 1];
        let mut state = json!({"epoch": self.epoch, "seq": self.seq, "phase": self.phase(), "name": player.name, "total": player.total, "question": self.question()});
        let q = self.open_q.max(self.shown_q);
        let answer = self.answers.iter().find(|a| (a.player, a.q) == (id, q));
        if let Some(answer) = answer {
            state["answered"] = json!([answer.choice]);
        }
        if self.over {
            state["over"] =
                json!({"rank": self.ranks()[id - 1], "of": self.there(), "total": player.total, "top": []});
        } else if q > 0 && self.open_q == 0 {
            state["outcome"] =
                json!({"q": q, "points": answer.map_or(0, |a| a.points), "total": player.total});
        }
        state
    }

    /// A frame for player `id`, with its mark.
    fn marked(&self, id: usize, mut frame: Value) -> Value {
        if (id, self.fault) == (2, Fault::TakesAJoinBack) {
            frame["saved"] = json!(false);
        }
        frame
    }

    /// The server dies, and comes back with what it kept.
    pub(super) fn fall(&mut self) {
        self.epoch += 1;
        self.host = None;
        self.players.iter_mut().for_each(|player| player.joined = false);
        if matches!(self.fault, Fault::LosesAJoin | Fault::TakesAJoinBack) {
            self.players[1].gone = true;
            self.answers.retain(|answer| answer.player != 2);
        }
        if self.fault == Fault::ForgetsOne && !self.answers.is_empty() {
            // The oldest: its question has closed, so nobody sends it again.
            let gone = self.answers.remove(0);
            if gone.q != self.open_q {
                self.players[gone.player - 1].total -= gone.points;
            }
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
                send(&player.stream, &self.marked(id, frame(id)));
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
            if player.joined {
                send(&player.stream, &self.marked(id, frame));
            }
            if let Some(late) = self.held.take_if(|_| (id, q) == (2, 2)) {
                send(&player.stream, &late);
            }
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
        let is_shown = self.open_q == 0 && q == self.shown_q;
        let known = |a: &Saved| (a.player, a.q) == (id, q);
        if q != self.open_q && !(is_shown && self.answers.iter().any(known)) {
            return send(&stream, &json!({"t": "error", "code": "not_open", "q": q}));
        }
        let choice = frame["choice"].as_u64().expect("choice");
        if let Some(first) = self.answers.iter().find(|a| (a.player, a.q) == (id, q)) {
            // A first ack that was dropped is a fault of its own.
            let again = if first.choice == choice {
                json!({"t": "ack", "q": q, "saved": true})
            } else {
                json!({"t": "error", "code": "already_answered", "q": q})
            };
            return send(&stream, &again);
        }
        let here = q == 2 && choice == self.correct(q) && self.victim.is_none();
        if here {
            self.victim = Some(id);
        }
        if here && self.fault == Fault::SwallowedAnswer {
            return;
        }
        if here && self.fault == Fault::RefusedAnswer {
            return send(&stream, &json!({"t": "error", "code": "busy", "q": q}));
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
            send(
                &stream,
                &self.marked(id, json!({"t": "ack", "q": q, "saved": true})),
            );
        }
        if self.fault == Fault::EndedEarly && q == 2 {
            self.close();
        }
    }

    fn close(&mut self) {
        let q = std::mem::take(&mut self.open_q);
        self.shown_q = q;
        self.seq += 1;
        let answers: Vec<_> = self.answers.iter().filter(|a| a.q == q).cloned().collect();
        for answer in &answers {
            self.players[answer.player - 1].total += answer.points;
        }
        let ranks = self.ranks();
        let (correct, of, seq) = (self.correct(q), self.there(), self.seq);
        let holds = self.fault == Fault::Reordered && q == 1;
        let outcome = |id: usize| {
            let mut frame = json!({"t": "result", "seq": seq, "q": q, "points": 0, "total": self.players[id - 1].total, "rank": ranks[id - 1], "of": of, "correct": [correct]});
            if let Some(answer) = answers.iter().find(|a| a.player == id) {
                frame["ok"] = json!(answer.choice == correct);
                frame["points"] = json!(answer.points);
            }
            if (self.fault, id, q) == (Fault::WrongRank, 2, 2) {
                frame["rank"] = json!(ranks[id - 1] + 1);
            }
            frame
        };
        let player_2 = holds.then(|| outcome(2));
        for (id, player) in (1..).zip(&self.players) {
            if player.joined && !(holds && id == 2) {
                send(&player.stream, &self.marked(id, outcome(id)));
            }
            if (self.fault, id, q) == (Fault::WrongState, 2, 1) {
                let mut state = self.state(id);
                state["total"] = json!(player.total + 5);
                send(&player.stream, &json!({"t": "sync", "state": state}));
            }
        }
        self.held = player_2;
        let mut reveal = self.reveal(q);
        reveal["t"] = json!("reveal");
        reveal["seq"] = json!(seq);
        self.to_host(&reveal);
    }

    fn reveal(&self, q: usize) -> Value {
        let answers: Vec<_> = self.answers.iter().filter(|a| a.q == q).collect();
        let correct = self.correct(q);
        let histogram: Vec<_> = (0..4)
            .map(|c| answers.iter().filter(|a| a.choice == c).count())
            .collect();
        let right = answers.iter().filter(|a| a.choice == correct).count();
        json!({"q": q, "correct": [correct], "histogram": histogram, "answered": answers.len(), "right": right, "board": []})
    }

    fn ranks(&self) -> Vec<usize> {
        let there = || self.players.iter().filter(|p| !p.gone);
        self.players
            .iter()
            .map(|p| 1 + there().filter(|o| o.total > p.total).count())
            .collect()
    }

    /// Players who were not forgotten.
    fn there(&self) -> usize {
        self.players.iter().filter(|p| !p.gone).count()
    }

    fn podium(&mut self) {
        self.seq += 1;
        self.over = true;
        let (ranks, of, seq) = (self.ranks(), self.there(), self.seq);
        for (id, player) in (1..).zip(&self.players) {
            if player.joined && (id, self.fault) != (2, Fault::LostEnd) {
                let frame = json!({"t": "over", "seq": seq, "rank": ranks[id - 1], "of": of, "total": player.total, "top": []});
                send(&player.stream, &frame);
            }
        }
        let places = self.places();
        self.to_host(
            &json!({"t": "over", "seq": seq, "of": of, "questions": self.questions(), "places": places}),
        );
    }

    fn places(&self) -> Vec<Value> {
        let off = |id: usize| u32::from(id == 2 && self.fault == Fault::WrongPodium);
        let ranks = self.ranks();
        (1..)
            .zip(&self.players)
            .filter(|(_, p)| !p.gone)
            .map(|(id, p)| json!({"rank": ranks[id - 1], "name": p.name, "total": p.total + off(id)}))
            .collect()
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
    pub(super) fn report(&self) -> Value {
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
        // Under each other's names: player 1 and the next one who came to another total, since who joins first is a race.
        let swapped = (self.fault == Fault::SwappedNames)
            .then(|| (2..).zip(self.players.iter().skip(1)))
            .and_then(|mut others| others.find(|(_, p)| p.total != self.players[0].total))
            .map(|(id, _)| id);
        let mut players: Vec<_> = (1..)
            .zip(&self.players)
            .filter(|(_, p)| !p.gone)
            .map(|(id, p)| {
                let answers: Vec<_> = saved
                    .iter()
                    .filter(|a| a.player == id)
                    .map(|a| json!({"q": a.q, "choices": [a.choice], "elapsed_ms": a.elapsed_ms, "correct": a.choice == self.correct(a.q), "points": a.points}))
                    .collect();
                let total = p.total + u32::from((self.fault, id) == (Fault::WrongReport, 2));
                let named = match swapped {
                    Some(other) if id == 1 => other,
                    Some(other) if id == other => 1,
                    _ => id,
                };
                json!({"id": id, "name": self.players[named - 1].name, "rank": ranks[id - 1], "total": total, "answers": answers})
            })
            .collect();
        if self.fault == Fault::Stranger {
            let last = self.ranks().into_iter().max().unwrap_or(0);
            let least = self.players.iter().map(|p| p.total).min().unwrap_or(0);
            let rank = if least > 0 { self.players.len() + 1 } else { last };
            players.push(json!({"id": 999, "name": "Nobody", "rank": rank, "total": 0, "answers": []}));
        }
        json!({"result": {"players": players}, "questions": []})
    }

    /// A question that a player did not answer.
    fn unanswered(&self) -> (usize, usize) {
        let all = (1..=self.players.len()).flat_map(|id| (1..=self.questions()).map(move |q| (id, q)));
        let mut open = all.filter(|&(id, q)| !self.answers.iter().any(|a| (a.player, a.q) == (id, q)));
        open.next().expect("five in a hundred never answer")
    }
}
