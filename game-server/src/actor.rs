//! One task per game. It owns the game, takes messages in order, and never waits for a socket or a store.
//!
//! Every iteration: hand records to the log, then take whatever comes first of the log's answer, a timer, a message. What a
//! command did is shown through the [`pipeline`], so that clients see a change when it is in the journal.

mod batch;
mod effects;
mod hosts;
mod leaving;
mod lifetime;
pub(crate) mod mailbox;
mod pipeline;
mod players;
mod seats;

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use futures_util::FutureExt;
use game_core::{Command, Effect, Game, Millis, Phase, QuestionIndex, Reject};
use protocol::error::ErrorCode;
use protocol::result::GameResult;
use runtime::metrics::{self, Counter};
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep};

use crate::ambient::Ambient;
use crate::cluster::Cluster;
use crate::config::Config;
use crate::convert;
use crate::facts::{FIRST_EPOCH, Facts};
use crate::frames::{has_podium, player};
use crate::journal::{Entry, Record, RecordNumber};
use crate::opening;
use crate::outcome;
use crate::registry::{GamePermit, Registry};
use crate::results::{Heard, ResultSaver, Saving};
use crate::server::Shared;
use crate::session::outbox::Outbox;
use crate::stored::{Restored, Snapshot};
use crate::timeline::Timeline;
use crate::tokens::Keys;
use batch::Batch;
use lifetime::Lifetime;
use mailbox::{GameHandle, MAILBOX_MAX, Message, Shown, ShownCell};
use pipeline::{Answer, Change, Delivery, Pipeline};
use seats::Seats;

pub use pipeline::JOURNAL_BYTES_MAX;
pub(crate) use pipeline::Ownership;
pub(crate) use seats::bye_moved;

/// When there is nothing to wait for; an hour away, so that the timer wheel stays small.
const NO_TIMER: Duration = Duration::from_secs(60 * 60);
/// How long a game that ends here waits for its log to take the last of it.
const LEAVE_MAX: Duration = Duration::from_secs(5);
/// Time between two records while a question is open: what a crash can give back to it beside the outage.
const TICK_MS: Millis = 1_000;

/// What every game of a process shares.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) config: Arc<Config>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) results: ResultSaver,
    pub(crate) registry: Arc<Registry>,
    /// None for a server that is alone, whose games nobody takes over.
    pub(crate) cluster: Option<Arc<Cluster>>,
    pub(crate) ambient: Ambient,
    /// The server itself, for a game that has to be taken up again.
    pub(crate) server: Weak<Shared>,
}

struct Actor {
    game: Game,
    facts: Facts,
    around: Surroundings,
    place: Arc<GamePermit>,
    started: Instant,
    /// The game's own time at `started`.
    started_at: Millis,
    /// Time of the last record.
    recorded_at: Millis,
    seats: Seats,
    batch: Batch,
    pipeline: Pipeline,
    deadline: Option<(QuestionIndex, Millis)>,
    lifetime: Lifetime,
    /// A result, and the record that has to be saved before it may leave.
    result: Option<(RecordNumber, Box<GameResult>)>,
    result_sent: Option<Saving>,
    result_stuck: bool,
    over_ms: Option<u64>,
    result_settled: bool,
    timeline: Timeline,
    /// Reasons to doubt that were looked at.
    doubts: u64,
    /// When the game goes over to another server at the latest, if it is to go.
    hand_over_at: Option<Instant>,
    /// It goes as soon as the log has everything.
    is_packing: bool,
    taken_up: TakenUp,
}

/// The game as this server got it.
#[derive(Debug, Clone, Copy)]
struct TakenUp {
    epoch: u32,
    /// The highest id of its players.
    players: u32,
}

/// Why an actor ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// The game has ended and was shown long enough.
    Over,
    /// The process stops.
    Stopping,
    /// The process is about to stop, and another server goes on with the game.
    HandedOver,
    /// Another server has the game.
    Fenced,
}

/// Starts a game's task, at its beginning or where a log had it.
pub(crate) fn spawn(
    restored: Restored,
    ownership: Ownership,
    around: Surroundings,
    place: Arc<GamePermit>,
) -> GameHandle {
    let (sender, mailbox) = mpsc::channel(MAILBOX_MAX);
    let shown = Arc::new(ShownCell::new(shown_of(&restored.game), ownership.owner.epoch));
    let handle = GameHandle::new(sender, Arc::clone(&shown), &restored.facts, ownership.owner.claim);
    let (registry, server) = (Arc::clone(&around.registry), around.server.clone());
    let actor = Actor::new(restored, ownership, around, place, shown);
    let (code, game) = (handle.code(), handle.game());
    tokio::spawn(async move {
        // Nothing of the game is used any more after a panic but what is in the log.
        if AssertUnwindSafe(actor.run(mailbox)).catch_unwind().await.is_ok() {
            registry.remove(code, game);
        } else {
            metrics::inc(Counter::GamesPanickedTotal);
            tracing::error!(%game, "a game's task panicked");
            let server = server.upgrade().filter(|server| !server.is_stopping());
            match server.and_then(|server| Some((registry.reopen(code, game)?, server))) {
                Some((opening, server)) => opening::revive(&server, opening, code, game).await,
                None => registry.remove(code, game),
            }
        }
    });
    handle
}

