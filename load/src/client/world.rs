//! What the clients of a run share: the plan, the classes, the tally; and what a client asks the engine to do.

use std::net::{IpAddr, SocketAddr};

use serde::Serialize;

use super::board::Board;
use super::codec::{self, Opcode};
use super::http::Target;
use super::pacer::{Due, Task};
use super::tls::Trust;
use crate::measure::Tally;
use crate::plan::{self, Plan};
use crate::sys::clock::Stamp;
use crate::sys::{index, small};
use crate::wire::ToServer;

/// Bytes and frames that the players of a class received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Traffic {
    /// Payload of text messages, in bytes.
    pub payload_bytes: u64,
    /// Everything read from the sockets, handshake and frame headers included, in bytes.
    pub wire_bytes: u64,
    /// Text messages.
    pub frames: u64,
}

/// A host's click that opened a question, and how it spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Click {
    /// When it was sent; the last time, if it had to be sent again.
    pub at: Stamp,
    /// When it was sent first.
    pub first_at: Stamp,
    /// Phones that have the question.
    pub phones: u32,
    /// From the click to the last of them, in microseconds.
    pub last_us: u64,
}

/// How a class gets at its game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Door {
    /// Where its server, or the proxy before it, is.
    pub address: SocketAddr,
    /// The handshake that opens a socket of this game.
    pub request: Vec<u8>,
    /// The own address that its clients come from; none leaves it to the system.
    pub from: Option<IpAddr>,
    /// The name that it is called by.
    pub host: String,
    /// Whose certificates are believed, when it speaks TLS.
    pub trust: Option<Trust>,
}

impl Door {
    /// The way to the game at `path` of a server or proxy.
    pub(super) fn to(target: &Target, path: &str, from: Option<IpAddr>) -> Self {
        Self {
            address: target.address,
            request: super::link::request(&target.host, path),
            from,
            host: target.host.clone(),
            trust: target.trust.clone(),
        }
    }
}

/// What the end of a socket means that nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnLoss {
    /// A fault of the server: nothing should have ended it.
    #[default]
    Fault,
    /// Part of the run: whoever was there comes back, as browsers do.
    Return,
}

/// What the harness is later with than this, and can then not do any more, it has never done; in microseconds. A generator
/// that is so late with one in a hundred makes its run INVALID as well.
pub(super) const NEVER_DONE_US: u64 = 25_000;

/// One class and its game.
#[derive(Debug)]
pub struct Class {
    /// Index in the plan.
    pub number: u32,
    /// How its game is reached, each as good as the others; none for a class that another process plays.
    pub doors: Vec<Door>,
    /// What its players received.
    pub traffic: Traffic,
    /// Clicks by question, the first question's at 0.
    pub clicks: Vec<Click>,
    /// Players that were welcomed.
    pub joined: u32,
    /// Players that have seen the final places.
    pub over: u32,
    /// Players told that the game ended, whose socket was then closed as the protocol says.
    pub ended: u32,
    /// Sockets of players that are gone, for whatever reason.
    pub gone: u32,
    /// Members, the host included, that were cut off and are not back yet.
    pub away: u32,
    /// The newest epoch that a state of its game had.
    pub epoch: u32,
    /// Times that a state had a newer one than before: the game was taken over, or handed over.
    pub moves: u32,
    /// Times that a member was cut off, or dropped its socket.
    pub losses: u64,
    /// Since when nobody new is away, when somebody is: the moment at which its service may have ended.
    gap_since: Option<Stamp>,
    /// Questions up to this one were clicked closed by its host; all when it has ended the playing.
    pub closed_q: u16,
    /// What its phones were told of their places.
    pub(super) board: Board,
    /// Why the last attempt to come back failed: the status of a refused handshake or the code of a close, 0 when the
    /// connection itself failed.
    pub last_refusal: u16,
}

impl Class {
    /// A class whose game is reached by `doors`.
    #[must_use]
    pub fn new(number: u32, questions: u16, doors: Vec<Door>) -> Self {
        Self {
            number,
            doors,
            traffic: Traffic::default(),
            clicks: vec![Click::default(); usize::from(questions)],
            joined: 0,
            over: 0,
            ended: 0,
            gone: 0,
            away: 0,
            epoch: 0,
            moves: 0,
            losses: 0,
            gap_since: None,
            closed_q: 0,
            board: Board::default(),
            last_refusal: 0,
        }
    }

    /// The door of a member whose number, with the attempts made so far, is `turn`: who comes back takes the next one, as behind a
    /// balancer.
    #[must_use]
    pub fn door(&self, turn: u32) -> Option<&Door> {
        let doors = small(self.doors.len());
        self.doors.get(index(turn.checked_rem(doors)?))
    }

    /// A member was cut off at `since`.
    pub fn left(&mut self, since: Stamp) {
        if self.away == 0 {
            self.gap_since = Some(since);
        }
        self.away += 1;
        self.losses += 1;
    }

