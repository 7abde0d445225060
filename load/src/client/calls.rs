//! HTTP calls, each due at a moment of its own, on connections that are kept and opened as they are needed: an open loop, so that a
//! server which is slow gets no fewer calls for it. A script that waits for answers before it asks again makes a closed one of it.
//!
//! What is asked, and what an answer means, is the script's; latencies count from the moment that a call was due.

mod answer;
mod conn;

use std::collections::VecDeque;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use mio::{Events, Interest, Poll, Token};

pub use answer::Answer;
use conn::{Conn, Progress};

use super::engine::EngineError;
use super::http::Target;
use super::receive::Inbox;
use crate::measure::{FaultKind, Micros};
use crate::sys::clock::{self, Stamp};
use crate::sys::{index, signals, small};

/// Read buffer shared by all connections; a dashboard's answers have a few KB.
const READ_BUFFER_BYTES: usize = 64 * 1024;
/// Events taken from the poller at once.
const EVENTS_MAX: usize = 1_024;
/// Calls begun before sockets are looked at again.
const CALLS_AT_ONCE: u32 = 64;
/// The longest that the poller waits, in milliseconds: a stop is noticed by then.
const LOOK_MS: u64 = 50;
/// An unused connection is not used again after this time, in milliseconds: servers close theirs after 30 s, and a call must not meet
/// that moment.
const IDLE_MS_MAX: u64 = 15_000;

/// How calls get to a server: its address, and the address that they come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Where it is.
    pub target: Target,
    /// The own address; none leaves it to the system.
    pub from: Option<IpAddr>,
}

/// A call to be made.
#[derive(Debug, Clone)]
pub struct Ask {
    /// When it is due; its latency counts from here.
    pub due: Stamp,
    /// Which of the ways.
    pub way: u32,
    /// The script's own number for it.
    pub tag: u64,
    /// The whole request.
    pub request: Rc<[u8]>,
}

/// What a script wants next.
#[derive(Debug)]
pub enum Step {
    /// This call; one that is due later is made then.
    Ask(Ask),
    /// Nothing before this moment, or the next answer.
    Wait(Stamp),
    /// Nothing any more but the answers that are still to come.
    End,
}

/// Why a call has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    /// No connection.
    NotConnected(FaultKind),
    /// The connection ended before the answer did.
    Broken,
    /// It took too long, and the caller gave up.
    TooLate,
    /// What came is no HTTP.
    NoHttp,
}

/// What came of a call.
#[derive(Debug)]
pub struct Heard<'a> {
    /// The script's number for it.
    pub tag: u64,
    /// When it was due.
    pub due: Stamp,
    /// When the answer was here, or the caller gave up.
    pub at: Stamp,
    /// The answer.
    pub answer: Result<Answer<'a>, Unanswered>,
}

impl Heard<'_> {
    /// From the moment it was due, in microseconds.
    #[must_use]
    pub const fn took_us(&self) -> u64 {
        self.at.since(self.due)
    }

    /// The status; 0 without an answer.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.answer.as_ref().map_or(0, |answer| answer.status)
    }
}

/// Who decides what is called, and takes the answers.
pub trait Script {
    /// What comes next, as of `now`. Asked again after every call that it gave, after every answer and when its moment has come.
    fn next(&mut self, now: Stamp) -> Step;

