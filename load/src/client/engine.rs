//! The loop that drives all sockets of a run on one thread.
//!
//! It owns the poller, the shared read buffer and the connections; what they say is decided by [`Player`] and [`Host`].
//! Messages of a socket are handled where they were read, so nothing queues between a socket and its player.

use std::io;
use std::time::Duration;

use mio::{Events, Interest, Poll, Token};
use thiserror::Error;

use super::host::Host;
use super::http::Target;
use super::link::{Link, LinkError, LinkEvent};
use super::pacer::{Due, Pacer, Task};
use super::player::Player;
use super::receive::Inbox;
use super::rhythm;
use super::targets::Targets;
use super::world::{Class, Door, Effects, NEVER_DONE_US, OnLoss, World};
use crate::measure::FaultKind;
use crate::plan::Plan;
use crate::sys::clock::{self, Stamp};
use crate::sys::{index, real, signals, small};

/// Read buffer shared by all sockets; a frame to a player has 300 bytes, a host's `sync` of 500 players 30 KB.
const READ_BUFFER_BYTES: usize = 64 * 1024;
/// Events taken from the poller at once.
const EVENTS_MAX: usize = 1_024;
/// The condition of [`Engine::run_until`] is looked at least this often, in milliseconds.
const LOOK_MS: u64 = 20;
/// Between so many events of sockets the schedule is looked at, so that nothing due waits behind a burst.
const EVENTS_BETWEEN_TASKS: u32 = 16;
/// Tasks taken up before sockets are looked at again, so that a thousand sockets opened at once do not keep what arrived
/// waiting.
const TASKS_AT_ONCE: u32 = 64;

/// Why a run cannot begin or go on.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The poller cannot be made or asked.
    #[error("poller failed")]
    Poll(#[source] io::Error),
    /// Somebody asked this process to stop.
    #[error("stopped on request")]
    Stopped,
}

/// Who is at a connection.
#[derive(Debug)]
pub enum Role {
    /// A student.
    Player(Player),
    /// A teacher. Boxed, because there is one for hundreds of students.
    Host(Box<Host>),
}

/// A connection, open or not.
#[derive(Debug)]
pub struct Conn {
    /// Who is at it.
    pub role: Role,
    link: Option<Link>,
    /// Reads nothing for now, as planned.
    frozen: bool,
}

/// The loop and everything it drives.
#[derive(Debug)]
pub struct Engine {
    /// What the clients share.
    pub world: World,
    conns: Vec<Conn>,
    targets: Targets,
    poll: Poll,
    events: Events,
    pacer: Pacer,
    inbox: Inbox,
    effects: Effects,
    /// When sockets were last looked at.
    looked_at: Stamp,
    /// There were more events than were taken.
    more_waits: bool,
}

impl Engine {
    /// An engine for `plan` against `targets`.
    ///
    /// # Errors
    /// No poller.
    pub fn new(plan: Plan, targets: Targets) -> Result<Self, EngineError> {
        let poll = Poll::new().map_err(EngineError::Poll)?;
        Ok(Self {
            world: World::new(plan),
            conns: Vec::new(),
            targets,
            poll,
            events: Events::with_capacity(EVENTS_MAX),
            pacer: Pacer::default(),
            inbox: Inbox::new(READ_BUFFER_BYTES),
            effects: Effects::default(),
            looked_at: Stamp::default(),
            more_waits: false,
        })
    }

    /// Adds the plan's next class, whose game has `code`; its index.
    pub fn add_class(&mut self, code: &str) -> u32 {
        let number = small(self.world.classes.len());
        self.add_class_as(number, code);
        number
    }

    /// Adds the class `number` of the plan, whose game has `code`. Classes before it that another process plays stand empty.
    pub fn add_class_as(&mut self, number: u32, code: &str) {
        let path = self.targets.game_path(&format!("/watch?g={code}"));
        let from = self.targets.source_of(number);
        let door = |target: &Target| Door::to(target, &path, from);
        let doors = self.targets.doors(code).map(door).collect();
        while self.world.classes.len() <= index(number) {
            let empty = Class::new(small(self.world.classes.len()), 0, Vec::new());
            self.world.classes.push(empty);
        }
        if let Some(class) = self.world.classes.get_mut(index(number)) {
            *class = Class::new(number, self.world.plan.questions, doors);
        }
    }

