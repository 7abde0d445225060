//! How a game leaves this process: over, handed to another server, given back at a stop, or lost to somebody else.

use runtime::metrics::{self, Counter};
use tokio::time::Instant;

use super::{Actor, Exit, LEAVE_MAX};

impl Actor {
    pub(super) async fn leave(mut self, exit: Exit) {
        let game = self.facts.game;
        let is_done = match exit {
            Exit::Over => {
                let forgotten = self.pipeline.forget_game();
                let forgotten = tokio::time::timeout(LEAVE_MAX, forgotten).await;
                forgotten.map(|answer| answer.is_ok())
            }
            Exit::Stopping => tokio::time::timeout(LEAVE_MAX, self.hand_in()).await,
            Exit::HandedOver => tokio::time::timeout(LEAVE_MAX, self.hand_over()).await,
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

    /// Whether the game may go over to another server now: nobody is answering, and everything can be saved. At the deadline it
    /// must.
    pub(super) fn may_go(&self, now: Instant) -> bool {
        let is_quiet = self.game.deadline().is_none() && !self.pipeline.is_behind();
        self.hand_over_at.is_some_and(|at| is_quiet || at <= now)
    }

    /// Gives the game to another server, before clients are told to look for it.
    async fn hand_over(&mut self) -> bool {
        let is_given_back = self.hand_in().await;
        // From now on whoever comes here is told to go there.
        self.around.registry.remove(self.facts.code, self.facts.game);
        if let Some(cluster) = &self.around.cluster
            && is_given_back
        {
            metrics::inc(Counter::GamesHandedOverTotal);
            cluster.hand_over(self.facts.code).await;
        }
        is_given_back
    }

    /// Saves everything and gives the game back.
    pub(super) async fn hand_in(&mut self) -> bool {
        self.pipeline.need_snapshot();
        loop {
            let now = Instant::now();
            // It may have stood still, and another server have the game.
            self.mind_standing(now);
            let change = self.pipeline.check_patience(now);
            self.tell_change(change);
            self.start_write(now);
            // A store that changed is waited for until it may be written to.
            let is_busy = self.pipeline.is_writing() || self.pipeline.is_unverified();
            if self.pipeline.is_settled() && !is_busy {
                break;
            }
            // A log that refused is asked again as long as there is time: nobody else has what it does not.
            let again_at = self.pipeline.next_wake().unwrap_or(now + LEAVE_MAX);
            tokio::select! {
                biased;
                answer = self.pipeline.answered() => {
                    self.mind_standing(Instant::now());
                    if !self.settle(answer) {
                        return true;
                    }
                },
                () = tokio::time::sleep_until(again_at) => {}
            }
        }
        if !self.pipeline.outlives_server() {
            self.release_result();
        }
        self.pipeline.give_back().await.is_ok()
    }
}
