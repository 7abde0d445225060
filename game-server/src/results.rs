//! Handing results to the API until it has them.
//!
//! A pending result keeps its game's place among `games_max`, so that results pile up only as far as games may: an API that is
//! away for long stops new games, it loses no finished one.

use std::sync::Arc;
use std::time::Duration;

use protocol::result::GameResult;
use runtime::metrics::{self, Alive, Counter, Gauge};
use tokio::sync::{oneshot, watch};

use crate::actor::mailbox::ShownCell;
use crate::ambient::Ambient;
use crate::backoffice::{Backoffice, BackofficeError};
use crate::registry::GamePermit;

/// Longest wait for one attempt.
const ATTEMPT_MAX: Duration = Duration::from_secs(30);
/// First and longest pause between attempts, in milliseconds; the pause doubles and is drawn between half and all of it.
const PAUSE_MS_FIRST: u32 = 500;
const PAUSE_MS_MAX: u32 = 60_000;

/// Saves results in the background. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ResultSaver {
    backoffice: Arc<dyn Backoffice>,
    ambient: Ambient,
    pending: watch::Sender<usize>,
}

impl ResultSaver {
    pub(crate) fn new(backoffice: Arc<dyn Backoffice>, ambient: Ambient) -> Self {
        Self {
            backoffice,
            ambient,
            pending: watch::Sender::new(0),
        }
    }

    /// Saves a result, however long it takes; `place` is its game's place and kept until then. The answer comes when it is
    /// saved, or refused for good. `epoch` shows the game's, which grows while a store that went back gets the game again.
    pub(crate) fn save(
        &self,
        result: GameResult,
        place: Arc<GamePermit>,
        epoch: Arc<ShownCell>,
    ) -> oneshot::Receiver<()> {
        let (settled, answer) = oneshot::channel();
        let saver = self.clone();
        saver.pending.send_modify(|n| *n += 1);
        let pending = Alive::new(Gauge::GameResultsPending);
        tokio::spawn(async move {
            saver.save_until_done(&result, &epoch).await;
            // An error means that the game is gone from this process.
            let _gone = settled.send(());
            drop((place, pending));
            saver.pending.send_modify(|n| *n -= 1);
        });
        answer
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

    async fn save_until_done(&self, result: &GameResult, epoch: &ShownCell) {
        let game = result.game;
        let mut pause_ms = PAUSE_MS_FIRST;
        loop {
            let saving = self.backoffice.save_result(result, epoch.epoch());
            match tokio::time::timeout(ATTEMPT_MAX, saving).await {
                Ok(Ok(())) => {
                    metrics::inc(Counter::GameResultsSavedTotal);
                    return;
                }
                Ok(Err(error @ (BackofficeError::Refused { .. } | BackofficeError::NotFound))) => {
                    tracing::error!(%game, %error, "the API refused a result for good");
                    metrics::inc(Counter::GameResultsRefusedTotal);
                    return;
                }
                // Superseded: the game is fenced soon, or gets a higher epoch.
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
            let pause = self.ambient.jitter_ms(pause_ms / 2, pause_ms);
            tokio::time::sleep(Duration::from_millis(u64::from(pause))).await;
            pause_ms = pause_ms.saturating_mul(2).min(PAUSE_MS_MAX);
        }
    }
}