    /// A call has come to its end.
    fn heard(&mut self, heard: &Heard<'_>);
}

/// The loop of calls.
#[derive(Debug)]
pub struct Calls {
    poll: Poll,
    events: Events,
    inbox: Inbox,
    ways: Vec<Way>,
    conns: Vec<Option<Conn>>,
    vacant: Vec<u32>,
    /// Unused connections by way, the newest last.
    idle: Vec<Vec<u32>>,
    /// When callers give up, in order; a call that has ended is passed by.
    limits: VecDeque<(Stamp, u32, u64)>,
    begun: u64,
    under_way: u32,
    give_up_ms: u64,
    /// From the moment a call was due to the moment it was made.
    pub lateness: Micros,
}

impl Calls {
    /// Calls by `ways`, whose callers give up after `give_up_ms` milliseconds.
    ///
    /// # Errors
    /// No poller.
    pub fn new(ways: Vec<Way>, give_up_ms: u64) -> Result<Self, EngineError> {
        Ok(Self {
            poll: Poll::new().map_err(EngineError::Poll)?,
            events: Events::with_capacity(EVENTS_MAX),
            inbox: Inbox::new(READ_BUFFER_BYTES),
            idle: ways.iter().map(|_| Vec::new()).collect(),
            ways,
            conns: Vec::new(),
            vacant: Vec::new(),
            limits: VecDeque::new(),
            begun: 0,
            under_way: 0,
            give_up_ms,
            lateness: Micros::default(),
        })
    }

    /// Reads of sockets that the kernel stamped, and those that it did not.
    #[must_use]
    pub const fn stamps(&self) -> (u64, u64) {
        (self.inbox.stamped, self.inbox.unstamped)
    }

    /// The ways.
    #[must_use]
    pub fn ways(&self) -> &[Way] {
        &self.ways
    }

    /// Makes the calls of `script` until it has no more and all are answered or given up.
    ///
    /// # Errors
    /// The poller failed, or somebody asked this process to stop.
    pub fn run(&mut self, script: &mut dyn Script) -> Result<(), EngineError> {
        loop {
            if signals::stop_requested() {
                return Err(EngineError::Stopped);
            }
            let next = self.begin_due(script);
            if next.is_none() && self.under_way == 0 {
                return Ok(());
            }
            let limit = self.limits.front().map(|&(at, ..)| at);
            let now = clock::now();
            let wake = [next, limit, Some(now.plus_ms(LOOK_MS))]
                .into_iter()
                .flatten()
                .min();
            let wait = wake.map_or(Duration::ZERO, |wake| wake.until(now));
            match self.poll.poll(&mut self.events, Some(wait)) {
                Ok(()) => {}
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(EngineError::Poll(e)),
            }
            self.inbox.look_at_clocks(clock::now());
            let events = std::mem::replace(&mut self.events, Events::with_capacity(0));
            for event in &events {
                self.serve(small(event.token().0), script);
            }
            self.events = events;
            self.give_up(script);
        }
    }

    /// Begins what is due; when the next one is, and none when there is no next one.
    fn begin_due(&mut self, script: &mut dyn Script) -> Option<Stamp> {
        for _one in 0..CALLS_AT_ONCE {
            let now = clock::now();
            match script.next(now) {
                Step::End => return None,
                Step::Wait(at) => return Some(at),
                Step::Ask(ask) => self.begin(ask, script),
            }
        }
        Some(clock::now())
    }

    fn begin(&mut self, ask: Ask, script: &mut dyn Script) {
        // The last moments before it is due are not worth another round of the poller.
        clock::pause_until(ask.due);
        let now = clock::now();
        self.lateness.record(now.since(ask.due));
        let number = match self.kept(ask.way, now) {
            Some(number) => number,
            None => match self.open(ask.way) {
                Ok(number) => number,
                Err(why) => {
                    let answer = Err(Unanswered::NotConnected(FaultKind::of_connect(&why)));
                    return script.heard(&Heard {
                        tag: ask.tag,
                        due: ask.due,
                        at: clock::now(),
                        answer,
                    });
                }
            },
        };
        self.begun += 1;
        self.under_way += 1;
        let call = self.begun;
        self.limits
            .push_back((now.plus_ms(self.give_up_ms), number, call));
        if let Some(conn) = self.conn_mut(number) {
            conn.begin(ask, call);
        }
        self.serve(number, script);
    }

    /// An unused connection that is still good. The newest first, so that what a burst has opened ends by itself.
    fn kept(&mut self, way: u32, now: Stamp) -> Option<u32> {
        while let Some(number) = self.idle.get_mut(index(way)).and_then(Vec::pop) {
            let is_fresh = self
                .conn_mut(number)
                .is_some_and(|conn| now.since(conn.idle_since) < IDLE_MS_MAX * 1_000);
            if is_fresh {
                return Some(number);
            }
            self.close(number);
        }
        None
    }

