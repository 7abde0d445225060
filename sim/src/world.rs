//! One run: servers, their store, the API, the proxy and a class, and the loop that lets time go by.
//!
//! Time is in whole milliseconds. The loop runs every process up to the next event, or to the moment at which it sends something;
//! then the event happens, the processes that it reaches run until they have nothing left to do at that moment, and the oracle
//! judges. Several processes run in turns that are shorter than the way between any two of them.

mod clients;
mod faults;
mod kills;
mod ledger;
mod lines;
mod links;
mod nodes;
mod peers;
mod routing;
mod storage;

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::ids::GameCode;
use protocol::quiz::QuizDocument;
use protocol::result::GameResult;
use tokio::sync::oneshot;

use crate::Millis;
use crate::api::{ApiBook, Taken};
use crate::chaos::{self, Weather};
use crate::class::{self, Client, ClientId, Host, Phone};
use crate::coverage::{Coverage, Seen};
use crate::dice::Dice;
use crate::emission::{Dialled, Emission};
use crate::mutation::Mutation;
use crate::oracle::{Invariant, Oracle};
use crate::proxy::{Front, Proxy};
use crate::queue::{CallId, Event, Queue};
use crate::run::Play;
use crate::store::Store;
use crate::trace::Trace;
use crate::watch::Watch;
use crate::wire::{LineId, Port, WireId};
use kills::Armed;
use lines::Line;
use links::Links;
use nodes::Node;
use peers::Wire;
use storage::Flight;

/// A class that is not over by then is stuck: ten times what the longest one takes, faults and the five minutes included for
/// which an ended game is still shown.
const END_MS: Millis = 30 * 60 * 1_000;
/// The same among several servers, which show an ended game for 20 s.
const CLUSTER_END_MS: Millis = 10 * 60 * 1_000;
/// Longest turn of a process among others: less than [`peers::WAY_MS`], so that nothing reaches a process in its past.
const TURN_MS: Millis = 25;

/// Everything about one run.
pub(crate) struct World {
    pub(crate) now: Millis,
    pub(crate) trace: Trace,
    pub(crate) coverage: Coverage,
    pub(crate) oracle: Oracle,
    watch: Arc<Watch>,
    queue: Queue,
    seed: u64,
    mutation: Option<Mutation>,
    quiz: QuizDocument,
    code: GameCode,
    nodes: Vec<Node>,
    /// Processes so far.
    runs: u64,
    pauses: u64,
    links: Links,
    proxy: Proxy,
    /// Servers name wrong owners until then.
    wrong_hints_until: Millis,
    store: Store,
    weather: Weather,
    /// Troubles so far, so that the end of one does not end the next.
    troubles: u64,
    /// It keeps records longer than it must: those that a snapshot covers, and those that came twice.
    is_untidy: bool,
    calls: BTreeMap<CallId, Flight>,
    calls_made: u64,
    api: ApiBook,
    clients: Vec<Client>,
    lines: BTreeMap<LineId, Line>,
    lines_made: u64,
    /// The connection that each client has now.
    line_of: Vec<Option<LineId>>,
    /// Until when each client has no network.
    offline_until: Vec<Millis>,
    /// When each client heard of its game last.
    heard_at: Vec<Millis>,
    wires: BTreeMap<WireId, Wire>,
    wires_made: u64,
    /// Connections that nobody answers: their dialler gives up by itself.
    unanswered: Vec<(u64, Dialled)>,
    /// What is waited for before a kill.
    armed: Option<Armed>,
    kills: u64,
    /// A kill waits for the API to have the result.
    kill_at_result: Option<Armed>,
    /// A kill waits for everybody to be gone.
    kill_when_gone: bool,
    /// Everything that goes wrong is over by then.
    trouble_until: Millis,
    net: Dice,
    weather_dice: Dice,
    class_dice: Dice,
    fault_dice: Dice,
}

/// What a run is played on.
struct Stage {
    /// Servers to begin with.
    servers: usize,
    front: Front,
}

impl Stage {
    fn draw(seed: u64) -> Self {
        let mut dice = Dice::new(seed, "servers");
        let servers = match dice.weighted(&[25, 40, 35]) {
            0 => 1,
            1 => 2,
            _ => 3,
        };
        let front = match servers {
            1 => Front::None,
            _ if dice.chance(25) => Front::RoundRobin,
            _ => Front::Follows,
        };
        Self { servers, front }
    }
}