impl Actor {
    fn new(
        restored: Restored,
        ownership: Ownership,
        around: Surroundings,
        place: Arc<GamePermit>,
        shown: Arc<ShownCell>,
    ) -> Self {
        let now = Instant::now();
        let Restored {
            game,
            facts,
            at,
            over_ms,
            result_settled,
            timeline,
            last,
            torn,
            lost: _,
        } = restored;
        let patience = around.config.saving_patience;
        let mut actor = Self {
            pipeline: Pipeline::new(ownership, last, torn, shown, patience, around.ambient.clone()),
            started: now,
            started_at: at,
            recorded_at: at,
            seats: Seats::new(around.ambient.clone()),
            batch: Batch::new(now),
            deadline: None,
            lifetime: Lifetime::new(now, Duration::from_millis(at)),
            result: None,
            result_sent: None,
            result_stuck: false,
            over_ms,
            result_settled,
            timeline,
            doubts: around
                .cluster
                .as_ref()
                .map_or(0, |cluster| cluster.standing().doubts(now)),
            hand_over_at: None,
            is_packing: false,
            taken_up: TakenUp {
                epoch: facts.epoch,
                players: game.admitted_count(),
            },
            game,
            facts,
            place,
            around,
        };
        actor.take_up(now);
        actor
    }

    /// What a game that comes from a log has under way.
    fn take_up(&mut self, now: Instant) {
        if self.facts.epoch > FIRST_EPOCH {
            self.note_owner(now);
            // So that the next owner knows of this one; the first one is in the first snapshot.
            self.pipeline.want_snapshot(now);
        }
        if self.facts.is_rewound {
            // Whoever takes the game up next must know it, too.
            self.pipeline.need_snapshot();
        }
        let away_at = now + self.around.config.restored_grace;
        for player in self.game.players().filter(|player| player.present) {
            self.seats.expect(player.id, away_at);
        }
        match self.game.phase() {
            Phase::Question { index, deadline, .. } => self.deadline = Some((index, deadline)),
            Phase::Ended => self.lifetime.ended(now),
            Phase::Lobby | Phase::Results { .. } | Phase::Podium => {}
        }
        match self.over_ms {
            Some(ended_ms) if !self.result_settled => {
                let result = outcome::game_result(&self.game, &self.facts, ended_ms);
                self.result = Some((self.pipeline.last(), Box::new(result)));
            }
            // The journal was torn between the podium and the record that says so: without it nobody would save the result.
            None if has_podium(&self.game) => self.result_comes_due(now),
            Some(_) | None => {}
        }
    }

    async fn run(mut self, mut mailbox: mpsc::Receiver<Message>) {
        let timer = tokio::time::sleep(NO_TIMER);
        tokio::pin!(timer);
        let exit = loop {
            let now = Instant::now();
            self.mind_standing(now);
            self.run_due(now);
            if self.lifetime.is_over(now, &self.around.config) && !self.has_result_pending() {
                break Exit::Over;
            }
            if self.may_go(now) {
                break Exit::HandedOver;
            }
            self.start_write(now);
            set_timer(timer.as_mut(), self.next_wake(now));
            tokio::select! {
                biased;
                answer = self.pipeline.answered() => {
                    self.mind_standing(Instant::now());
                    if !self.settle(answer) {
                        break Exit::Fenced;
                    }
                }
                () = timer.as_mut() => {}
                heard = sent(&mut self.result_sent) => self.result_heard(heard),
                message = mailbox.recv() => match message {
                    Some(Message::Stop) | None => break Exit::Stopping,
                    Some(message) => {
                        self.mind_standing(Instant::now());
                        self.receive(message);
                    }
                },
            }
        };
        self.leave(exit).await;
    }

    /// Before anything is told: is there a new reason to doubt that the game is this server's?
    fn mind_standing(&mut self, now: Instant) {
        let Some(cluster) = &self.around.cluster else {
            return;
        };
        let standing = cluster.standing();
        let doubts = standing.doubts(now);
        if doubts > self.doubts {
            self.doubts = doubts;
            self.pipeline.doubt(now, standing.is_unproven());
        }
    }

