//! Commands in, effects out. Every handler validates all before it changes anything, so that a refusal changes nothing.

mod answer;
mod flow;
mod roster;

use crate::command::{Command, Effect, Millis, Reject};
use crate::game::{Game, Phase};

impl Game {
    /// Applies one command at one time and says what the shell has to do, in order.
    ///
    /// Time does not run backwards: a `now` below that of the last accepted command counts as that one.
    ///
    /// # Errors
    /// Why the command was refused; the game is as it was before, its time included.
    pub fn apply(&mut self, now: Millis, command: Command) -> Result<Vec<Effect>, Reject> {
        let now = now.max(self.clock);
        let effects = self.dispatch(now, command)?;
        self.clock = now;
        Ok(effects)
    }

    fn dispatch(&mut self, now: Millis, command: Command) -> Result<Vec<Effect>, Reject> {
        // A timer that fires late is nobody's fault, whatever has become of the game.
        if self.phase == Phase::Ended && !matches!(command, Command::DeadlineReached { .. }) {
            return Err(Reject::Ended);
        }
        match command {
            Command::Join { name } => self.join(now, &name),
            Command::Present { player } => self.present(player),
            Command::Absent { player } => self.absent(player),
            Command::Leave { player } => self.leave(player),
            Command::Rename { player, name } => self.rename(player, &name),
            Command::HostRename { player, name } => self.host_rename(player, &name),
            Command::Kick { player } => self.kick(player),
            Command::Lock { on } => Ok(self.lock(on)),
            Command::Start => self.start(now),
            Command::Answer {
                player,
                question,
                choices,
            } => self.answer(now, player, question, choices),
            Command::DeadlineReached { question } => Ok(self.deadline_reached(now, question)),
            Command::Close { question } => self.close_by_host(question, false),
            Command::Skip { question } => self.close_by_host(question, true),
            Command::Next { question } => self.next(now, question),
            Command::End => Ok(self.end()),
        }
    }
}
