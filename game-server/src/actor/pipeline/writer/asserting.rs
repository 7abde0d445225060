//! A log that is reached anew. The same run of its store has what it had; another one may have lost records, or show an owner from
//! before this server's claim.
//!
//! Then nothing is written until the other servers have said what they hold. A holder with the highest epoch writes the whole game
//! again with a higher one, whatever the owner record says; only a claim that was made in the store's present run stops it.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use runtime::metrics::{self, Counter};
use tokio::time::{Instant, timeout};

use super::{Flight, Reply, Settled, Writer, encode};
use crate::backoffice::Reserved;
use crate::cluster::{Stand, Verdict};
use crate::journal::{Asserted, Birth, LogError, StoreId, StoreRun};
use crate::registry::Held;
use crate::stored::Snapshot;

/// Longest wait for the API's answer; it is asked again after a pause.
const RESERVE_MAX: Duration = Duration::from_secs(3);

impl Writer {
    /// Notices at once that the log is reached anew, also when the answer of a write comes first.
    pub(in crate::actor::pipeline) fn look(&mut self) {
        // An error means that the log is gone, or never away.
        if self.runs.has_changed().unwrap_or(false) {
            self.meet_run();
        }
    }

    /// Looks whether the log is reached as before.
    pub(super) fn meet_run(&mut self) {
        let run = self.runs.borrow_and_update().clone();
        self.is_well();
        if run.store == self.at.run.store {
            self.unverified = None;
            if run != self.at.run {
                self.bind(run);
                self.is_unsure = true;
            }
            return;
        }
        self.unverified = Some(run);
    }

    /// Whether the store changed, and the game was not written to it yet.
    pub(in crate::actor::pipeline) fn is_unverified(&self) -> bool {
        self.unverified.is_some()
    }

    /// The run of the store that has the game.
    pub(in crate::actor::pipeline) fn store(&self) -> &StoreId {
        &self.at.run.store
    }

    fn bind(&mut self, run: StoreRun) {
        if let Some(log) = self.at.log.bound(&run) {
            self.at.log = log;
        }
        self.at.run = run;
    }

    /// What the other servers say about the present run, when they have.
    pub(super) fn verdict(&self) -> Option<Arc<Verdict>> {
        let run = self.unverified.as_ref()?;
        match &self.at.verdicts {
            None => Some(Arc::new(Verdict::alone(run.store.clone()))),
            Some(verdicts) => {
                let verdict = verdicts.borrow();
                verdict
                    .as_ref()
                    .filter(|verdict| verdict.is_about(&run.store))
                    .cloned()
            }
        }
    }

    /// Asks for a higher epoch, once the owner record says that the game is still this server's.
    pub(in crate::actor::pipeline) fn outbid(&mut self, now: Instant) {
        self.is_outbid = true;
        self.is_unsure = true;
        self.doubted_at = Some(now);
    }

    fn stand(&self) -> Stand {
        let owner = &self.at.owner;
        let mine = Held {
            claim: owner.claim,
            epoch: owner.epoch,
        };
        match self.verdict() {
            Some(verdict) => verdict.stand(self.at.code, mine),
            // The store lost the game in its present run, which was verified.
            None => Stand::Owner { above: owner.epoch },
        }
    }

    /// Writes the game whole, or gives it up.
    pub(super) fn assertion(
        &self,
        state: Snapshot,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, LogError>> + Send>> {
        let run = self.unverified.clone().unwrap_or_else(|| self.at.run.clone());
        let log = self
            .at
            .log
            .bound(&run)
            .unwrap_or_else(|| Arc::clone(&self.at.log));
        let (code, backoffice) = (self.at.code, Arc::clone(&self.at.backoffice));
        let (facts, through, version) = (self.at.facts.clone(), self.last(), self.at.writes.get());
        let mut owner = self.at.owner.clone();
        let reserves = match self.stand() {
            Stand::Yields => return Box::pin(async move { Ok(Reply::Asserted(Asserted::Fenced, run)) }),
            Stand::Owner { above } if self.is_outbid => Some(above),
            Stand::Owner { above } => {
                owner.epoch = self.next_epoch.max(above.saturating_add(1));
                None
            }
            Stand::Presumed { above } => Some(above),
        };
        Box::pin(async move {
            if let Some(above) = reserves {
                let reserved = timeout(RESERVE_MAX, backoffice.reserve_epoch(owner.game, above))
                    .await
                    .map_err(|elapsed| LogError::NotDone(elapsed.into()))?
                    .map_err(|error| LogError::NotDone(error.into()))?;
                match reserved {
                    Reserved::Epoch(epoch) => owner.epoch = epoch,
                    Reserved::Over => return Ok(Reply::Over),
                }
            }
            let birth = Birth {
                owner,
                facts,
                snapshot: encode(state, version).await?,
                through,
            };
            let asserted = log.assert(code, birth).await?;
            Ok(Reply::Asserted(asserted, run))
        })
    }

    /// Takes the answer.
    pub(super) fn asserted(
        &mut self,
        flight: &Flight,
        asserted: Asserted,
        run: StoreRun,
        now: Instant,
    ) -> Settled {
        let game = self.at.owner.game;
        match asserted {
            Asserted::Yes(owner) => {
                tracing::warn!(%game, epoch = owner.epoch, store = %run.store, "the journal's store got a game again from its owner");
                metrics::inc(Counter::GamesRewrittenTotal);
                self.is_missing = false;
                // Heard again if this one was on its way before.
                self.is_outbid = false;
                self.at.owner = owner;
                self.bind(run);
                // As certain as a look at the owner record.
                if self.doubted_at.is_none_or(|at| flight.since >= at) {
                    self.is_unsure = false;
                }
                let settled = self.kept(flight, now);
                // Another one by now.
                self.meet_run();
                settled
            }
            Asserted::Fenced => Settled::Fenced,
            Asserted::Refused { last } => self.refused(flight.through, last),
        }
    }

    /// Somebody else has played the game to its end.
    pub(super) fn is_over(&self) -> Settled {
        tracing::error!(game = %self.at.owner.game, "the API has this game's result already; it ends here");
        Settled::Fenced
    }
}

#[cfg(test)]
mod tests;