    fn start_write(&mut self, now: Instant) {
        let at = self.millis(now);
        let (game, over_ms, result_settled) = (&self.game, self.over_ms, self.result_settled);
        let (is_rewound, timeline) = (self.facts.is_rewound, &self.timeline);
        self.pipeline.start_write(now, || Snapshot {
            at,
            state: game.export(),
            over_ms,
            result_settled,
            is_rewound,
            timeline: timeline.clone(),
        });
    }

    /// Takes the answer of a write; false when the game is somebody else's.
    fn settle(&mut self, answer: Answer) -> bool {
        let now = Instant::now();
        let change = self.pipeline.settle(answer, now);
        if self.facts.epoch != self.pipeline.epoch() {
            self.facts.epoch = self.pipeline.epoch();
            self.note_owner(now);
        }
        let is_ours = !change.is_fenced;
        self.tell_change(change);
        is_ours
    }

    fn receive(&mut self, message: Message) {
        match message {
            Message::Open { socket, want, reply } => {
                let seat = self.open(&socket, want);
                // A session that is gone already is told by nobody; free its seat.
                if let Err(Some(seat)) = reply.send(seat) {
                    self.gone(&socket, seat);
                }
            }
            Message::Player {
                socket,
                player,
                command,
            } => self.player_command(&socket, player, command),
            Message::Host { socket, command } => self.host_command(&socket, command),
            Message::Gone { socket, seat } => self.gone(&socket, seat),
            // Taken by the loop.
            Message::Doubt | Message::Stop => {}
            Message::HandOver(at) => self.hand_over_at = Some(at),
            // An error means that nobody waits for it any more.
            Message::Timeline(reply) => drop(reply.send(self.timeline.told(&self.facts))),
        }
    }

    /// Everything whose time has come.
    fn run_due(&mut self, now: Instant) {
        if let Some((question, at)) = self.deadline
            && at <= self.millis(now)
        {
            self.deadline = None;
            self.command(Command::DeadlineReached { question });
        }
        for player in self.seats.take_away(now) {
            self.command(Command::Absent { player });
        }
        self.check_lifetime(now);
        self.tick(now);
        let change = self.pipeline.check_patience(now);
        self.tell_change(change);
        for frame in self.batch.take_due(&self.game, now) {
            self.tell_hosts(&frame, now);
        }
        self.release_result();
    }

    fn next_wake(&self, now: Instant) -> Option<Instant> {
        let deadline = self.deadline.map(|(_, at)| self.instant(at));
        let tick = self
            .game
            .deadline()
            .map(|_| self.instant(self.recorded_at + TICK_MS));
        let wakes = [
            deadline,
            tick,
            self.seats.next_away(),
            self.pipeline.next_wake(),
            self.batch.next_wake(),
            self.lifetime
                .next_wake(now, self.game.phase(), &self.around.config),
            self.hand_over_at.filter(|at| *at > now),
        ];
        wakes.into_iter().flatten().min()
    }

    /// Applies a command, records it if it changed anything, and returns what has to be shown.
    fn apply(&mut self, command: Command) -> Result<Vec<Effect>, Reject> {
        let at = self.millis(Instant::now());
        let effects = self.game.apply(at, command.clone())?;
        let is_news = |effect: &Effect| !matches!(effect, Effect::AnswerAccepted { new: false, .. });
        if effects.iter().any(is_news) {
            self.record(at, Entry::Command(command));
        }
        self.timeline.follow(at, &effects);
        Ok(effects)
    }

    fn record(&mut self, at: Millis, entry: Entry) {
        self.recorded_at = at;
        self.pipeline.record(&Record { at, entry });
    }

    /// Lets the journal know that time goes by while a question is open.
    fn tick(&mut self, now: Instant) {
        let at = self.millis(now);
        if self.game.deadline().is_some() && self.recorded_at + TICK_MS <= at {
            self.record(at, Entry::Tick);
        }
    }

    /// Applies a command of the server's own and shows what it did. A refusal is nobody's business: the game moved on.
    fn command(&mut self, command: Command) {
        if let Ok(effects) = self.apply(command) {
            self.show(&effects);
        }
    }

    /// Past the pipeline: when it has a change to tell, it holds nothing back.
    fn tell_change(&mut self, change: Change) {
        for (player, question) in change.saved_answers {
            if let Some(socket) = self.seats.player(player) {
                socket.push(player::ack(question, true));
            }
        }
        if let Some(behind) = change.behind {
            self.timeline.saving(self.millis(Instant::now()), behind);
            let frame = crate::frames::host::saving(behind);
            for socket in self.seats.hosts() {
                socket.push(frame.clone());
            }
        }
    }

