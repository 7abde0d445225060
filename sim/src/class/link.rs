//! One socket that comes back by itself: opening, retrying, noticing silence, and what a close code means.

use serde_json::{Value, json};

use super::{Desk, News};
use crate::Millis;

/// Shortest and longest bound of the delay before a client tries again.
const BACKOFF_MS: (Millis, Millis) = (200, 5_000);
/// A frame that must be answered has this long.
const REPLY_MS: Millis = 2_000;
/// A connection that is not open after this time is tried again.
const HANDSHAKE_MS: Millis = 10_000;
/// Silence after which a page asks whether the server is there.
const QUIET_MS: Millis = 10_000;

/// Something that a client does.
#[derive(Debug)]
pub(crate) enum Act {
    /// Opens a socket, after giving up the one it has.
    Connect,
    /// Sends a request to start a game.
    Create { key: String },
    /// Sends a frame.
    Say(Value),
    /// Closes its connection.
    Hangup,
    /// Wants to hear of this timer.
    Wake { at: Millis, timer: Timer },
    /// Draws another code for the game.
    DrawCode,
    /// Something that the oracle must know.
    Deed(Deed),
}

/// What a client has done or been told that belongs into the books.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It is this player of the game from now on.
    Joined { player: u32 },
    /// It gave an answer, and keeps it until it is settled.
    Answered { q: u16, choices: Vec<u8> },
    /// It was told that there is nothing more to come, by this close code: the game is over (1000), or it is lost (4404).
    Stopped { code: u16 },
}

/// A timer. Setting one of a kind anew makes the one before stale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timer {
    pub(crate) what: What,
    turn: u64,
}

/// What a timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// Connect again.
    Retry,
    /// No frame came in time.
    Deadline,
    /// Nothing was heard for long.
    Quiet,
    /// The client's own plan.
    Plan(u8),
}

const KINDS: usize = 8;

/// Time that a student takes to say "go on here".
const TAKE_OVER_MS: Millis = 1_500;

/// Where the socket stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Connecting,
    Open,
    Stopped,
}

/// What became of a link after some news.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing to do.
    Nothing,
    /// The socket is open: say who you are.
    Introduce,
    /// A frame for the client.
    Frame(Value),
    /// Nothing more comes: the close code.
    Stopped(u16),
    /// The token is not valid any more.
    Rejoin,
    /// A plan of the client's own.
    Plan(u8),
}

/// The socket of a client.
#[derive(Debug)]
pub(crate) struct Link {
    state: State,
    failures: u32,
    asked_ms: Option<Millis>,
    turns: [u64; KINDS],
    waits_for_reply: bool,
}

fn slot(what: What) -> usize {
    match what {
        What::Retry => 0,
        What::Deadline => 1,
        What::Quiet => 2,
        What::Plan(plan) => 3 + usize::from(plan),
    }
}