    /// Adds a host that connects at `at`; its connection.
    pub fn add_host(&mut self, class: u32, token: String, at: Stamp) -> u32 {
        self.add(Role::Host(Box::new(Host::new(class, token))), at)
    }

    /// Adds a player that connects at `at`; its connection.
    pub fn add_player(&mut self, class: u32, student: u32, at: Stamp) -> u32 {
        self.add(Role::Player(Player::new(class, student, at)), at)
    }

    fn add(&mut self, role: Role, at: Stamp) -> u32 {
        let conn = small(self.conns.len());
        self.conns.push(Conn {
            role,
            link: None,
            frozen: false,
        });
        self.schedule(Due {
            at,
            conn,
            task: Task::Connect,
        });
        conn
    }

    /// Schedules a task.
    pub fn schedule(&mut self, due: Due) {
        self.effects.due.push(due);
        self.pacer.schedule(&mut self.effects.due);
    }

    /// All connections, in the order of adding.
    #[must_use]
    pub fn conns(&self) -> &[Conn] {
        &self.conns
    }

    /// Whether whoever is at a connection was told anything since `moment`, or on a socket opened after the blow; or is not here.
    #[must_use]
    pub fn has_heard_since(&self, conn: u32, moment: Stamp) -> bool {
        let struck_at = self.world.struck_at.unwrap_or(moment);
        self.conns.get(index(conn)).is_none_or(|conn| match &conn.role {
            Role::Player(player) => !player.is_here() || player.has_heard_since(moment, struck_at),
            Role::Host(host) => !host.is_here() || host.has_heard_since(moment, struck_at),
        })
    }

    /// All players, in the order of adding.
    pub fn players(&self) -> impl Iterator<Item = &Player> {
        self.conns.iter().filter_map(|conn| match &conn.role {
            Role::Player(player) => Some(player),
            Role::Host(_) => None,
        })
    }

    /// The host at a connection; none when a player is there.
    #[must_use]
    pub fn host(&self, conn: u32) -> Option<&Host> {
        match &self.conns.get(index(conn))?.role {
            Role::Host(host) => Some(host),
            Role::Player(_) => None,
        }
    }

    /// The player at a connection; none when a host is there.
    #[must_use]
    pub fn player(&self, conn: u32) -> Option<&Player> {
        match &self.conns.get(index(conn))?.role {
            Role::Player(player) => Some(player),
            Role::Host(_) => None,
        }
    }

    /// The share of reads whose arrival the kernel stamped, from 0 to 1; for the others the harness's clock stood in.
    #[must_use]
    pub fn stamped_share(&self) -> f64 {
        let Inbox {
            stamped, unstamped, ..
        } = &self.inbox;
        real(*stamped) / real((stamped + unstamped).max(1))
    }

    /// Reads whose arrival the kernel stamped, and reads that it did not stamp.
    #[must_use]
    pub const fn stamps(&self) -> (u64, u64) {
        (self.inbox.stamped, self.inbox.unstamped)
    }

    /// What was planned and never done, so far: answers that the harness was too late for, and tasks of long ago that are not
    /// taken up.
    #[must_use]
    pub fn never_done(&self) -> u64 {
        let long_ago = Stamp(self.looked_at.0.saturating_sub(NEVER_DONE_US));
        self.world.tally.never_done + self.pacer.overdue(long_ago)
    }

    /// Forgets everybody at `first` and the connections after it, and the classes of which they are all the members.
    pub fn forget_from(&mut self, first: u32) {
        for conn in self.conns.drain(index(first).min(self.conns.len())..) {
            self.world.opening -= u32::from(conn.link.as_ref().is_some_and(Link::is_opening));
            if let Some(class) = self.world.class_mut(conn.role.class()) {
                *class = Class::new(class.number, 0, Vec::new());
            }
        }
        self.pacer.forget_from(first);
    }

    /// Sockets that are open, or being opened.
    #[must_use]
    pub fn open_sockets(&self) -> usize {
        self.conns.iter().filter(|conn| conn.link.is_some()).count()
    }

