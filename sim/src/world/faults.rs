//! Faults, as they happen.

use game_server::ClaimId;

use super::World;
use super::nodes::Node;
use crate::Millis;
use crate::chaos::{Fault, Party, Weather};
use crate::class::{ClientId, News};
use crate::coverage::Seen;
use crate::queue::Event;

/// A store loses its data only when for this long no server has stood still or been cut off from it: whoever holds the game must be
/// able to write it again.
const HOLDERS_WELL_MS: Millis = 4_000;

impl World {
    pub(super) fn fault(&mut self, fault: Fault) {
        self.trace.line(self.now, format_args!("fault {fault:?}"));
        self.trouble(0);
        match fault {
            Fault::Kill {
                target,
                when,
                restart_ms,
            } => self.arm(target, when, restart_ms),
            Fault::Stop {
                target,
                drain_ms,
                hurry_ms,
                restart_ms,
            } => {
                let server = self.aimed_at(target);
                self.ask_to_stop(server, drain_ms, hurry_ms, restart_ms);
            }
            Fault::Pause { target, lasts_ms } => {
                if !self.oracle.is_emptied() {
                    let server = self.aimed_at(target);
                    self.stand_still(server, lasts_ms);
                }
            }
            Fault::Cut { a, b, lasts_ms } => {
                if !self.oracle.is_emptied() {
                    self.cut(a, b, lasts_ms);
                }
            }
            Fault::Join => self.join(),
            Fault::ClockStep { target, by_ms } => {
                let server = self.aimed_at(target);
                self.step_clock(server, by_ms);
            }
            Fault::WrongHints { lasts_ms } => self.hints_go_wrong(lasts_ms),
            Fault::Trouble { weather, lasts_ms } => self.weather_turns(weather, lasts_ms),
            Fault::Empty { weather, lasts_ms } => {
                if self.lose_data() {
                    self.weather_turns(weather, lasts_ms);
                }
            }
            Fault::EmptyAndKill { restart_ms } => {
                // Whoever has the game, or another one.
                let holder = self
                    .holder()
                    .filter(|_| self.is_alone() || self.fault_dice.chance(50));
                if self.lose_data() {
                    self.kill(holder.unwrap_or_default(), Some(restart_ms));
                }
            }
            Fault::GoBack {
                changes,
                are_leases_old,
                kill,
            } => self.go_back(changes, are_leases_old, kill),
            Fault::CutOff { client } => self.cut_off(client),
            Fault::Offline { client, lasts_ms } => self.goes_offline(client, lasts_ms),
            Fault::Reload { client } => self.reload(client),
            Fault::ApiAway { lasts_ms } => {
                self.api.set_away(true);
                self.trouble(lasts_ms);
                self.queue.plan(self.now + lasts_ms, Event::ApiBack);
            }
        }
    }

    fn hints_go_wrong(&mut self, lasts_ms: Millis) {
        self.wrong_hints_until = self.now + lasts_ms;
        self.trouble(lasts_ms);
        for client in 0..self.clients.len() {
            self.reload(ClientId(client));
        }
    }

    pub(super) fn weather_turns(&mut self, weather: Weather, lasts_ms: Millis) {
        self.weather = weather;
        self.troubles += 1;
        // A call may be late beyond that.
        self.trouble(lasts_ms + 5_000);
        let trouble = self.troubles;
        self.queue.plan(self.now + lasts_ms, Event::Clears { trouble });
    }

    /// A student who has not heard of the game has no page to reload.
    fn reload(&mut self, client: ClientId) {
        if client.0 == 0 || self.has_game() {
            self.news(client, News::Reload);
        }
    }

    fn goes_offline(&mut self, client: ClientId, lasts_ms: Millis) {
        self.coverage.saw(Seen::Offline);
        self.cut_off(client);
        if let Some(until) = self.offline_until.get_mut(client.0) {
            *until = (*until).max(self.now + lasts_ms);
        }
        self.trouble(lasts_ms);
    }

    /// The store restarts without its data, if whoever holds the game can write it again or nobody lives who could.
    fn lose_data(&mut self) -> bool {
        // Whoever could write a store again that went back is not known to it.
        if self.oracle.is_behind() || (!self.is_alone() && !self.are_holders_well()) {
            return false;
        }
        if self.nodes.iter().any(|node| node.process.is_some()) {
            self.coverage.saw(Seen::Emptied);
        }
        let holder = self.holder();
        self.empty_store();
        if !self.is_alone() && holder.is_none() {
            self.oracle.loses();
        }
        for server in 0..self.nodes.len() {
            self.store.is_back_for(server);
            self.touch(server);
        }
        true
    }

    /// The store is another one from now on, which missed some changes.
    fn go_back(&mut self, changes: usize, are_leases_old: bool, kill: Option<Option<Millis>>) {
        let Some(before) = self.store.kept(self.code) else {
            return;
        };
        if self.oracle.is_behind() || !self.store.is_present(self.code) {
            return;
        }
        let claim = before.owner.claim;
        let holder = self.holder_of(claim);
        if !self.store.go_back(changes, self.code, are_leases_old) {
            return;
        }
        self.coverage.saw(Seen::WentBack);
        self.hang_up_store();
        self.oracle.went_back(claim);
        if let (Some(server), Some(restart_ms)) = (holder, kill) {
            self.coverage.saw(Seen::WentBackWithHolder);
            self.kill(server, restart_ms);
        }
        if self.weather != Weather::Away {
            for server in 0..self.nodes.len() {
                self.reaches_store(server);
            }
        }
        // A server that cannot be asked is waited for as long as its lease lasts.
        self.trouble(10_000);
    }

    /// The process that has the game under a claim.
    pub(super) fn holder_of(&self, claim: ClaimId) -> Option<usize> {
        let holds =
            |node: &&Node| node.process.is_some() && node.holds.is_some_and(|(held, _)| held == claim);
        self.nodes.iter().find(holds).map(|node| node.number)
    }

    /// The server that has the game under the claim that the store names.
    fn holder(&self) -> Option<usize> {
        if self.is_alone() {
            return Some(0);
        }
        self.holder_of(self.store.kept(self.code)?.owner.claim)
    }

    fn are_holders_well(&self) -> bool {
        let since = self.now.saturating_sub(HOLDERS_WELL_MS);
        self.nodes.iter().all(|node| {
            let cut_until = self.links.cut_until(Party::Server(node.number), Party::Store);
            let is_hindered = node.pause.is_some() || node.stops.is_some() || cut_until > since;
            node.process.is_none() || !(is_hindered || (node.hindered_at > since && node.hindered_at > 0))
        })
    }

    pub(super) fn clears(&mut self, trouble: u64) {
        if trouble != self.troubles {
            return;
        }
        self.trace.line(self.now, format_args!("the store is well"));
        let was_away = self.weather == Weather::Away;
        self.weather = Weather::Calm;
        if was_away {
            for server in 0..self.nodes.len() {
                self.reaches_store(server);
            }
        }
    }
}
