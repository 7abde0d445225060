//! What scenarios may strike: the processes that hold games, or all of them in turn.

use std::collections::BTreeMap;

use nix::sys::signal::Signal;

use super::{LOOK_MS, REDIS, START_MS_MAX, Service, Stack};
use crate::client::metric;
use crate::scenario::kill::{Blow, Victims};
use crate::sys::{clock, index, small};

/// A game server that was asked to stop waits for its classes at most this long, in milliseconds: its own default, and what it
/// takes to stop then.
const DRAIN_MS_MAX: u64 = 140_000;
/// A Redis that keeps the games is made to wait for so long before every second kill. Servers wait for 100 ms before they tell a
/// class that something is not saved; within these an answer that is acked and not kept yet is there to be lost. An append
/// takes a fraction of a millisecond otherwise, which a kill out of the blue hardly ever meets.
const HOLD_MS: u64 = 80;
/// The kill strikes so long after the hold began.
const STRIKE_MS: u64 = 50;
/// How many servers have a lease, as one of them sees it.
const LEASED: &str = "homeroom_game_servers_leased";
/// How often a server has renewed its lease.
const RENEWED: &str = "homeroom_game_leases_renewed_total";
/// What game servers count of interest here, and its name in results.
const COUNTED: [(&str, &str); 5] = [
    ("homeroom_game_games_fenced_total", "games fenced"),
    ("homeroom_game_games_restored_total", "games taken up"),
    ("homeroom_game_claims_delayed_total", "claims put off"),
    (
        "homeroom_game_passed_on_total{how=\"told\"}",
        "calls passed on by a word to a proxy",
    ),
    (
        "homeroom_game_passed_on_total{how=\"tunnelled\"}",
        "calls passed on by a tunnel",
    ),
];

/// The processes of a stack that one kind of blow is for.
#[derive(Debug)]
pub struct Struck<'a> {
    stack: &'a Stack,
    blow: Blow,
    /// Restarts of the process that was struck last, before that.
    restarts: usize,
}

impl Stack {
    /// The processes that hold games, game servers or the one process that is everything; for a blow that is dealt in turn, all
    /// but the store.
    #[must_use]
    pub fn victims(&self, blow: Blow) -> Struck<'_> {
        Struck {
            stack: self,
            blow,
            restarts: 0,
        }
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

impl<'a> Struck<'a> {
    fn services(&self) -> impl Iterator<Item = &'a Service> + use<'a> {
        let games: Vec<String> = self.stack.games.iter().map(ToString::to_string).collect();
        let all = self.blow == Blow::Stop;
        let services = self.stack.services.iter();
        services.filter(move |service| match all {
            true => service.name() != REDIS,
            false => games.contains(&service.address()),
        })
    }

    fn service(&self, victim: u32) -> Result<&'a Service, String> {
        let found = self.services().nth(index(victim));
        found.ok_or_else(|| format!("there is no process {victim} to strike"))
    }

    fn cut(&self, victim: u32, is_cut: bool) -> Result<(), String> {
        let networks = self.stack.networks.as_ref();
        let networks = networks.ok_or("the game servers have no networks of their own")?;
        let number = index(victim);
        let done = match is_cut {
            true => networks.cut(number),
            false => networks.heal(number),
        };
        done.map_err(|error| error.to_string())
    }

    /// Waits until the servers have renewed their leases and see each other's, if they are several.
    fn wait_for_leases(&self) -> Result<(), String> {
        let admins = &self.stack.game_admins;
        if self.stack.stores.is_empty() || admins.len() < 2 {
            return Ok(());
        }
        let all = crate::sys::count(admins.len());
        let limit = clock::now().plus_ms(START_MS_MAX);
        for admin in admins {
            let renewed = |by: u64| metric(admin, RENEWED).is_ok_and(|now| now >= by);
            wait_until(
                limit,
                || metric(admin, RENEWED).is_ok(),
                "a game server tells nothing",
            )?;
            let before = metric(admin, RENEWED).unwrap_or(0);
            // What was seen before a renewal may be old.
            let is_well = || renewed(before + 2) && metric(admin, LEASED).is_ok_and(|leased| leased >= all);
            wait_until(limit, is_well, "the game servers do not see each other's leases")?;
        }
        Ok(())
    }
}

impl Victims for Struck<'_> {
    fn count(&self) -> u32 {
        small(self.services().count())
    }

    fn name(&self, victim: u32) -> String {
        self.service(victim)
            .map_or_else(|why| why, |service| service.name().to_owned())
    }

    fn strike(&mut self, victim: u32) -> Result<(), String> {
        let service = self.service(victim)?;
        self.restarts = service.restarts().len();
        let is_kill = matches!(self.blow, Blow::Kill | Blow::KillForGood);
        if is_kill && self.restarts.is_multiple_of(2) {
            self.stack.hold_stores()?;
        }
        let signal = match self.blow {
            Blow::Kill => Signal::SIGKILL,
            Blow::KillForGood => {
                service.hold(true);
                Signal::SIGKILL
            }
            Blow::Freeze => {
                service.hold(true);
                Signal::SIGSTOP
            }
            Blow::Stop => Signal::SIGTERM,
            Blow::Cut => {
                service.hold(true);
                return self.cut(victim, true);
            }
        };
        match service.signal(signal) {
            true => Ok(()),
            false => Err(format!("{} is not there to be struck", service.name())),
        }
    }

    fn mend(&mut self, victim: u32) -> Result<(), String> {
        let service = self.service(victim)?;
        let name = service.name();
        let is_back = || service.restarts().len() > self.restarts && service.is_ready();
        match self.blow {
            Blow::Kill | Blow::KillForGood | Blow::Stop => {
                service.hold(false);
                let limit_ms = match self.blow {
                    Blow::Stop => DRAIN_MS_MAX,
                    Blow::Kill | Blow::KillForGood | Blow::Freeze | Blow::Cut => START_MS_MAX,
                };
                wait_until(
                    clock::now().plus_ms(limit_ms),
                    is_back,
                    &format!("{name} did not come back"),
                )?;
            }
            Blow::Freeze => {
                // An error means that it has ended, and then it is no zombie.
                if !service.signal(Signal::SIGCONT) {
                    return Err(format!("{name} has ended while it was stopped"));
                }
                service.hold(false);
            }
            Blow::Cut => {
                self.cut(victim, false)?;
                service.hold(false);
            }
        }
        match self.blow {
            Blow::Kill | Blow::Stop => Ok(()),
            Blow::KillForGood | Blow::Freeze | Blow::Cut => self.wait_for_leases(),
        }
    }

    fn counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for (metric_name, name) in COUNTED {
            // A server that is down has nothing to tell.
            let told = self
                .stack
                .game_admins
                .iter()
                .filter_map(|admin| metric(admin, metric_name).ok());
            counts.insert(name, told.sum());
        }
        counts
    }
}

pub(super) fn wait_until(
    limit: clock::Stamp,
    done: impl Fn() -> bool,
    otherwise: &str,
) -> Result<(), String> {
    while !done() {
        if clock::now() >= limit {
            return Err(otherwise.to_owned());
        }
        clock::pause_ms(LOOK_MS);
    }
    Ok(())
}