    /// Runs until `done` says so, at most until `limit`; whether it did.
    ///
    /// # Errors
    /// The poller failed, or somebody asked this process to stop.
    pub fn run_until(
        &mut self,
        limit: Stamp,
        mut done: impl FnMut(&Self) -> bool,
    ) -> Result<bool, EngineError> {
        loop {
            if done(self) {
                return Ok(true);
            }
            if signals::stop_requested() {
                return Err(EngineError::Stopped);
            }
            let now = clock::now();
            if now >= limit {
                return Ok(false);
            }
            // One look serves at most one round of the poller, or many within LOOK_MS.
            let look_at = limit.min(now.plus_ms(LOOK_MS));
            while clock::now() < look_at {
                self.turn(look_at)?;
            }
        }
    }

    /// One round: waits until it is time to look, at most until `limit`, and serves what is there and what is due.
    fn turn(&mut self, limit: Stamp) -> Result<(), EngineError> {
        self.pacer.schedule(&mut self.effects.due);
        if !self.more_waits {
            let is_opening = self.world.opening > 0;
            let look_at = rhythm::look_at(self.looked_at, self.pacer.next_at(), is_opening).min(limit);
            clock::pause_until(look_at);
        }
        match self.poll.poll(&mut self.events, Some(Duration::ZERO)) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(e) => return Err(EngineError::Poll(e)),
        }
        self.effects.looked_before = std::mem::replace(&mut self.looked_at, clock::now());
        self.more_waits = self.events.iter().count() >= EVENTS_MAX;
        let unix_s = self.inbox.look_at_clocks(self.looked_at);
        self.world.tally.at_second(unix_s);
        let events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        let mut served = 0;
        for event in &events {
            self.serve(event);
            served += 1;
            if served % EVENTS_BETWEEN_TASKS == 0 {
                self.take_up_tasks();
            }
        }
        self.events = events;
        self.take_up_tasks();
        Ok(())
    }

    fn take_up_tasks(&mut self) {
        self.pacer.schedule(&mut self.effects.due);
        let mut now = clock::now();
        for _one in 0..TASKS_AT_ONCE {
            let Some(due) = self.pacer.pop_due(now) else { break };
            let late_us = now.since(due.at);
            self.world.tally.lateness.record(late_us);
            match due.task {
                Task::Connect => self.connect(due.conn, late_us),
                Task::Drop { for_ms } => self.drop_link(now, due.conn, for_ms),
                Task::Freeze { for_ms } => self.freeze(now, due.conn, for_ms),
                Task::Thaw => self.thaw(due.conn),
                Task::Answer { .. }
                | Task::TapAgain { .. }
                | Task::Ping
                | Task::Listen
                | Task::Start
                | Task::Close { .. }
                | Task::Next { .. }
                | Task::End
                | Task::Finish => self.act(now, due),
            }
            now = clock::now();
        }
        self.pacer.schedule(&mut self.effects.due);
    }

    /// A socket that its own client drops, as a reload or a lost network does. Without a farewell.
    fn drop_link(&mut self, now: Stamp, number: u32, for_ms: u32) {
        let Some(conn) = self.conns.get_mut(index(number)) else {
            return;
        };
        let Some(link) = conn.link.take() else { return };
        self.world.opening -= u32::from(link.is_opening());
        conn.frozen = false;
        self.effects.conn = number;
        match &mut conn.role {
            Role::Player(player) => player.on_dropped(now, &mut self.world),
            Role::Host(host) => host.on_dropped(now, &mut self.world),
        }
        self.effects
            .schedule(now.plus_ms(u64::from(for_ms)), Task::Connect);
    }

    fn freeze(&mut self, now: Stamp, number: u32, for_ms: u32) {
        if let Some(conn) = self.conns.get_mut(index(number)) {
            conn.frozen = conn.link.is_some();
            self.effects.conn = number;
            self.effects.schedule(now.plus_ms(u64::from(for_ms)), Task::Thaw);
        }
    }

    /// Reads what came while nothing was read; the poller tells of it only once.
    fn thaw(&mut self, number: u32) {
        let Some(conn) = self.conns.get_mut(index(number)) else {
            return;
        };
        if std::mem::take(&mut conn.frozen) {
            // To the end of what there is: an end of the stream would not be told of again.
            self.read(index(number), true, true);
        }
    }

    /// Opens a socket, `late_us` after it was due.
    fn connect(&mut self, number: u32, late_us: u64) {
        let Some(conn) = self.conns.get_mut(index(number)) else {
            return;
        };
        let Some(door) = conn.door(&self.world).filter(|_| conn.link.is_none()) else {
            return;
        };
        if let Role::Player(player) = &mut conn.role {
            player.on_connecting(late_us);
        }
        let opened = Link::connect(door).and_then(|mut link| {
            let interest = Interest::READABLE | Interest::WRITABLE;
            let token = Token(index(number));
            self.poll
                .registry()
                .register(link.stream_mut(), token, interest)
                .map_err(LinkError::Connect)?;
            Ok(link)
        });
        // On one machine the connection stands by now, and the request can leave without waiting to be told so.
        let opened = opened.and_then(|mut link| {
            link.begin(&door.request)?;
            Ok(link)
        });
        match opened {
            Ok(link) => {
                conn.link = Some(link);
                self.world.opening += 1;
            }
            Err(error) => {
                self.effects.conn = number;
                conn.gone(&error, &mut self.world, &mut self.effects);
            }
        }
    }

    fn act(&mut self, now: Stamp, due: Due) {
        let Some(conn) = self.conns.get_mut(index(due.conn)) else {
            return;
        };
        self.effects.conn = due.conn;
        // Who is cut off is told all the same: a host remembers what it wants to click.
        match &mut conn.role {
            Role::Player(player) => player.on_due(now, due, &mut self.world, &mut self.effects),
            Role::Host(host) => host.on_due(now, due, &mut self.world, &mut self.effects),
        }
        conn.flush(&mut self.world, &mut self.effects);
        if std::mem::take(&mut self.effects.give_up) {
            conn.give_up(now, &mut self.world, &mut self.effects);
        }
    }

    fn serve(&mut self, event: &mio::event::Event) {
        let number = event.token().0;
        let Self {
            conns,
            world,
            effects,
            ..
        } = self;
        let Some(conn) = conns.get_mut(number) else { return };
        let Some(link) = conn.link.as_mut() else { return };
        if event.is_writable() {
            let class = world.classes.get(index(conn.role.class()));
            let door = class.and_then(|class| class.door(conn.role.door()));
            let request = door.map_or(&[][..], |door| &door.request);
            if let Err(error) = link.on_writable(request) {
                effects.conn = small(number);
                return conn.gone(&error, world, effects);
            }
        }
        let readable = event.is_readable() || event.is_read_closed() || event.is_error();
        if readable && !conn.frozen {
            self.read(number, event.is_read_closed(), false);
        }
    }

    /// Reads what a socket has. What comes `late`, after a time in which nothing was read, says nothing of the servers' speed.
    fn read(&mut self, number: usize, to_end: bool, late: bool) {
        let Self {
            conns,
            world,
            inbox,
            effects,
            ..
        } = self;
        let Some(conn) = conns.get_mut(number) else { return };
        let Some(link) = conn.link.as_mut() else { return };
        effects.conn = small(number);
        world.reading_late = late;
        let role = &mut conn.role;
        let was_opening = link.is_opening();
        let outcome = link.on_readable(inbox, to_end, |arrived, event| {
            if !late {
                world.tally.handling.record(clock::now().since(arrived));
            }
            role.on_event(arrived, &event, world, effects);
        });
        world.reading_late = false;
        world.opening -= u32::from(was_opening && !link.is_opening());
        let received = std::mem::take(&mut link.received_bytes);
        if let (Role::Player(_), Some(class)) = (&conn.role, world.classes.get_mut(index(conn.role.class())))
        {
            class.traffic.wire_bytes += received;
        }
        match outcome {
            Ok(()) => conn.flush(world, effects),
            Err(error) => {
                effects.frames.clear();
                effects.hang_up = false;
                conn.gone(&error, world, effects);
            }
        }
    }

    /// From now on the end of a socket means `on_loss`.
    pub fn on_loss(&mut self, on_loss: OnLoss) {
        self.world.on_loss = on_loss;
    }

    /// Where the servers are.
    #[must_use]
    pub const fn targets(&self) -> &Targets {
        &self.targets
    }
}

