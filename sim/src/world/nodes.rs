//! Servers: their processes start, join, stand still, go on, stop in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use game_server::{ClaimId, Restoration, ServerId};

use super::World;
use crate::Millis;
use crate::api::SimApi;
use crate::chaos::{Party, Target};
use crate::coverage::Seen;
use crate::dice::Dice;
use crate::emission::Emissions;
use crate::oracle::Invariant;
use crate::process::{Process, Seat, Start};
use crate::queue::Event;

/// Pause of a supervisor before it starts a process again that could not read its store.
const SUPERVISOR_MS: Millis = 1_000;

/// A server: a name, and the process that runs under it or not.
pub(super) struct Node {
    pub(super) number: usize,
    pub(super) process: Option<Process>,
    /// Number of that process, or of the last one.
    pub(super) run: u64,
    /// It takes connections of clients.
    pub(super) is_listening: bool,
    /// Number of the pause in which it stands still.
    pub(super) pause: Option<u64>,
    /// Its machine is gone, so that nobody refuses connections.
    pub(super) is_silent: bool,
    /// The proxy knows of it.
    pub(super) is_announced: bool,
    /// Something has reached it that it has not had time for.
    pub(super) is_touched: bool,
    /// The process as its lease names it.
    pub(super) id: Option<ServerId>,
    /// Under which claim it has the game for certain, and since when.
    pub(super) holds: Option<(ClaimId, Millis)>,
    /// When something last hindered it: a pause, a stop, a start.
    pub(super) hindered_at: Millis,
    /// It is asked to stop; the time until the restart, if there is to be one.
    pub(super) stops: Option<Option<Millis>>,
    /// A process is going to start.
    pub(super) is_awaited: bool,
    step_ms: Arc<AtomicI64>,
}

impl Node {
    pub(super) fn new(number: usize) -> Self {
        Self {
            number,
            process: None,
            run: 0,
            is_listening: false,
            pause: None,
            is_silent: false,
            is_announced: false,
            is_touched: false,
            id: None,
            holds: None,
            hindered_at: 0,
            stops: None,
            is_awaited: false,
            step_ms: Arc::default(),
        }
    }

    /// Its process, unless it stands still.
    pub(super) fn running(&self) -> Option<&Process> {
        self.process.as_ref().filter(|_| self.pause.is_none())
    }

    /// The name that clients and other servers know.
    pub(super) fn name(number: usize) -> String {
        format!("game-{number}")
    }

    /// Where other servers reach it.
    pub(super) fn address(number: usize) -> String {
        format!("game-{number}:7000")
    }
}

impl World {
    pub(super) fn node(&self, server: usize) -> Option<&Node> {
        self.nodes.get(server)
    }

    pub(super) fn node_mut(&mut self, server: usize) -> Option<&mut Node> {
        self.nodes.get_mut(server)
    }

    /// Whether a process still is.
    pub(super) fn is_alive(&self, server: usize, run: u64) -> bool {
        self.node(server)
            .is_some_and(|node| node.process.is_some() && node.run == run)
    }

    /// Something has reached a server.
    pub(super) fn touch(&mut self, server: usize) {
        if let Some(node) = self.node_mut(server) {
            node.is_touched = true;
        }
    }

    /// The number of the process with this id, if it is alive.
    pub(super) fn run_of(&self, id: &ServerId) -> Option<&Node> {
        let mut alive = self.nodes.iter().filter(|node| node.process.is_some());
        alive.find(|node| node.id.as_ref() == Some(id))
    }

    /// The server that something is to happen to.
    pub(super) fn aimed_at(&self, target: Target) -> usize {
        match target {
            Target::Server(server) => server,
            Target::Owner => {
                let owner = self.store.kept(self.code).and_then(|kept| kept.owner.server);
                let owner = owner.and_then(|id| self.run_of(&id));
                let first = self.nodes.iter().find(|node| node.process.is_some());
                owner.or(first).map_or(0, |node| node.number)
            }
        }
    }

    pub(super) fn boot(&mut self, server: usize) {
        let is_alone = self.is_alone();
        let emissions = Emissions::default();
        let (log, leases) = self.store.views(server, emissions.clone());
        let run = self.runs + 1;
        let Some(node) = self.nodes.get_mut(server).filter(|node| node.process.is_none()) else {
            return;
        };
        self.runs = run;
        self.trace
            .line(self.now, format_args!("boot {} run {run}", Node::name(server)));
        let started = Process::start(Start {
            log,
            backoffice: Arc::new(SimApi {
                emissions: emissions.clone(),
                quiz: self.quiz.clone(),
                book: self.api.clone(),
            }),
            emissions,
            dice: Dice::new(self.seed, &format!("process {run}")),
            now: self.now,
            step_ms: Arc::clone(&node.step_ms),
            name: Node::name(server),
            seat: (!is_alone).then(|| Seat {
                leases,
                address: Node::address(server),
            }),
        });
        *node = Node {
            run,
            is_announced: node.is_announced,
            is_touched: true,
            hindered_at: self.now,
            step_ms: Arc::clone(&node.step_ms),
            ..Node::new(server)
        };
        match started {
            Ok(process) => node.process = Some(process),
            Err(error) => self
                .oracle
                .fail(Invariant::ClassEnds, format!("no process: {error}")),
        }
    }

