//! Handing results to the API until it has them.
//!
//! A pending result keeps its game's place among `games_max`, so that results pile up only as far as games may: an API that is
//! away for long stops new games, it loses no finished one. What makes a result outlive this process is the game's log, which
//! keeps the game until its result is settled ([`crate::actor`]); here is only the trying.

use std::sync::Arc;
use std::time::Duration;

use protocol::result::GameResult;
use protocol::timeline::{GameTimeline, Happened, TimelineEvent};
use runtime::metrics::{self, Alive, Counter, Gauge};
use tokio::sync::{Notify, Semaphore, SemaphorePermit, oneshot, watch};

use crate::actor::mailbox::ShownCell;
use crate::ambient::Ambient;
use crate::backoffice::{Backoffice, BackofficeError};
use crate::registry::GamePermit;

/// Longest wait for one attempt.
const ATTEMPT_MAX: Duration = Duration::from_secs(30);
/// First and longest pause between attempts, in milliseconds; the pause doubles and is drawn between half and all of it.
const PAUSE_MS_FIRST: u32 = 500;
const PAUSE_MS_MAX: u32 = 10_000;
/// Attempts to save a game's timeline once its result is saved: a class's report is more than worth it, and nobody waits for this.
const TIMELINE_ATTEMPTS: u32 = 3;
/// Pause of everybody after an attempt at an API that is away, in milliseconds, drawn between half and all of it: a thousand
/// results that wait ask about once a second, and all go within seconds once one of them got through.
const AWAY_PAUSE_MS: u32 = 1_000;

/// Saves results in the background. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ResultSaver {
    backoffice: Arc<dyn Backoffice>,
    ambient: Ambient,
    pending: watch::Sender<usize>,
    door: Arc<Door>,
}

/// What all savers know about the API.
struct Door {
    /// The last attempt of all came to nothing.
    is_away: watch::Sender<bool>,
    /// Who may ask while that is so.
    turn: Semaphore,
}

/// A result on its way.
pub(crate) struct Saving {
    settled: oneshot::Receiver<()>,
    superseded: Arc<Notify>,
    left: Arc<Notify>,
}

/// What is heard of a result on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The API has it, or refused it for good.
    Settled,
    /// Somebody has reserved a higher epoch than its game's: the game needs one above that, if it is still this server's.
    Superseded,
    /// Its saver died.
    Died,
}

/// What a saver shares with its result's game.
struct Way {
    epoch: Arc<ShownCell>,
    is_superseded: Arc<Notify>,
    is_left: Arc<Notify>,
}

/// How the attempts at a result ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// The API has it.
    Saved,
    /// The API will never take it.
    Refused,
    /// Others make them.
    Left,
}

/// Counts a result for as long as it is on its way, however that ends.
struct Pending {
    count: watch::Sender<usize>,
    _place: Arc<GamePermit>,
    _counted: Alive,
}

impl Pending {
    fn new(count: watch::Sender<usize>, place: Arc<GamePermit>) -> Self {
        count.send_modify(|n| *n += 1);
        Self {
            count,
            _place: place,
            _counted: Alive::new(Gauge::GameResultsPending),
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.count.send_modify(|n| *n -= 1);
    }
}

impl Saving {
    /// Waits for news.
    pub(crate) async fn heard(&mut self) -> Heard {
        tokio::select! {
            biased;
            settled = &mut self.settled => settled.map_or(Heard::Died, |()| Heard::Settled),
            () = self.superseded.notified() => Heard::Superseded,
        }
    }

    /// Makes no attempt after the one that is under way: whoever takes the game up next makes them. That both may save it harms
    /// nobody.
    pub(crate) fn leave_to_others(self) {
        self.left.notify_one();
    }
}

impl Door {
    fn new() -> Self {
        Self {
            is_away: watch::Sender::new(false),
            turn: Semaphore::new(1),
        }
    }

    /// Waits until one may ask: at once while the API answers, in turn while it does not.
    async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        let mut is_away = self.is_away.subscribe();
        tokio::select! {
            biased;
            // An error of either means that the door is gone, and `self` is it.
            _open = is_away.wait_for(|away| !away) => None,
            turn = self.turn.acquire() => turn.ok(),
        }
    }

    /// The API answered, or did not.
    fn heard(&self, is_away: bool) {
        self.is_away
            .send_if_modified(|before| std::mem::replace(before, is_away) != is_away);
    }
}

impl ResultSaver {
    pub(crate) fn new(backoffice: Arc<dyn Backoffice>, ambient: Ambient) -> Self {
        Self {
            backoffice,
            ambient,
            pending: watch::Sender::new(0),
            door: Arc::new(Door::new()),
        }
    }

