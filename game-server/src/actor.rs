//! One task per game. It owns the game, takes messages in order, and never waits for a socket or a store.
//!
//! Every iteration: hand records to the log, then take whatever comes first of the log's answer, a timer, a message. What a
//! command did is shown through the [`pipeline`], so that clients see a change when it is in the journal.

mod batch;
mod effects;
mod hosts;
mod lifetime;
pub(crate) mod mailbox;
mod pipeline;
mod players;
mod seats;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use game_core::{Command, Effect, Game, Millis, QuestionIndex, Reject};
use protocol::error::ErrorCode;
use protocol::result::GameResult;
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep};

use crate::config::Config;
use crate::convert;
use crate::facts::Facts;
use crate::frames::player;
use crate::journal::{GameLog, Record, RecordNumber};
use crate::registry::{GamePermit, Registry};
use crate::results::ResultSaver;
use crate::session::outbox::Outbox;
use crate::tokens::Keys;
use batch::Batch;
use lifetime::Lifetime;
use mailbox::{GameHandle, MAILBOX_MAX, Message, Shown, ShownCell};
use pipeline::{Change, Delivery, Pipeline};
use seats::Seats;

pub(crate) use seats::bye_moved;

/// When there is nothing to wait for; an hour away, so that the timer wheel stays small.
const NO_TIMER: Duration = Duration::from_secs(60 * 60);
/// How long the journal may take to forget an ended game before the actor leaves it to the store's own expiry.
const FORGET_MAX: Duration = Duration::from_secs(5);

/// What every game of a process shares.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) config: Arc<Config>,
    pub(crate) keys: Arc<Keys>,
    pub(crate) log: Arc<dyn GameLog>,
    pub(crate) results: ResultSaver,
    pub(crate) registry: Arc<Registry>,
}

struct Actor {
    game: Game,
    facts: Facts,
    around: Surroundings,
    place: Arc<GamePermit>,
    started: Instant,
    seats: Seats,
    batch: Batch,
    pipeline: Pipeline,
    deadline: Option<(QuestionIndex, Millis)>,
    lifetime: Lifetime,
    /// A result, and the record that has to be saved before it may leave.
    result: Option<(RecordNumber, Box<GameResult>)>,
}

/// Why an actor ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// The game has ended and was shown long enough.
    Over,
    /// The process stops.
    Stopping,
}

/// Starts a game's task.
pub(crate) fn spawn(game: Game, facts: Facts, around: Surroundings, place: Arc<GamePermit>) -> GameHandle {
    let (sender, mailbox) = mpsc::channel(MAILBOX_MAX);
    let shown = Arc::new(ShownCell::new(shown_of(&game)));
    let handle = GameHandle::new(sender, Arc::clone(&shown), &facts);
    let deregister = Deregister {
        registry: Arc::clone(&around.registry),
        handle: handle.clone(),
    };
    let actor = Actor::new(game, facts, around, place, shown);
    tokio::spawn(async move {
        actor.run(mailbox).await;
        drop(deregister);
    });
    handle
}

/// Takes the game out of the registry when its task ends, a panic included.
struct Deregister {
    registry: Arc<Registry>,
    handle: GameHandle,
}

impl Drop for Deregister {
    fn drop(&mut self) {
        self.registry.remove(self.handle.code(), self.handle.game());
    }
}

impl Actor {
    fn new(
        game: Game,
        facts: Facts,
        around: Surroundings,
        place: Arc<GamePermit>,
        shown: Arc<ShownCell>,
    ) -> Self {
        let now = Instant::now();
        let log = Arc::clone(&around.log);
        Self {
            pipeline: Pipeline::new(log, facts.game, shown, around.config.saving_patience),
            game,
            facts,
            place,
            started: now,
            seats: Seats::default(),
            batch: Batch::new(now),
            deadline: None,
            lifetime: Lifetime::new(now),
            result: None,
            around,
        }
    }