    /// A server that is alone has taken up the games of its store.
    pub(super) fn ready(&mut self, server: usize, restored: Option<Restoration>) {
        self.trace.line(self.now, format_args!("ready {restored:?}"));
        match restored {
            None => {
                self.process_gone(server);
                self.boot_after(server, SUPERVISOR_MS);
            }
            Some(restoration) => {
                if let Some(node) = self.node_mut(server) {
                    node.is_listening = true;
                }
                for _ in 0..restoration.restored {
                    self.coverage.saw(Seen::Restore);
                }
                self.oracle.restored(restoration, &mut self.coverage);
            }
        }
    }

    /// A server has its first lease, and serves.
    pub(super) fn joined(&mut self, server: usize) {
        self.trace
            .line(self.now, format_args!("{} joined", Node::name(server)));
        if let Some(node) = self.node_mut(server) {
            node.is_listening = true;
            node.is_announced = true;
        }
    }

    pub(super) fn boot_after(&mut self, server: usize, delay_ms: Millis) {
        self.trouble(delay_ms);
        if let Some(node) = self.node_mut(server) {
            node.is_awaited = true;
        }
        self.queue.plan(self.now + delay_ms, Event::Boot { server });
    }

    /// A server that was not there before.
    pub(super) fn join(&mut self) {
        let new = self
            .nodes
            .iter()
            .position(|node| node.run == 0 && node.process.is_none());
        if let Some(server) = new {
            self.coverage.saw(Seen::Join);
            self.boot_after(server, 1);
        }
    }

    /// A process stands still: nothing of it runs, and its machine takes what reaches it.
    pub(super) fn stand_still(&mut self, server: usize, lasts_ms: Millis) {
        let (now, pause) = (self.now, self.pauses + 1);
        let Some(node) = self.nodes.get_mut(server).filter(|node| node.running().is_some()) else {
            return;
        };
        self.pauses = pause;
        node.pause = Some(pause);
        node.hindered_at = now + lasts_ms;
        let run = node.run;
        self.coverage.saw(Seen::Pause);
        self.oracle.stands_still(run);
        self.trouble(lasts_ms);
        self.queue
            .plan(now + lasts_ms, Event::Continues { server, pause });
    }

    pub(super) fn continues(&mut self, server: usize, pause: u64) {
        let now = self.now;
        let Some(node) = self
            .nodes
            .get_mut(server)
            .filter(|node| node.pause == Some(pause))
        else {
            return;
        };
        self.trace
            .line(now, format_args!("{} goes on", Node::name(server)));
        node.pause = None;
        if let Some(process) = &node.process {
            process.catch_up(now);
            node.is_touched = true;
        }
        let id = node.id.clone();
        let owner = self.store.kept(self.code).and_then(|kept| kept.owner.server);
        if id.is_some()
            && owner.is_some()
            && id != owner
            && self.node(server).is_some_and(|n| n.holds.is_some())
        {
            self.coverage.saw(Seen::Zombie);
        }
    }

    pub(super) fn step_clock(&mut self, server: usize, by_ms: i64) {
        if let Some(node) = self.node_mut(server) {
            node.step_ms.fetch_add(by_ms, Ordering::Relaxed);
            self.coverage.saw(Seen::ClockStep);
        }
    }

    /// A server is asked to stop in order.
    pub(super) fn ask_to_stop(
        &mut self,
        server: usize,
        drain_ms: Millis,
        hurry_ms: Option<Millis>,
        restart_ms: Option<Millis>,
    ) {
        let is_alone = self.is_alone();
        let restart_ms = self.restart_of(server, restart_ms);
        let now = self.now;
        let Some(node) = self.nodes.get_mut(server) else {
            return;
        };
        if !node.is_listening || node.stops.is_some() || node.pause.is_some() {
            return;
        }
        let Some(process) = &node.process else { return };
        process.stop(drain_ms);
        node.is_touched = true;
        node.stops = Some(restart_ms);
        node.hindered_at = now;
        // A server that is alone has nobody to drain to.
        node.is_listening = !is_alone;
        let run = node.run;
        self.coverage.saw(Seen::Stop);
        self.oracle.stopping(run);
        // What a stop may take beyond its deadline, and its restart.
        self.trouble(drain_ms + 20_000);
        if let Some(hurry_ms) = hurry_ms {
            self.queue.plan(now + hurry_ms, Event::Hurries { server, run });
        }
    }

    pub(super) fn hurries(&mut self, server: usize, run: u64) {
        if self.is_alive(server, run)
            && let Some(process) = self.node(server).and_then(Node::running)
        {
            process.hurry();
            self.touch(server);
        }
    }

    pub(super) fn stops_listening(&mut self, server: usize) {
        if let Some(node) = self.node_mut(server) {
            node.is_listening = false;
        }
    }

    pub(super) fn stopped(&mut self, server: usize) {
        self.trace
            .line(self.now, format_args!("{} stopped", Node::name(server)));
        let Some(restart_ms) = self.node(server).and_then(|node| node.stops) else {
            return;
        };
        self.process_gone(server);
        if let Some(restart_ms) = restart_ms {
            self.boot_after(server, restart_ms);
        }
    }

    /// Whether a server can reach the store again.
    pub(super) fn reaches_store(&mut self, server: usize) {
        if self.links.is_open(self.now, Party::Server(server), Party::Store) {
            self.store.is_back_for(server);
            self.touch(server);
        }
    }

    /// The time until a restart: one that leaves nobody becomes one that comes soon.
    pub(super) fn restart_of(&self, server: usize, restart_ms: Option<Millis>) -> Option<Millis> {
        let is_other_there = self.nodes.iter().any(|node| {
            node.number != server && (node.is_awaited || (node.process.is_some() && node.stops.is_none()))
        });
        restart_ms.or_else(|| (!is_other_there).then_some(1_000))
    }
}
