//! The end of a round of games: everybody at the podium, every sequence verified, every report against the ledger.

use serde::Serialize;

use super::ScenarioError;
use super::school::{STEP_MS_MAX, School};
use crate::client::{Engine, Task};
use crate::measure::Reckoning;
use crate::report::{Console, Measured};
use crate::sys::{clock, count};

/// What became of games that have ended; rounds add up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Ending {
    /// Games played.
    pub games: u64,
    /// Players that were welcomed.
    pub joined: u64,
    /// Players planned for these games.
    pub players: u64,
    /// Classes in which not everybody saw the podium.
    pub without_podium: u64,
    /// Games whose result was not saved.
    pub without_report: u64,
    /// Phones whose head of the sequence is unverified.
    pub unverified: u64,
    /// Answers against the saved results.
    pub ledger: Reckoning,
}

impl Ending {
    /// Lets the games of `school` end, waiting at most `limit_ms` for the podium, and compares what they saved with what the phones
    /// were told. What was wrong, in words.
    ///
    /// # Errors
    /// The engine failed, or a call was refused.
    pub(super) fn add(
        &mut self,
        engine: &mut Engine,
        school: &mut School,
        limit_ms: u64,
        console: &mut Console,
    ) -> Result<Vec<String>, ScenarioError> {
        console.progress("playing on to the podium");
        self.without_podium += school.wait_for_podium(engine, limit_ms)?;
        let mut examples = school.explain_stuck(engine);
        self.unverified += school.ask_every_head(engine)?;
        self.joined += school.joined(engine);
        self.games += count(school.rooms.len());
        let planned = school.rooms.iter().map(|room| engine.world.plan.size(room.class));
        self.players += planned.map(u64::from).sum::<u64>();
        console.progress("fetching the reports");
        let step_ms = limit_ms.min(STEP_MS_MAX);
        let verdict = school.reckon(engine, step_ms)?;
        self.without_report += verdict.without_report;
        self.ledger.add(&verdict.reckoning);
        examples.extend(verdict.reckoning.examples);
        school.tell_hosts(engine, Task::Finish);
        engine.run_until(clock::now().plus_ms(step_ms), |e| {
            school.classes(e).all(|class| class.gone >= class.joined)
        })?;
        Ok(examples)
    }

    /// Enters it, and that all of it must be right.
    pub(super) fn enter(&self, measured: &mut Measured) {
        measured.count("games", self.games);
        measured.zero("players not joined", self.players.saturating_sub(self.joined));
        measured.zero("classes without a podium for everybody", self.without_podium);
        measured.zero("games without a report", self.without_report);
        measured.zero("phones whose head of the sequence is unverified", self.unverified);
        measured.ledger_must_hold(&self.ledger);
    }

    /// Sent, acked, refused, refused but saved; and what must not be.
    pub(super) fn cells(&self) -> [String; 2] {
        let ledger = &self.ledger;
        let wrong = ledger.wrong_choice + ledger.wrong_time + ledger.wrong_score + ledger.phantom;
        [
            format!(
                "{}/{}/{}/{}",
                ledger.sent, ledger.acked, ledger.refused, ledger.refused_but_saved
            ),
            format!("{}/{}/{wrong}/{}", ledger.lost, ledger.doubled, ledger.unsettled),
        ]
    }
}
