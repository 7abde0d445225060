//! How a game leaves this process: over, handed to another server, given back at a stop, or lost to somebody else.

use std::time::Duration;

use runtime::metrics::{self, Counter};
use tokio::time::Instant;

use super::{Actor, Exit, LEAVE_MAX};
use crate::journal::Written;

/// Pause before a game is given back again when the log did not take it.
const AGAIN: Duration = Duration::from_millis(100);

/// How giving a game back ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandedIn {
    /// It is nobody's.
    Yes,
    /// It is another server's.
    Fenced,
}

impl Actor {
    pub(super) async fn leave(mut self, exit: Exit) {
        let game = self.facts.game;
        let is_done = match exit {
            Exit::Over => {
                let forgotten = self.pipeline.forget_game();
                let forgotten = tokio::time::timeout(LEAVE_MAX, forgotten).await;
                forgotten.map(|answer| answer.is_ok())
            }
            Exit::Stopping => {
                self.pipeline.need_snapshot();
                let handed_in = tokio::time::timeout(LEAVE_MAX, self.hand_in()).await;
                handed_in.map(|_back_or_fenced| true)
            }
            Exit::HandedOver => {
                let handed_over = tokio::time::timeout(LEAVE_MAX, self.hand_over()).await;
                handed_over.map(|()| true)
            }
            Exit::Fenced => {
                tracing::warn!(%game, "another server has this game");
                Ok(true)
            }
        };
        if is_done != Ok(true) {
            // A game that has ended is removed by the next server that finds it; a live one is taken up by it.
            tracing::warn!(%game, ?exit, "the journal's store did not take the last of a game in time");
        }
        self.leave_result(exit, is_done == Ok(true));
        self.pipeline.abandon();
        // Dropping the seats tells everybody who is left.
    }

    /// A result that the API does not have yet is saved by whoever has the game next. Only one that nobody else knows is tried
    /// here for as long as the process lives.
    fn leave_result(&mut self, exit: Exit, is_done: bool) {
        let is_others = match exit {
            // Nothing was pending.
            Exit::Over => false,
            Exit::Fenced => true,
            Exit::Stopping | Exit::HandedOver => is_done && self.pipeline.outlives_server(),
        };
        if is_others && let Some(saving) = self.result_sent.take() {
            saving.leave_to_others();
        }
    }

    /// Whether the game may go over to another server now: nobody is answering, and the log has just taken a snapshot of everything.
    /// A class whose log does not answer goes on here, since it could go on nowhere else. At the deadline it must go.
    pub(super) fn may_go(&mut self, now: Instant) -> bool {
        let Some(at) = self.hand_over_at else {
            return false;
        };
        let is_quiet = self.game.deadline().is_none() && !self.pipeline.is_behind();
        let was_packing = std::mem::replace(&mut self.is_packing, is_quiet);
        if at <= now || (is_quiet && !was_packing) {
            self.pipeline.need_snapshot();
        }
        at <= now || (is_quiet && self.pipeline.is_kept())
    }

    /// Gives the game to another server, before clients are told to look for it.
    async fn hand_over(&mut self) {
        let handed_in = self.hand_in().await;
        // From now on whoever comes here is told to go there.
        self.around.registry.remove(self.facts.code, self.facts.game);
        if let Some(cluster) = &self.around.cluster
            && handed_in == HandedIn::Yes
        {
            metrics::inc(Counter::GamesHandedOverTotal);
            cluster.hand_over(self.facts.code).await;
        }
    }

    /// Saves everything and gives the game back, as often as it takes: a store that changes at this moment may lose what only this
    /// server has.
    pub(super) async fn hand_in(&mut self) -> HandedIn {
        loop {
            if !self.save_all().await {
                return HandedIn::Fenced;
            }
            match self.pipeline.give_back().await {
                // Fenced: an earlier attempt was done, and its answer lost; or another server has the game, which is as good.
                Ok(Written::Saved | Written::Fenced) => return HandedIn::Yes,
                Ok(Written::Missing | Written::Refused { .. }) => self.pipeline.is_lost(),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(game = %self.facts.game, error, "a game was not given back, trying again");
                }
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Saves everything; false when the game is another server's.
    async fn save_all(&mut self) -> bool {
        loop {
            let now = Instant::now();
            // It may have stood still, and another server have the game.
            self.mind_standing(now);
            let change = self.pipeline.check_patience(now);
            self.tell_change(change);
            self.start_write(now);
            if self.pipeline.is_kept() {
                break;
            }
            // A log that refused is asked again as long as there is time: nobody else has what it does not.
            let again_at = self.pipeline.next_wake().unwrap_or(now + LEAVE_MAX);
            tokio::select! {
                biased;
                answer = self.pipeline.answered() => {
                    self.mind_standing(Instant::now());
                    if !self.settle(answer) {
                        return false;
                    }
                },
                () = tokio::time::sleep_until(again_at) => {}
            }
        }
        if !self.pipeline.outlives_server() {
            self.release_result();
        }
        true
    }
}