    async fn run(mut self, mut mailbox: mpsc::Receiver<Message>) {
        let timer = tokio::time::sleep(NO_TIMER);
        tokio::pin!(timer);
        let exit = loop {
            let now = Instant::now();
            self.run_due(now);
            if self.lifetime.is_over(now, &self.around.config) {
                break Exit::Over;
            }
            self.pipeline.start_append(now);
            set_timer(timer.as_mut(), self.next_wake(now));
            tokio::select! {
                biased;
                answer = self.pipeline.appended() => {
                    let now = Instant::now();
                    let change = self.pipeline.settle(answer, now);
                    self.tell_change(change, now);
                }
                () = timer.as_mut() => {}
                message = mailbox.recv() => match message {
                    Some(Message::Stop) | None => break Exit::Stopping,
                    Some(message) => self.receive(message),
                },
            }
        };
        self.leave(exit).await;
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
            Message::Stop => {}
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
        let change = self.pipeline.check_patience(now);
        self.tell_change(change, now);
        for frame in self.batch.take_due(&self.game, now) {
            self.tell_hosts(&frame, now);
        }
        self.release_result();
    }

    fn next_wake(&self, now: Instant) -> Option<Instant> {
        let deadline = self
            .deadline
            .map(|(_, at)| self.started + Duration::from_millis(at));
        let wakes = [
            deadline,
            self.seats.next_away(),
            self.pipeline.next_wake(),
            self.batch.next_wake(),
            self.lifetime
                .next_wake(now, self.game.phase(), &self.around.config),
        ];
        wakes.into_iter().flatten().min()
    }

    /// Applies a command, records it if it changed anything, and returns what has to be shown.
    fn apply(&mut self, command: Command) -> Result<Vec<Effect>, Reject> {
        let at = self.millis(Instant::now());
        let effects = self.game.apply(at, command.clone())?;
        let is_news = |effect: &Effect| !matches!(effect, Effect::AnswerAccepted { new: false, .. });
        if effects.iter().any(is_news) {
            self.pipeline.record(Record { at, command });
        }
        Ok(effects)
    }

    /// Applies a command of the server's own and shows what it did. A refusal is nobody's business: the game moved on.
    fn command(&mut self, command: Command) {
        if let Ok(effects) = self.apply(command) {
            self.show(&effects);
        }
    }

    fn tell_change(&mut self, change: Change, now: Instant) {
        for (player, question) in change.saved_answers {
            if let Some(socket) = self.seats.player(player) {
                let frame = player::ack(question, true);
                self.pipeline.emit(
                    Delivery::Frame {
                        socket: Arc::clone(socket),
                        frame,
                    },
                    now,
                );
            }
        }
        if let Some(behind) = change.behind {
            self.tell_hosts(&crate::frames::host::saving(behind), now);
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

    /// The game's time, from its creation.
    fn millis(&self, now: Instant) -> Millis {
        Millis::try_from(now.saturating_duration_since(self.started).as_millis()).unwrap_or(Millis::MAX)
    }

    fn release_result(&mut self) {
        if let Some((_, result)) = self.result.take_if(|(after, _)| self.pipeline.is_saved(*after)) {
            self.around.results.save(*result, Arc::clone(&self.place));
        }
    }

    async fn leave(mut self, exit: Exit) {
        if let Some((_, result)) = self.result.take() {
            // Nobody else holds this game, so an unsaved end is better than none.
            self.around.results.save(*result, Arc::clone(&self.place));
        }
        match exit {
            Exit::Over => {
                let forgotten = self.around.log.remove(self.facts.game);
                if !matches!(tokio::time::timeout(FORGET_MAX, forgotten).await, Ok(Ok(()))) {
                    tracing::warn!(game = %self.facts.game, "the journal of an ended game was not removed");
                }
            }
            Exit::Stopping => {
                let flush = async {
                    while self.pipeline.is_appending() {
                        let answer = self.pipeline.appended().await;
                        let now = Instant::now();
                        let change = self.pipeline.settle(answer, now);
                        self.tell_change(change, now);
                        self.pipeline.start_append(now);
                    }
                };
                if tokio::time::timeout(FORGET_MAX, flush).await.is_err() {
                    tracing::warn!(game = %self.facts.game, "the last records of a game were not saved in time");
                }
            }
        }
        // Dropping the seats tells everybody who is left.
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