impl World {
    /// Sets the stage.
    pub(crate) fn new(play: Play, watch: Arc<Watch>) -> Self {
        let Play { seed, mutation, .. } = play;
        let stage = Stage::draw(seed);
        let is_alone = stage.front == Front::None;
        let mut dice = Dice::new(seed, "stage");
        let quiz = class::draw_quiz(&mut dice);
        let phones = usize::try_from(dice.between(3, 7)).unwrap_or(3);
        let mut clients = vec![Client::Host(Box::new(Host::new()))];
        clients.extend((1..=phones).map(|number| Client::Phone(Box::new(Phone::new(number)))));
        let is_untidy = dice.chance(30);
        // One more, who may join.
        let nodes = if is_alone { 1 } else { stage.servers + 1 };
        let mut world = Self {
            now: 0,
            trace: Trace::new(play.keep),
            coverage: Coverage::default(),
            oracle: Oracle::new(&quiz, is_untidy, !is_alone),
            watch,
            queue: Queue::default(),
            seed,
            mutation,
            code: draw_code(&mut dice),
            quiz,
            nodes: (0..nodes).map(Node::new).collect(),
            runs: 0,
            pauses: 0,
            links: Links::default(),
            proxy: Proxy::new(stage.front, mutation),
            wrong_hints_until: 0,
            store: Store::new(mutation, nodes),
            weather: Weather::Calm,
            troubles: 0,
            is_untidy,
            calls: BTreeMap::new(),
            calls_made: 0,
            api: ApiBook::default(),
            line_of: vec![None; clients.len()],
            offline_until: vec![0; clients.len()],
            heard_at: vec![0; clients.len()],
            clients,
            lines: BTreeMap::new(),
            lines_made: 0,
            wires: BTreeMap::new(),
            wires_made: 0,
            unanswered: Vec::new(),
            armed: None,
            kills: 0,
            kill_at_result: None,
            kill_when_gone: false,
            trouble_until: 0,
            net: Dice::new(seed, "net"),
            weather_dice: Dice::new(seed, "weather"),
            class_dice: Dice::new(seed, "class"),
            fault_dice: Dice::new(seed, "faults"),
        };
        world.plan(stage.servers, play.is_quiet);
        world
    }

    fn plan(&mut self, servers: usize, is_quiet: bool) {
        for server in 0..servers {
            // The first one is up at once; a class needs no more.
            let at = if server == 0 {
                0
            } else {
                self.fault_dice.between(0, 200)
            };
            self.queue.plan(at, Event::Boot { server });
        }
        self.queue.plan(10, Event::Arrive { client: ClientId(0) });
        if is_quiet {
            return;
        }
        let clients = self.clients.len();
        let faults = if self.is_alone() {
            chaos::draw(&mut self.fault_dice, clients)
        } else {
            chaos::draw_for_cluster(&mut self.fault_dice, clients, servers)
        };
        let mut dice = Dice::new(self.seed, "goes back");
        let going_back = chaos::draw_going_back(&mut dice, self.is_alone());
        for (at, fault) in faults.into_iter().chain(going_back) {
            self.queue.plan(at, Event::Fault(fault));
        }
    }

    /// Whether there is but one server, which has its store to itself.
    fn is_alone(&self) -> bool {
        self.proxy.front() == Front::None
    }

    /// Plays the run to its end, or to the first broken invariant.
    pub(crate) fn play(&mut self) {
        let end_ms = if self.is_alone() { END_MS } else { CLUSTER_END_MS };
        while self.oracle.broken().is_none() && !self.is_over() {
            self.watch.beat(self.now);
            self.turn(self.queue.next_due().unwrap_or(end_ms));
            if self.now >= end_ms {
                let waits = format!("clients {:?} have more to do", self.waiting());
                self.oracle.fail(Invariant::ClassEnds, waits);
                return;
            }
            self.pump();
            if self.oracle.broken().is_none() && self.queue.next_due().is_some_and(|due| due <= self.now) {
                if let Some(event) = self.queue.pop() {
                    self.happen(event);
                }
                self.pump();
            }
            self.judge();
        }
        if self.oracle.broken().is_none() {
            self.coverage.saw(Seen::ClassEnded);
            match self.proxy.front() {
                Front::None => {}
                Front::Follows => self.coverage.saw(Seen::BehindProxy),
                Front::RoundRobin => self.coverage.saw(Seen::BehindRoundRobin),
            }
            self.oracle.finish();
        }
    }

    /// Lets every process run, at most until `due`.
    fn turn(&mut self, due: Millis) {
        let running = self.nodes.iter().filter(|node| node.running().is_some()).count();
        let limit = if running > 1 {
            due.min(self.now + TURN_MS)
        } else {
            due
        };
        let mut reached = limit;
        let mut sent = Vec::new();
        for node in &mut self.nodes {
            let Some(process) = node.running() else {
                continue;
            };
            // It may be ahead, since others stopped to send something.
            let at = if process.clock() < limit {
                process.run_to(limit)
            } else {
                process.clock()
            };
            let emissions = process.take_emissions();
            reached = reached.min(at);
            if !emissions.is_empty() {
                sent.push((at, node.number, node.run, emissions));
                node.is_touched = true;
            }
        }
        self.now = self.now.max(reached);
        sent.sort_by_key(|(at, number, ..)| (*at, *number));
        for (at, server, run, emissions) in sent {
            self.take(server, run, at, emissions);
        }
    }