    fn open(&mut self, way: u32) -> std::io::Result<u32> {
        let way_to = self.ways.get(index(way)).ok_or(std::io::ErrorKind::NotFound)?;
        let mut conn = Conn::connect(way_to.target.address, way_to.from, way)?;
        let number = self.vacant.pop().unwrap_or_else(|| {
            self.conns.push(None);
            small(self.conns.len() - 1)
        });
        let interest = Interest::READABLE | Interest::WRITABLE;
        let token = Token(index(number));
        if let Err(why) = self.poll.registry().register(conn.stream_mut(), token, interest) {
            self.vacant.push(number);
            return Err(why);
        }
        if let Some(place) = self.conns.get_mut(index(number)) {
            *place = Some(conn);
        }
        Ok(number)
    }

    fn conn_mut(&mut self, number: u32) -> Option<&mut Conn> {
        self.conns.get_mut(index(number))?.as_mut()
    }

    fn close(&mut self, number: u32) {
        if let Some(place) = self.conns.get_mut(index(number))
            && place.take().is_some()
        {
            self.vacant.push(number);
        }
    }

    /// Goes on with a connection that may have become readable or writable.
    fn serve(&mut self, number: u32, script: &mut dyn Script) {
        let Self { conns, inbox, .. } = self;
        let Some(conn) = conns.get_mut(index(number)).and_then(Option::as_mut) else {
            return;
        };
        let is_busy = conn.is_busy();
        match conn.progress(inbox) {
            Progress::Waits => {}
            Progress::Answered { arrived, keep } => {
                self.under_way -= 1;
                let way = conn.way;
                conn.tell(arrived, script);
                if keep {
                    conn.idle_since = clock::now();
                    if let Some(idle) = self.idle.get_mut(index(way)) {
                        idle.push(number);
                    }
                } else {
                    self.close(number);
                }
            }
            Progress::Failed(why) => {
                if is_busy {
                    self.under_way -= 1;
                    conn.fail(clock::now(), why, script);
                } else {
                    // An unused one that its server has closed.
                    let way = conn.way;
                    if let Some(idle) = self.idle.get_mut(index(way)) {
                        idle.retain(|&other| other != number);
                    }
                }
                self.close(number);
            }
        }
    }

    /// Ends calls that have taken too long.
    fn give_up(&mut self, script: &mut dyn Script) {
        let now = clock::now();
        while let Some(&(at, number, call)) = self.limits.front() {
            let is_over = self.conn_mut(number).is_none_or(|conn| !conn.makes(call));
            if !is_over && at > now {
                return;
            }
            self.limits.pop_front();
            if is_over {
                continue;
            }
            self.under_way -= 1;
            if let Some(conn) = self.conn_mut(number) {
                conn.fail(now, Unanswered::TooLate, script);
            }
            self.close(number);
        }
    }
}

/// A request with a JSON body, or without one when `body` is empty; `more` are lines of its head.
#[must_use]
pub fn request(
    method: &str,
    path: &str,
    host: &str,
    token: Option<&str>,
    more: &str,
    body: &[u8],
) -> Rc<[u8]> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n");
    if let Some(token) = token {
        head.push_str(&format!("Authorization: Bearer {token}\r\n"));
    }
    head.push_str(more);
    if !body.is_empty() {
        head.push_str("Content-Type: application/json\r\n");
    }
    if !body.is_empty() || method == "POST" {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat().into()
}

/// A way to `target` from wherever the system likes.
#[must_use]
pub const fn way_to(target: Target) -> Way {
    Way { target, from: None }
}

/// A way to `target` from the address `from` of this machine.
#[must_use]
pub const fn way_from(target: Target, from: IpAddr) -> Way {
    Way {
        target,
        from: Some(from),
    }
}

#[cfg(test)]
mod tests;