    fn tell_hosts(&mut self, frame: &Utf8Bytes, now: Instant) {
        for socket in self.seats.hosts() {
            self.pipeline.emit(
                Delivery::Frame {
                    socket: Arc::clone(socket),
                    frame: frame.clone(),
                },
                now,
            );
        }
    }

    fn tell_players(&mut self, frame: &Utf8Bytes, now: Instant) {
        for socket in self.seats.players() {
            self.pipeline.emit(
                Delivery::Frame {
                    socket: Arc::clone(socket),
                    frame: frame.clone(),
                },
                now,
            );
        }
    }

    fn tell_one(&mut self, socket: &Arc<Outbox>, frame: Utf8Bytes) {
        self.pipeline.emit(
            Delivery::Frame {
                socket: Arc::clone(socket),
                frame,
            },
            Instant::now(),
        );
    }

    fn close(&mut self, socket: &Arc<Outbox>, last: Option<Utf8Bytes>, code: u16) {
        let socket = Arc::clone(socket);
        self.pipeline
            .emit(Delivery::Close { socket, last, code }, Instant::now());
    }

    fn refuse(&mut self, socket: &Arc<Outbox>, reject: Reject, q: Option<u16>) {
        self.tell_one(socket, player::error(convert::reject_to_wire(reject), q, None));
    }

    fn refuse_with(&mut self, socket: &Arc<Outbox>, code: ErrorCode) {
        self.tell_one(socket, player::error(code, None, None));
    }

    /// This server has the game, under the present epoch.
    fn note_owner(&mut self, now: Instant) {
        let (at, unix_ms) = (self.millis(now), self.around.ambient.unix_ms());
        let server = &self.around.config.server_name;
        let (epoch, is_rewound) = (self.facts.epoch, self.facts.is_rewound);
        self.timeline.owned(at, unix_ms, server, epoch, is_rewound);
    }

    /// The game's own time.
    fn millis(&self, now: Instant) -> Millis {
        let since = now.saturating_duration_since(self.started).as_millis();
        self.started_at
            .saturating_add(Millis::try_from(since).unwrap_or(Millis::MAX))
    }

    /// When the game's own time is `at`; now at the earliest.
    fn instant(&self, at: Millis) -> Instant {
        self.started + Duration::from_millis(at.saturating_sub(self.started_at))
    }

    fn has_result_pending(&self) -> bool {
        self.result.is_some() || self.result_sent.is_some() || self.result_stuck
    }

    fn release_result(&mut self) {
        if let Some((_, result)) = self.result.take_if(|(after, _)| self.pipeline.is_certain(*after)) {
            let place = Arc::clone(&self.place);
            let timeline = self.timeline.told(&self.facts);
            let saving = self
                .around
                .results
                .save(*result, timeline, place, self.pipeline.shown());
            self.result_sent = Some(saving);
        }
    }

    fn result_heard(&mut self, heard: Heard) {
        match heard {
            Heard::Settled => self.result_settled(true),
            Heard::Died => self.result_settled(false),
            // Whoever reserved that epoch may have died before it got the game, or nobody would ever save this result.
            Heard::Superseded => self.pipeline.outbid(Instant::now()),
        }
    }

    /// The API has the result, so that nobody need save it again. When its saver died instead, the next start saves it.
    fn result_settled(&mut self, settled: bool) {
        self.result_sent = None;
        self.result_settled = settled;
        self.result_stuck = !settled;
        if settled {
            let at = self.millis(Instant::now());
            self.timeline.result_saved(at);
            self.record(at, Entry::ResultSettled);
        }
    }
}

/// Waits for a result's saver; for ever when none is on its way.
async fn sent(result: &mut Option<Saving>) -> Heard {
    match result {
        Some(saving) => saving.heard().await,
        None => std::future::pending().await,
    }
}

fn set_timer(timer: std::pin::Pin<&mut Sleep>, wake: Option<Instant>) {
    let wake = wake.unwrap_or_else(|| Instant::now() + NO_TIMER);
    if timer.deadline() != wake {
        timer.reset(wake);
    }
}

fn shown_of(game: &Game) -> Shown {
    Shown {
        seq: game.seq(),
        // At most game_core::limits::JOINS_MAX.
        players: u16::try_from(game.player_count()).unwrap_or(u16::MAX),
        phase: convert::phase_to_wire(game.phase()),
        locked: game.locked(),
    }
}

#[cfg(test)]
mod tests;
