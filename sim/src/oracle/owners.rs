//! One owner at a time: who may write, who has to be silent, and who has to send its clients on.

use std::collections::{BTreeMap, BTreeSet};

use game_server::{ClaimId, Owner};
use serde_json::Value;

use super::invariant::Invariant;
use crate::Millis;
use crate::wire::LineId;

/// Time in which a server that has lost a game sends its clients on.
const CLOSES_MS: Millis = 500;
/// "Look for your game elsewhere."
const MOVED: u16 = 1012;

type Broken = (Invariant, String);

/// Who owns the game, and who did.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// The claim of each epoch, and the process that made it.
    epochs: BTreeMap<u32, (ClaimId, Option<u64>)>,
    /// The process that owns the game.
    owner: Option<u64>,
    /// The epoch that each open connection was told last.
    told: BTreeMap<LineId, u32>,
    /// Processes that know that they lost the game, since when.
    fenced: BTreeMap<u64, Millis>,
    stopping: BTreeSet<u64>,
}

impl Owners {
    /// The store has this owner record now.
    pub(super) fn stored(&mut self, owner: Option<&Owner>, run: Option<u64>) -> Result<(), Broken> {
        self.owner = run;
        let Some(owner) = owner.filter(|owner| owner.server.is_some()) else {
            return Ok(());
        };
        let before = self.epochs.entry(owner.epoch).or_insert((owner.claim, run));
        if before.0 != owner.claim {
            let detail = format!("epoch {} has two claims", owner.epoch);
            return Err((Invariant::OneOwnerAnEpoch, detail));
        }
        Ok(())
    }

    /// Whether a claim is one that the store has had.
    pub(super) fn knows(&self, claim: ClaimId) -> bool {
        self.epochs.values().any(|(known, _)| *known == claim)
    }

    /// Epochs may be given again: the store has forgotten them, and so has everybody alive.
    pub(super) fn forget_epochs(&mut self) {
        self.epochs.clear();
    }

    /// Whether a connection to a process is served by it, as the owner: what others are told is another one's word.
    pub(super) fn serves(&self, line: LineId, run: u64) -> bool {
        self.owner == Some(run) && self.is_own(line, run)
    }

    /// Whether the state that a connection was told is a process's own.
    fn is_own(&self, line: LineId, run: u64) -> bool {
        let epoch = self.told.get(&line).and_then(|epoch| self.epochs.get(epoch));
        epoch.is_some_and(|(_, by)| *by == Some(run))
    }

    /// A process says something.
    pub(super) fn judge(&mut self, line: LineId, frame: &Value, run: u64) -> Result<(), Broken> {
        let kind = frame["t"].as_str().unwrap_or_default();
        if kind == "welcome" || kind == "sync" {
            let epoch = frame["state"]["epoch"].as_u64();
            self.told.extend(
                epoch
                    .and_then(|epoch| epoch.try_into().ok())
                    .map(|epoch| (line, epoch)),
            );
        }
        let is_word = matches!(
            kind,
            "ack" | "question" | "result" | "reveal" | "over" | "sync" | "welcome"
        );
        if is_word && self.fenced.contains_key(&run) && self.is_own(line, run) {
            let detail = format!("run {run} lost the game, and says {frame}");
            return Err((Invariant::FencedIsSilent, detail));
        }
        Ok(())
    }

    /// A process closes a connection.
    pub(super) fn closes(&mut self, line: LineId, code: Option<u16>, run: u64) -> Result<(), Broken> {
        let judged = if self.fenced.contains_key(&run) && self.is_own(line, run) && code != Some(MOVED) {
            let detail = format!(
                "run {run} lost the game, and closes line {} with {code:?}",
                line.0
            );
            Err((Invariant::FencedIsSilent, detail))
        } else {
            Ok(())
        };
        self.line_over(line);
        judged
    }

    pub(super) fn line_over(&mut self, line: LineId) {
        self.told.remove(&line);
    }

    /// A process hears that the game is another one's.
    pub(super) fn fenced(&mut self, now: Millis, run: u64) {
        self.fenced.entry(run).or_insert(now);
    }

    /// A process hears that the game is its own.
    pub(super) fn claims(&mut self, run: u64) {
        self.fenced.remove(&run);
    }

    pub(super) fn stopping(&mut self, run: u64) {
        self.stopping.insert(run);
    }

    pub(super) fn is_stopping(&self, run: u64) -> bool {
        self.stopping.contains(&run)
    }

    /// It closes nothing while it stands still.
    pub(super) fn stands_still(&mut self, run: u64) {
        self.fenced.remove(&run);
    }

    pub(super) fn killed(&mut self, run: u64) {
        self.fenced.remove(&run);
        self.stopping.remove(&run);
    }

    /// Whoever lost the game has sent its clients on.
    pub(super) fn step(
        &self,
        now: Millis,
        is_out_of_reach: &dyn Fn(LineId, u64) -> bool,
    ) -> Result<(), Broken> {
        let late = self.fenced.iter().filter(|(_, since)| *since + CLOSES_MS < now);
        for (run, since) in late {
            let holds = |line: &LineId| self.is_own(*line, *run) && !is_out_of_reach(*line, *run);
            if let Some(line) = self.told.keys().find(|line| holds(line)) {
                let detail = format!(
                    "run {run} lost the game at {since} ms and holds line {} open",
                    line.0
                );
                return Err((Invariant::FencedIsSilent, detail));
            }
        }
        Ok(())
    }
}
