//! What the scenario `kill` may kill: the processes that hold games.

use nix::sys::signal::Signal;

use super::{LOOK_MS, START_MS_MAX, Service, Stack};
use crate::scenario::kill::Victims;
use crate::sys::{clock, index, small};

/// A Redis that keeps the games is made to wait for so long before every second kill. Servers wait for 100 ms before they tell a
/// class that something is not saved; within these an answer that is acked and not kept yet is there to be lost. An append
/// takes a fraction of a millisecond otherwise, which a kill out of the blue hardly ever meets.
const HOLD_MS: u64 = 80;
/// The kill strikes so long after the hold began.
const STRIKE_MS: u64 = 50;

impl Stack {
    /// The processes that hold games: game servers, or the one process that is everything.
    fn holders(&self) -> impl Iterator<Item = &Service> {
        let names: Vec<String> = self.games.iter().map(ToString::to_string).collect();
        self.services
            .iter()
            .filter(move |service| names.contains(&service.address()))
    }
}

impl Stack {
    /// Holds what keeps the games, where that can be held.
    fn hold_stores(&self) -> Result<(), String> {
        for service in &self.services {
            let held = service
                .hold_writes(HOLD_MS)
                .map_err(|why| format!("{} does not wait: {why}", service.name()))?;
            if held {
                clock::pause_ms(STRIKE_MS);
            }
        }
        Ok(())
    }
}

impl Victims for Stack {
    fn count(&self) -> u32 {
        small(self.holders().count())
    }

    fn kill(&mut self, victim: u32) -> Result<(), String> {
        let Some(service) = self.holders().nth(index(victim)) else {
            return Err(format!("there is no process {victim} to kill"));
        };
        let before = service.restarts().len();
        if before % 2 == 0 {
            self.hold_stores()?;
        }
        if !service.signal(Signal::SIGKILL) {
            return Err(format!("{} is not there to be killed", service.name()));
        }
        let limit = clock::now().plus_ms(START_MS_MAX);
        while service.restarts().len() == before || !service.is_ready() {
            if clock::now() >= limit {
                return Err(format!(
                    "{} did not come back after it was killed",
                    service.name()
                ));
            }
            clock::pause_ms(LOOK_MS);
        }
        Ok(())
    }
}