impl Link {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Idle,
            failures: 0,
            asked_ms: None,
            turns: [0; KINDS],
            waits_for_reply: false,
        }
    }

    /// Opens a socket.
    pub(crate) fn connect(&mut self, desk: &mut Desk<'_>) {
        self.state = State::Connecting;
        self.asked_ms = None;
        desk.act(Act::Connect);
        self.set(What::Deadline, HANDSHAKE_MS, desk);
    }

    /// Sends a frame if there is a socket. Silence after one that must be answered opens the socket anew.
    pub(crate) fn say(&mut self, frame: Value, expects_reply: bool, desk: &mut Desk<'_>) -> bool {
        if self.state != State::Open {
            return false;
        }
        desk.act(Act::Say(frame));
        if expects_reply && !self.waits_for_reply {
            self.waits_for_reply = true;
            self.set(What::Deadline, REPLY_MS, desk);
        }
        true
    }

    /// Sets a timer of the client's own.
    pub(crate) fn plan(&mut self, plan: u8, delay_ms: Millis, desk: &mut Desk<'_>) {
        self.set(What::Plan(plan), delay_ms, desk);
    }

    pub(crate) fn drop_plan(&mut self, plan: u8) {
        self.clear(What::Plan(plan));
    }

    /// Ends it for good.
    pub(crate) fn stop(&mut self, desk: &mut Desk<'_>) {
        self.state = State::Stopped;
        desk.act(Act::Hangup);
        self.turns = self.turns.map(|turn| turn + 1);
    }

    /// Takes news.
    pub(crate) fn on(&mut self, news: News, desk: &mut Desk<'_>) -> Turn {
        if self.state == State::Stopped {
            return Turn::Nothing;
        }
        match news {
            News::Timer(timer) => self.on_timer(timer, desk),
            News::Open => {
                self.state = State::Open;
                self.waits_for_reply = false;
                self.clear(What::Deadline);
                Turn::Introduce
            }
            News::Frame(frame) => {
                self.waits_for_reply = false;
                self.clear(What::Deadline);
                self.set(What::Quiet, QUIET_MS, desk);
                self.asked_ms = frame["retry_ms"].as_u64();
                if frame["t"] == "welcome" || frame["t"] == "sync" {
                    self.failures = 0;
                }
                Turn::Frame(frame)
            }
            News::Closed(Some(code @ (1000 | 4400 | 4403 | 4404))) => {
                self.stop(desk);
                Turn::Stopped(code)
            }
            News::Closed(Some(4401)) => Turn::Rejoin,
            // The page of before was slow, and came after the one that replaced it. The page asks whether to go on here.
            News::Closed(Some(4409)) => {
                self.again(Some(TAKE_OVER_MS), desk);
                Turn::Nothing
            }
            News::Closed(code) => {
                let spare_ms = (code == Some(4429)).then_some(2_000);
                self.again(self.asked_ms.or(spare_ms), desk);
                Turn::Nothing
            }
            News::Answer { .. } => Turn::Nothing,
            News::Reload => {
                desk.act(Act::Hangup);
                self.connect(desk);
                Turn::Nothing
            }
        }
    }

    fn on_timer(&mut self, timer: Timer, desk: &mut Desk<'_>) -> Turn {
        if self.turns.get(slot(timer.what)) != Some(&timer.turn) {
            return Turn::Nothing;
        }
        match timer.what {
            What::Retry => self.connect(desk),
            What::Deadline => {
                desk.act(Act::Hangup);
                self.again((self.failures == 0).then_some(0), desk);
            }
            What::Quiet => {
                self.say(json!({ "t": "ping" }), true, desk);
            }
            What::Plan(plan) => return Turn::Plan(plan),
        }
        Turn::Nothing
    }

    /// Tries again after `delay_ms`, or as long as failures say.
    pub(crate) fn again(&mut self, delay_ms: Option<Millis>, desk: &mut Desk<'_>) {
        self.state = State::Idle;
        self.waits_for_reply = false;
        self.clear(What::Deadline);
        self.clear(What::Quiet);
        let bound_ms = (2 * BACKOFF_MS.0).saturating_mul(1 << self.failures.min(10));
        let jittered_ms = desk.dice.between(BACKOFF_MS.0, bound_ms.min(BACKOFF_MS.1));
        self.failures += 1;
        self.set(What::Retry, delay_ms.unwrap_or(jittered_ms), desk);
    }

    fn set(&mut self, what: What, delay_ms: Millis, desk: &mut Desk<'_>) {
        let Some(turn) = self.turns.get_mut(slot(what)) else {
            return;
        };
        *turn += 1;
        let timer = Timer { what, turn: *turn };
        desk.act(Act::Wake {
            at: desk.now + delay_ms,
            timer,
        });
    }

    fn clear(&mut self, what: What) {
        if let Some(turn) = self.turns.get_mut(slot(what)) {
            *turn += 1;
        }
    }
}
