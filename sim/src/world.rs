//! One run: a process, its store, its API and a class, and the loop that lets time go by.
//!
//! Time is in whole milliseconds. The loop runs the process up to the next event, or to the moment at which the process sends
//! something; then the event happens, the process runs until it has nothing left to do at that moment, and the oracle judges.

mod clients;
mod faults;
mod lines;
mod storage;

use std::collections::BTreeMap;
use std::sync::Arc;

use game_server::Restoration;
use protocol::ids::GameCode;
use protocol::quiz::QuizDocument;
use protocol::result::GameResult;
use tokio::sync::oneshot;

use crate::Millis;
use crate::api::SimApi;
use crate::chaos::{self, Weather, When};
use crate::class::{self, Client, ClientId, Host, Phone};
use crate::coverage::{Coverage, Seen};
use crate::dice::Dice;
use crate::emission::{Emission, Emissions};
use crate::oracle::{Invariant, Oracle};
use crate::process::{Process, Start};
use crate::queue::{CallId, Event, Queue};
use crate::run::Play;
use crate::store::Store;
use crate::trace::Trace;
use crate::watch::Watch;
use crate::wire::LineId;
use lines::Line;
use storage::Flight;

/// A class that is not over by then is stuck: ten times what the longest one takes, faults and the five minutes included for
/// which an ended game is still shown.
const END_MS: Millis = 30 * 60 * 1_000;
/// Pause of a supervisor before it starts a process again that could not read its store.
const SUPERVISOR_MS: Millis = 1_000;

/// Everything about one run.
pub(crate) struct World {
    pub(crate) now: Millis,
    pub(crate) trace: Trace,
    pub(crate) coverage: Coverage,
    pub(crate) oracle: Oracle,
    watch: Arc<Watch>,
    queue: Queue,
    seed: u64,
    quiz: QuizDocument,
    code: GameCode,
    /// The server, unless it is down.
    process: Option<Process>,
    /// Processes so far.
    incarnations: u64,
    /// It takes connections.
    is_listening: bool,
    store: Store,
    weather: Weather,
    /// Troubles so far, so that the end of one does not end the next.
    troubles: u64,
    /// It keeps records longer than it must: those that a snapshot covers, and those that came twice.
    is_untidy: bool,
    calls: BTreeMap<CallId, Flight>,
    calls_made: u64,
    is_api_away: bool,
    clients: Vec<Client>,
    lines: BTreeMap<LineId, Line>,
    lines_made: u64,
    /// The connection that each client has now.
    line_of: Vec<Option<LineId>>,
    /// What is waited for before a kill, its number, and the time until the restart.
    armed: Option<(When, u64, Millis)>,
    kills: u64,
    /// A kill waits for the API to have the result; the time until the restart.
    kill_at_result: Option<Millis>,
    /// A stop in order is under way; the time until the restart.
    restart_ms: Option<Millis>,
    net: Dice,
    weather_dice: Dice,
    class_dice: Dice,
    fault_dice: Dice,
}

impl World {
    /// Sets the stage.
    pub(crate) fn new(play: Play, watch: Arc<Watch>) -> Self {
        let Play {
            seed,
            mutation,
            is_quiet,
            keep,
        } = play;
        let mut dice = Dice::new(seed, "stage");
        let quiz = class::draw_quiz(&mut dice);
        let phones = usize::try_from(dice.between(3, 7)).unwrap_or(3);
        let mut clients = vec![Client::Host(Box::new(Host::new()))];
        clients.extend((1..=phones).map(|number| Client::Phone(Box::new(Phone::new(number)))));
        let mut queue = Queue::default();
        queue.plan(0, Event::Boot);
        queue.plan(10, Event::Arrive { client: ClientId(0) });
        let mut fault_dice = Dice::new(seed, "faults");
        if !is_quiet {
            for (at, fault) in chaos::draw(&mut fault_dice, clients.len()) {
                queue.plan(at, Event::Fault(fault));
            }
        }
        let is_untidy = dice.chance(30);
        Self {
            now: 0,
            trace: Trace::new(keep),
            coverage: Coverage::default(),
            oracle: Oracle::new(&quiz, is_untidy),
            watch,
            queue,
            seed,
            code: draw_code(&mut dice),
            quiz,
            process: None,
            incarnations: 0,
            is_listening: false,
            store: Store::new(mutation),
            weather: Weather::Calm,
            troubles: 0,
            is_untidy,
            calls: BTreeMap::new(),
            calls_made: 0,
            is_api_away: false,
            line_of: vec![None; clients.len()],
            clients,
            lines: BTreeMap::new(),
            lines_made: 0,
            armed: None,
            kills: 0,
            kill_at_result: None,
            restart_ms: None,
            net: Dice::new(seed, "net"),
            weather_dice: Dice::new(seed, "weather"),
            class_dice: Dice::new(seed, "class"),
            fault_dice,
        }
    }