    /// A member is back at `now`. When it is the first one, and most of the class was away with it: how long the game was
    /// without service, in microseconds.
    pub fn returned(&mut self, now: Stamp) -> Option<u64> {
        let was_most = self.away.saturating_mul(2) > self.joined;
        let since = self.gap_since.take();
        self.away = self.away.saturating_sub(1);
        since.filter(|_| was_most).map(|since| now.since(since))
    }

    /// A member was shown a state of `epoch`.
    pub fn at_epoch(&mut self, epoch: Option<u32>) {
        let epoch = epoch.unwrap_or(0);
        if epoch > self.epoch {
            self.moves += u32::from(self.epoch != 0);
            self.epoch = epoch;
        }
    }

    /// The click of question `q` (from 1).
    pub fn click_mut(&mut self, q: u16) -> Option<&mut Click> {
        self.clicks.get_mut(usize::from(q).checked_sub(1)?)
    }
}

/// The shared state of a run.
#[derive(Debug)]
pub struct World {
    /// What everybody will do.
    pub plan: Plan,
    /// The classes, in the plan's order.
    pub classes: Vec<Class>,
    /// What was measured.
    pub tally: Tally,
    /// What the end of a socket means.
    pub on_loss: OnLoss,
    /// Clients bear silence only as long as the pages of the product do. Set before anybody connects.
    pub is_watchful: bool,
    /// When the servers were struck, until that is over: whoever is cut off meanwhile has been away since then, noticed or not.
    pub struck_at: Option<Stamp>,
    /// Sockets whose handshake is on its way.
    pub(super) opening: u32,
    /// What is being read came while its phone read nothing, so its times say nothing of the servers.
    pub(super) reading_late: bool,
    /// Stems of the questions, so that a phone's question is compared with the quiz.
    pub stems: Vec<String>,
}

impl World {
    /// A world for `plan`, without classes.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let stems = (1..=plan.questions).map(plan::reference_stem).collect();
        Self {
            plan,
            classes: Vec::new(),
            tally: Tally::default(),
            on_loss: OnLoss::default(),
            is_watchful: false,
            struck_at: None,
            opening: 0,
            reading_late: false,
            stems,
        }
    }

    /// A class.
    #[must_use]
    pub fn class(&self, class: u32) -> Option<&Class> {
        self.classes.get(index(class))
    }

    /// A class, to change it.
    pub fn class_mut(&mut self, class: u32) -> Option<&mut Class> {
        self.classes.get_mut(index(class))
    }

    /// A member of `class` was cut off, and noticed it at `noticed`. Since when it has been away.
    pub(super) fn leaves(&mut self, class: u32, noticed: Stamp) -> Stamp {
        let since = self.struck_at.map_or(noticed, |struck| struck.min(noticed));
        if let Some(class) = self.class_mut(class) {
            class.left(since);
        }
        since
    }

    /// A member of `class` is back at `now` that had been away since `since`.
    pub(super) fn returns(&mut self, class: u32, since: Stamp, now: Stamp) {
        self.tally.back.record(now.since(since));
        if let Some(gap_us) = self.class_mut(class).and_then(|class| class.returned(now)) {
            self.tally.without_service.record(gap_us);
        }
    }

    /// The stem of question `q` (from 1).
    #[must_use]
    pub fn stem(&self, q: u16) -> Option<&str> {
        self.stems.get(usize::from(q).checked_sub(1)?).map(String::as_str)
    }
}

/// What a client asks for: frames to send on its own socket, tasks for later, the end of its socket.
#[derive(Debug, Default)]
pub struct Effects {
    /// Encoded frames.
    pub(super) frames: Vec<u8>,
    /// Tasks.
    pub(super) due: Vec<Due>,
    /// The connection that is being served.
    pub(super) conn: u32,
    /// The look at the sockets before this one: what is read now came after it.
    pub(super) looked_before: Stamp,
    /// The client has no use for its socket any more.
    pub(super) hang_up: bool,
    /// The server has been silent for too long.
    pub(super) give_up: bool,
    json: Vec<u8>,
    mask: u32,
}

impl Effects {
    /// Sends a frame.
    pub fn send(&mut self, frame: ToServer<'_>) {
        self.json.clear();
        // Plain data into a vector: the only error would be a map with other keys than strings.
        if serde_json::to_writer(&mut self.json, &frame).is_ok() {
            let mask = self.next_mask();
            codec::encode(&mut self.frames, Opcode::Text, &self.json, mask);
        }
    }

    /// Answers a ping.
    pub fn pong(&mut self, payload: &[u8]) {
        let mask = self.next_mask();
        codec::encode(&mut self.frames, Opcode::Pong, payload, mask);
    }

    /// Answers a close.
    pub fn close(&mut self) {
        let mask = self.next_mask();
        codec::encode(&mut self.frames, Opcode::Close, &1_000u16.to_be_bytes(), mask);
    }

    /// Gives the socket up after what was sent.
    pub fn hang_up(&mut self) {
        self.close();
        self.hang_up = true;
    }

    /// Does `task` on this connection at `at`.
    pub fn schedule(&mut self, at: Stamp, task: Task) {
        self.due.push(Due {
            at,
            conn: self.conn,
            task,
        });
    }

    const fn next_mask(&mut self) -> u32 {
        self.mask = self.mask.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.mask
    }
}