impl Role {
    const fn class(&self) -> u32 {
        match self {
            Self::Player(player) => player.class(),
            Self::Host(host) => host.class(),
        }
    }

    fn door(&self) -> u32 {
        match self {
            Self::Player(player) => player.door(),
            Self::Host(host) => host.door(),
        }
    }

    fn on_event(&mut self, now: Stamp, event: &LinkEvent<'_>, world: &mut World, effects: &mut Effects) {
        match (self, event) {
            (Self::Player(player), LinkEvent::Open) => {
                player.on_open(now, clock::now().since(now), world, effects);
            }
            (Self::Player(player), LinkEvent::Message(m)) => player.on_message(now, m, world, effects),
            (Self::Host(host), LinkEvent::Open) => host.on_open(now, world, effects),
            (Self::Host(host), LinkEvent::Message(m)) => host.on_message(now, m, world, effects),
        }
    }
}

impl Conn {
    /// Where it connects to next, or is connected to.
    fn door<'w>(&self, world: &'w World) -> Option<&'w Door> {
        world.class(self.role.class())?.door(self.role.door())
    }

    /// Drops a socket that was silent for too long; without a farewell, which nobody would take.
    fn give_up(&mut self, now: Stamp, world: &mut World, effects: &mut Effects) {
        let Some(link) = self.link.take() else { return };
        world.opening -= u32::from(link.is_opening());
        self.frozen = false;
        match &mut self.role {
            Role::Player(player) => player.on_silence(now, world, effects),
            Role::Host(host) => host.on_silence(now, world, effects),
        }
    }

    /// Whether a player of `class` is here with an open socket.
    #[must_use]
    pub fn is_open_player_of(&self, class: u32) -> bool {
        self.link.is_some() && matches!(&self.role, Role::Player(player) if player.class() == class)
    }

    /// Whether whoever is here was let in on the socket that is open.
    #[must_use]
    pub fn is_here(&self) -> bool {
        match &self.role {
            Role::Player(player) => player.is_here(),
            Role::Host(host) => host.is_here(),
        }
    }

    fn flush(&mut self, world: &mut World, effects: &mut Effects) {
        if effects.frames.is_empty() {
            return;
        }
        // As with a page: what is said while no socket is open is not sent, and what matters of it is said again after `welcome`.
        let open = self.link.as_mut().filter(|link| !link.is_opening());
        let outcome = open.map_or(Ok(()), |link| link.write(&effects.frames));
        effects.frames.clear();
        let hangs_up = std::mem::take(&mut effects.hang_up);
        match outcome {
            Err(error) => self.gone(&error, world, effects),
            Ok(()) if hangs_up => self.gone(&LinkError::Ended, world, effects),
            Ok(()) => {}
        }
    }

    fn gone(&mut self, error: &LinkError, world: &mut World, effects: &mut Effects) {
        let was_opening = self.link.take().is_some_and(|link| link.is_opening());
        world.opening -= u32::from(was_opening);
        self.frozen = false;
        let kind = match error {
            LinkError::Connect(why) => FaultKind::of_connect(why),
            LinkError::Refused(_) | LinkError::Handshake(_) => FaultKind::Handshake,
            LinkError::Broken(_) | LinkError::Ended | LinkError::Stuck => FaultKind::Lost,
            LinkError::Codec(_) => FaultKind::Framing,
        };
        if let (LinkError::Refused(status), Some(class)) = (error, world.class_mut(self.role.class())) {
            class.last_refusal = *status;
        }
        let why = match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        let since = match error {
            // The end of a stream has no stamp. It came after the last look, and nobody shall seem back sooner than they were.
            LinkError::Broken(_) | LinkError::Ended => effects.looked_before,
            LinkError::Connect(_) | LinkError::Refused(_) | LinkError::Handshake(_) => clock::now(),
            LinkError::Codec(_) | LinkError::Stuck => clock::now(),
        };
        match &mut self.role {
            Role::Player(player) => player.on_gone(since, kind, &why, world, effects),
            Role::Host(host) => host.on_gone(since, kind, &why, world, effects),
        }
    }
}