    /// Plays the run to its end, or to the first broken invariant.
    pub(crate) fn play(&mut self) {
        while self.oracle.broken().is_none() && !self.is_over() {
            self.watch.beat(self.now);
            let limit = self.queue.next_due().unwrap_or(END_MS);
            let reached = match &self.process {
                Some(process) => process.run_to(limit),
                None => limit,
            };
            self.now = reached.max(self.now);
            if self.now >= END_MS {
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
            self.oracle.step(self.now);
        }
        if self.oracle.broken().is_none() {
            self.coverage.saw(Seen::ClassEnded);
            self.oracle.finish();
        }
    }

    /// Lets the process do what it can at this moment, and takes what it sends.
    fn pump(&mut self) {
        loop {
            let Some(process) = &self.process else {
                return;
            };
            process.settle();
            let emissions = process.take_emissions();
            if emissions.is_empty() {
                return;
            }
            self.take(emissions);
        }
    }

    fn take(&mut self, emissions: Vec<Emission>) {
        let incarnation = self.incarnations;
        for emission in emissions {
            // A kill in between: the rest was never sent.
            if self.process.is_none() || self.incarnations != incarnation {
                return;
            }
            match emission {
                Emission::Bytes { line, bytes } => self.server_wrote(line, &bytes),
                Emission::Hangup { line } => self.server_hung_up(line),
                Emission::Call(call) => self.called(call),
                Emission::Result { result, reply } => {
                    let at = self.now + self.net.between(1, 30);
                    self.queue.plan(at, Event::ApiDoes { result, reply });
                }
                Emission::Ready { restored } => self.ready(restored),
                Emission::Stopped => self.stopped(),
            }
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrive { client } => self.arrive(client),
            Event::Timer { client, timer } => self.news(client, class::News::Timer(timer)),
            Event::Connects { line, bytes } => self.connects(line, bytes),
            Event::Arrives { line, bytes, answers } => self.arrives(line, bytes, answers),
            Event::Ends { line } => self.ends(line),
            Event::Hears { line, heard } => self.hears(line, heard),
            Event::HearsEnd { line } => self.hears_end(line),
            Event::StoreDoes { call } => self.store_does(call),
            Event::StoreAnswers { call, answer } => self.store_answers(call, answer),
            Event::ApiDoes { result, reply } => self.api_does(&result, reply),
            Event::Fault(fault) => self.fault(fault),
            Event::Clears { trouble } => self.clears(trouble),
            Event::ApiBack => self.is_api_away = false,
            Event::Boot => self.boot(),
            Event::KillAnyway { kill } => self.kill_anyway(kill),
        }
    }

    /// A result reaches the API.
    fn api_does(&mut self, result: &GameResult, reply: oneshot::Sender<bool>) {
        self.trace
            .line(self.now, format_args!("api result away={}", self.is_api_away));
        if !self.is_api_away {
            self.oracle.result(result, &mut self.coverage);
            self.result_kept();
        }
        // An error means that its sender is dead.
        let _dead = reply.send(!self.is_api_away);
    }

    fn boot(&mut self) {
        self.incarnations += 1;
        self.trace
            .line(self.now, format_args!("boot {}", self.incarnations));
        let emissions = Emissions::default();
        let started = Process::start(Start {
            log: self.store.log(emissions.clone()),
            backoffice: Arc::new(SimApi {
                emissions: emissions.clone(),
                quiz: self.quiz.clone(),
            }),
            emissions,
            dice: Dice::new(self.seed, &format!("process {}", self.incarnations)),
            now: self.now,
        });
        match started {
            Ok(process) => self.process = Some(process),
            Err(error) => self
                .oracle
                .fail(Invariant::ClassEnds, format!("no runtime: {error}")),
        }
    }

    fn ready(&mut self, restored: Option<Restoration>) {
        self.trace.line(self.now, format_args!("ready {restored:?}"));
        match restored {
            None => {
                self.process_gone();
                self.queue.plan(self.now + SUPERVISOR_MS, Event::Boot);
            }
            Some(restoration) => {
                self.is_listening = true;
                for _ in 0..restoration.restored {
                    self.coverage.saw(Seen::Restore);
                }
                self.oracle.restored(restoration, &mut self.coverage);
            }
        }
    }

    /// Whether nothing more is to come.
    fn is_over(&self) -> bool {
        let is_played = self.clients.iter().all(Client::is_done);
        is_played
            && (self.oracle.is_lost() || (self.oracle.has_result() && self.store.kept(self.code).is_none()))
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
