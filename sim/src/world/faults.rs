//! Faults, as they happen.

use super::World;
use crate::Millis;
use crate::chaos::{Fault, Weather, When};
use crate::class::{ClientId, News};
use crate::coverage::Seen;
use crate::queue::Event;

/// A kill that waits for its moment comes anyway after this time.
const KILL_WAITS_MS: Millis = 4_000;

impl World {
    pub(super) fn fault(&mut self, fault: Fault) {
        self.trace.line(self.now, format_args!("fault {fault:?}"));
        match fault {
            Fault::Kill { when, restart_ms } => self.arm(when, restart_ms),
            Fault::Stop { restart_ms } => self.ask_to_stop(restart_ms),
            Fault::Trouble { weather, lasts_ms } => self.trouble(weather, lasts_ms),
            Fault::Empty { weather, lasts_ms } => {
                self.lose_data();
                self.trouble(weather, lasts_ms);
            }
            Fault::EmptyAndKill { restart_ms } => {
                self.lose_data();
                self.kill(restart_ms);
            }
            Fault::CutOff { client } => self.cut_off(client),
            Fault::Reload { client } => self.reload(client),
            Fault::ApiAway { lasts_ms } => {
                self.is_api_away = true;
                self.queue.plan(self.now + lasts_ms, Event::ApiBack);
            }
        }
    }

    fn trouble(&mut self, weather: Weather, lasts_ms: Millis) {
        self.weather = weather;
        self.troubles += 1;
        let trouble = self.troubles;
        self.queue.plan(self.now + lasts_ms, Event::Clears { trouble });
    }

    fn reload(&mut self, client: ClientId) {
        self.news(client, News::Reload);
    }

    fn lose_data(&mut self) {
        if self.process.is_some() {
            self.coverage.saw(Seen::Emptied);
        }
        self.empty_store();
        self.store.is_back();
    }

    pub(super) fn clears(&mut self, trouble: u64) {
        if trouble != self.troubles {
            return;
        }
        self.trace.line(self.now, format_args!("the store is well"));
        let was_away = self.weather == Weather::Away;
        self.weather = Weather::Calm;
        if was_away {
            self.store.is_back();
        }
    }

    fn arm(&mut self, when: When, restart_ms: Millis) {
        if when == When::ResultKept {
            // However long that takes; other kills come and go meanwhile.
            self.kill_at_result = Some(restart_ms);
            return;
        }
        if self.process.is_none() || self.armed.is_some() {
            return;
        }
        self.kills += 1;
        match when {
            When::Now => self.kill(restart_ms),
            // A restart is what it waits for: this kill, and the next one at the claim.
            When::ClaimKept => {
                self.kill(restart_ms);
                self.armed = Some((when, self.kills, restart_ms));
            }
            When::AfterTasks(_)
            | When::AppendSent
            | When::AppendKept
            | When::AckSent
            | When::SnapshotSent
            | When::SnapshotKept
            | When::ResultKept => self.armed = Some((when, self.kills, restart_ms)),
        }
        if self.armed.is_some() {
            let kill = self.kills;
            self.queue
                .plan(self.now + KILL_WAITS_MS, Event::KillAnyway { kill });
        }
    }

    /// Kills the server if this is the moment that was waited for.
    pub(super) fn kill_if(&mut self, when: When) {
        let Some((armed, _, restart_ms)) = self.armed else {
            return;
        };
        if armed != when || self.process.is_none() {
            return;
        }
        self.armed = None;
        self.coverage_of(when);
        self.kill(restart_ms);
    }

    fn coverage_of(&mut self, when: When) {
        match when {
            When::AppendSent => self.coverage.saw(Seen::KillBetweenAppendAndAck),
            When::AppendKept => {
                self.coverage.saw(Seen::KillBetweenAppendAndAck);
                self.coverage.saw(Seen::KillAfterAppendKept);
            }
            When::SnapshotSent | When::SnapshotKept => self.coverage.saw(Seen::KillDuringSnapshot),
            When::ClaimKept => self.coverage.saw(Seen::KillDuringRestore),
            When::Now | When::AfterTasks(_) | When::AckSent | When::ResultKept => {}
        }
    }

    /// The API has the result.
    pub(super) fn result_kept(&mut self) {
        if let Some(restart_ms) = self.kill_at_result.take() {
            self.kill(restart_ms);
        }
    }

    /// Something reached the server: if a kill waits for it, some of the server's tasks run once, and then it dies.
    pub(super) fn count_down_to_kill(&mut self) {
        let Some((When::AfterTasks(tasks), _, restart_ms)) = self.armed else {
            return;
        };
        let Some(process) = &self.process else {
            return;
        };
        process.run_tasks(tasks);
        let emissions = process.take_emissions();
        self.armed = None;
        self.take(emissions);
        self.kill(restart_ms);
    }

    pub(super) fn kill_anyway(&mut self, kill: u64) {
        if let Some((_, armed, restart_ms)) = self.armed
            && armed == kill
        {
            self.armed = None;
            self.kill(restart_ms);
        }
    }

    fn kill(&mut self, restart_ms: Millis) {
        if self.process.is_none() {
            return;
        }
        self.trace.line(self.now, format_args!("killed"));
        self.count_kill();
        self.process_gone();
        self.queue.plan(self.now + restart_ms, Event::Boot);
    }

    /// The process is gone, for whatever reason.
    pub(super) fn process_gone(&mut self) {
        let Some(process) = self.process.take() else {
            return;
        };
        process.kill();
        self.is_listening = false;
        self.restart_ms = None;
        self.lose_lines();
        self.lose_calls();
        self.oracle.killed();
    }

    fn ask_to_stop(&mut self, restart_ms: Millis) {
        if let Some(process) = self.process.as_ref().filter(|_| self.is_listening) {
            self.coverage.saw(Seen::Stop);
            self.is_listening = false;
            self.restart_ms = Some(restart_ms);
            process.stop();
            self.oracle.stopping();
        }
    }

    pub(super) fn stopped(&mut self) {
        self.trace.line(self.now, format_args!("stopped"));
        if let Some(restart_ms) = self.restart_ms {
            self.process_gone();
            self.queue.plan(self.now + restart_ms, Event::Boot);
        }
    }
}
