//! One game server more, and one less, while classes play: as an autoscaler does it.

use nix::sys::signal::Signal;
use serde::Deserialize;

use super::commands;
use super::victims::wait_until;
use super::{START_MS_MAX, Service, Stack, StackError};
use crate::client::{Http, Target};
use crate::scenario::scale::Fleet;
use crate::sys::clock;

/// A server that leaves waits for its classes at most this long, in milliseconds: its own default, and what it takes to stop then.
const LEAVE_MS_MAX: u64 = 140_000;

/// A stack whose last game server comes and goes.
#[derive(Debug)]
pub struct Growing<'a> {
    stack: &'a mut Stack,
    /// Name of the server that comes and goes, once it was there.
    extra: Option<String>,
}

/// What a proxy knows.
#[derive(Deserialize)]
struct Membership {
    games: Vec<Known>,
}

#[derive(Deserialize)]
struct Known {
    ready: bool,
}

impl Stack {
    /// The stack, to grow and shrink.
    pub const fn growing(&mut self) -> Growing<'_> {
        Growing {
            stack: self,
            extra: None,
        }
    }

    /// Tells the proxies that there are these many game servers, and waits until they know.
    fn tell_proxies(&self, games: usize) -> Result<(), String> {
        let programs = self.game_programs.get(..games).unwrap_or_default();
        commands::write_game_servers(self.data.path(), programs).map_err(|error| error.to_string())?;
        let limit = clock::now().plus_ms(START_MS_MAX);
        for admin in &self.proxy_admins {
            let knows = || {
                let known = membership(admin).unwrap_or_default();
                known.len() == games && known.iter().all(|server| server.ready)
            };
            wait_until(limit, knows, "a proxy does not know the game servers")?;
        }
        Ok(())
    }
}

fn membership(admin: &Target) -> Option<Vec<Known>> {
    let response = Http::new(admin.clone()).get("/membership", None).ok()?;
    let known: Membership = serde_json::from_slice(&response.body).ok()?;
    Some(known.games)
}

impl Growing<'_> {
    fn extra(&self) -> Result<&Service, String> {
        let name = self.extra.as_deref().ok_or("there is no server to take away")?;
        self.stack
            .service(name)
            .ok_or_else(|| format!("there is no {name}"))
    }
}

impl Fleet for Growing<'_> {
    fn grow(&mut self) -> Result<(), String> {
        if self.extra.is_none() {
            self.stack
                .start_game()
                .map_err(|error: StackError| error.to_string())?;
            self.extra = self
                .stack
                .game_programs
                .last()
                .map(|program| program.name.clone());
        } else {
            let service = self.extra()?;
            service.hold(false);
            let limit = clock::now().plus_ms(START_MS_MAX);
            wait_until(
                limit,
                || service.is_ready(),
                "the new game server did not come up",
            )?;
        }
        self.stack.tell_proxies(self.stack.game_programs.len())
    }

    fn shrink(&mut self) -> Result<(), String> {
        let service = self.extra()?;
        let before = service.restarts().len();
        service.hold(true);
        if !service.signal(Signal::SIGTERM) {
            return Err(format!("{} is not there to be stopped", service.name()));
        }
        let limit = clock::now().plus_ms(LEAVE_MS_MAX);
        wait_until(
            limit,
            || service.restarts().len() > before,
            "the game server did not stop",
        )?;
        self.stack.tell_proxies(self.stack.game_programs.len() - 1)
    }
}
