//! What the scenario `kill` may kill: the processes that hold games.

use nix::sys::signal::Signal;

use super::{LOOK_MS, START_MS_MAX, Service, Stack};
use crate::scenario::kill::Victims;
use crate::sys::{clock, index, small};

impl Stack {
    /// The processes that hold games: game servers, or the one process that is everything.
    fn holders(&self) -> impl Iterator<Item = &Service> {
        let names: Vec<String> = self.games.iter().map(ToString::to_string).collect();
        self.services
            .iter()
            .filter(move |service| names.contains(&service.address()))
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