    /// Saves a result, however long it takes; `place` is its game's place and kept until then. Goes on when the answer is dropped. `epoch`
    /// shows the game's, which grows when a store that went back gets the game again.
    pub(crate) fn save(
        &self,
        result: GameResult,
        mut timeline: GameTimeline,
        place: Arc<GamePermit>,
        epoch: Arc<ShownCell>,
    ) -> Saving {
        let (settled, answer) = oneshot::channel();
        let (left, superseded) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let way = Way {
            epoch,
            is_superseded: Arc::clone(&superseded),
            is_left: Arc::clone(&left),
        };
        let saver = self.clone();
        let pending = Pending::new(self.pending.clone(), place);
        tokio::spawn(async move {
            let ended = saver.save_until_done(&result, &way).await;
            if ended == Ended::Saved {
                saver.save_timeline(&mut timeline).await;
            }
            if ended != Ended::Left {
                // An error means that the game is gone from this process.
                let _gone = settled.send(());
            }
            drop(pending);
        });
        Saving {
            settled: answer,
            superseded,
            left,
        }
    }

    /// Results not saved yet.
    pub(crate) fn pending(&self) -> usize {
        *self.pending.borrow()
    }

    /// Waits until no result is pending.
    pub(crate) async fn settled(&self) {
        // An error means that the sender is gone, and `self` holds one.
        let mut pending = self.pending.subscribe();
        let _settled = pending.wait_for(|n| *n == 0).await;
    }

    async fn save_until_done(&self, result: &GameResult, way: &Way) -> Ended {
        let mut pause_ms = PAUSE_MS_FIRST;
        loop {
            let turn = tokio::select! {
                biased;
                () = way.is_left.notified() => return Ended::Left,
                turn = self.door.enter() => turn,
            };
            if let Some(ended) = self.attempt(result, way, pause_ms).await {
                return ended;
            }
            let pauses = async {
                if turn.is_some() {
                    self.pause(AWAY_PAUSE_MS).await;
                }
                drop(turn);
                self.pause(pause_ms).await;
            };
            tokio::select! {
                biased;
                () = way.is_left.notified() => return Ended::Left,
                () = pauses => {}
            }
            pause_ms = pause_ms.saturating_mul(2).min(PAUSE_MS_MAX);
        }
    }

    async fn pause(&self, pause_ms: u32) {
        let pause_ms = self.ambient.jitter_ms(pause_ms / 2, pause_ms);
        tokio::time::sleep(Duration::from_millis(u64::from(pause_ms))).await;
    }

    /// Tries once; none when it is to be tried again.
    async fn attempt(&self, result: &GameResult, way: &Way, pause_ms: u32) -> Option<Ended> {
        let game = result.game;
        let saving = self.backoffice.save_result(result, way.epoch.epoch());
        let said = tokio::time::timeout(ATTEMPT_MAX, saving).await;
        if matches!(said, Ok(Err(BackofficeError::Superseded))) {
            way.is_superseded.notify_one();
        }
        self.door.heard(match &said {
            Ok(
                Ok(())
                | Err(
                    BackofficeError::Refused { .. } | BackofficeError::NotFound | BackofficeError::Superseded,
                ),
            ) => false,
            Ok(Err(BackofficeError::Unavailable(_) | BackofficeError::TooMany { .. })) | Err(_) => true,
        });
        match said {
            Ok(Ok(())) => {
                metrics::inc(Counter::GameResultsSavedTotal);
                return Some(Ended::Saved);
            }
            Ok(Err(error @ (BackofficeError::Refused { .. } | BackofficeError::NotFound))) => {
                tracing::error!(%game, %error, "the API refused a result for good");
                metrics::inc(Counter::GameResultsRefusedTotal);
                return Some(Ended::Refused);
            }
            // Superseded: the game hears of it, and gets a higher epoch or is another server's.
            Ok(Err(
                error @ (BackofficeError::Unavailable(_)
                | BackofficeError::TooMany { .. }
                | BackofficeError::Superseded),
            )) => {
                tracing::warn!(%game, error = &error as &dyn std::error::Error, pause_ms, "result not saved yet");
            }
            Err(_elapsed) => tracing::warn!(%game, pause_ms, "result not saved yet: no answer in time"),
        }
        metrics::inc(Counter::GameResultSavesFailedTotal);
        None
    }

    async fn save_timeline(&self, timeline: &mut GameTimeline) {
        timeline.events.push(TimelineEvent {
            at_ms: self.ambient.unix_ms(),
            what: Happened::ResultSaved,
        });
        for _attempt in 0..TIMELINE_ATTEMPTS {
            match tokio::time::timeout(ATTEMPT_MAX, self.backoffice.save_timeline(timeline)).await {
                Ok(Ok(())) => return,
                Ok(Err(error)) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(game = %timeline.game, error, "a game's timeline was not saved");
                }
                Err(_elapsed) => {
                    tracing::warn!(game = %timeline.game, "a game's timeline was not saved in time");
                }
            }
            self.pause(AWAY_PAUSE_MS).await;
        }
    }
}

#[cfg(test)]
mod tests;