    /// Lets the processes that something has reached do what they can at this moment, and takes what they send.
    fn pump(&mut self) {
        while let Some(server) = self.nodes.iter().position(|node| node.is_touched) {
            let Some(node) = self.nodes.get_mut(server) else {
                return;
            };
            node.is_touched = false;
            let Some(process) = node.running() else {
                continue;
            };
            process.settle();
            let (at, run, emissions) = (process.clock(), node.run, process.take_emissions());
            if !emissions.is_empty() {
                node.is_touched = true;
                self.take(server, run, at, emissions);
            }
        }
    }

    /// Takes what a process has sent at `at`, which is later than now when it is ahead of others.
    fn take(&mut self, server: usize, run: u64, at: Millis, emissions: Vec<Emission>) {
        let now = self.now;
        self.now = at.max(now);
        for emission in emissions {
            // A kill in between: the rest was never sent.
            if !self.is_alive(server, run) {
                break;
            }
            match emission {
                Emission::Bytes { port, bytes } => match port {
                    Port::Client(line, attempt) => self.server_wrote(line, attempt, run, &bytes),
                    Port::Peer(wire, side) => self.peer_wrote(wire, side, bytes),
                },
                Emission::Hangup { port } => match port {
                    Port::Client(line, attempt) => self.server_hung_up(line, attempt),
                    Port::Peer(wire, side) => self.peer_hung_up(wire, side),
                },
                Emission::Dial { address, reply } => self.dials(server, &address, reply),
                Emission::Call(call) => self.called(server, call),
                Emission::Result { result, epoch, reply } => {
                    let at = self.now + self.net.between(1, 30);
                    self.queue.plan(
                        at,
                        Event::ApiDoes {
                            result,
                            epoch,
                            reply,
                            server,
                        },
                    );
                }
                Emission::Ready { restored } => self.ready(server, restored),
                Emission::Joined => self.joined(server),
                Emission::StopsListening => self.stops_listening(server),
                Emission::Stopped => self.stopped(server),
            }
        }
        self.now = now;
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive { client } => self.arrive(client),
            Event::Timer { client, timer } => self.news(client, class::News::Timer(timer)),
            Event::Connects { line } => self.connects(line),
            Event::Asks {
                line,
                attempt,
                server,
            } => self.asks(line, attempt, server),
            Event::AskFails { line, attempt, why } => self.ask_fails(line, attempt, why),
            Event::Told { line, attempt, heard } => self.told(line, attempt, heard),
            Event::Dials { from, run, to, reply } => self.dial_arrives(from, run, to, reply),
            Event::DialAnswered { run, end, reply } => self.dial_answered(run, end, reply),
            Event::PeerArrives { wire, side, bytes } => self.peer_arrives(wire, side, bytes),
            Event::PeerEnds { wire, side } => self.peer_ends(wire, side),
            Event::Arrives { line, bytes, answers } => self.arrives(line, bytes, answers),
            Event::Ends { line } => self.ends(line),
            Event::Hears { line, heard } => self.hears(line, heard),
            Event::HearsEnd { line } => self.hears_end(line),
            Event::StoreDoes { call } => self.store_does(call),
            Event::StoreAnswers { call, answer } => self.store_answers(call, answer),
            Event::ApiDoes {
                result,
                epoch,
                reply,
                server,
            } => self.api_does(&result, epoch, reply, server),
            Event::Fault(fault) => self.fault(fault),
            Event::Clears { trouble } => self.clears(trouble),
            Event::ApiBack => self.api.set_away(false),
            Event::Boot { server } => self.boot(server),
            Event::Continues { server, pause } => self.continues(server, pause),
            Event::Reaches { server } => self.reaches_store(server),
            Event::Hurries { server, run } => self.hurries(server, run),
            Event::KillAnyway { kill } => self.kill_anyway(kill),
        }
    }

    /// A result reaches the API.
    fn api_does(&mut self, result: &GameResult, epoch: u32, reply: oneshot::Sender<Taken>, server: usize) {
        let taken = self.api.take(epoch);
        self.trace
            .line(self.now, format_args!("api result of epoch {epoch}: {taken:?}"));
        match taken {
            Taken::Kept => {
                self.oracle.result(result, &mut self.coverage);
                self.result_kept(server);
            }
            Taken::Superseded => self.coverage.saw(Seen::ResultSuperseded),
            Taken::Away => {}
        }
        // An error means that its sender is dead.
        let _dead = reply.send(taken);
        self.touch(server);
    }

    /// Whether nothing more is to come.
    fn is_over(&self) -> bool {
        self.is_class_gone()
            && (self.oracle.is_lost()
                || self.oracle.is_left_behind()
                || (self.oracle.has_result() && self.store.kept(self.code).is_none()))
    }

    fn is_class_gone(&self) -> bool {
        self.clients.iter().all(Client::is_done)
    }

    /// For the report of a class that is stuck.
    fn waiting(&self) -> Vec<usize> {
        let open = self
            .clients
            .iter()
            .enumerate()
            .filter(|(_, client)| !client.is_done());
        open.map(|(index, _)| index).collect()
    }
}

fn draw_code(dice: &mut Dice) -> GameCode {
    GameCode::from_positions(std::array::from_fn(|_| {
        u8::try_from(dice.below(30)).unwrap_or_default()
    }))
}
