//! Kills, at moments of choice.

use super::World;
use super::nodes::Node;
use crate::Millis;
use crate::chaos::{Target, Weather, When};
use crate::coverage::Seen;
use crate::queue::Event;

/// A kill that waits for its moment comes anyway after this time.
const KILL_WAITS_MS: Millis = 4_000;

/// How long claims take long after a kill.
const CONTENDED_MS: Millis = 3_000;

/// A kill that waits for its moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Armed {
    when: When,
    number: u64,
    target: Target,
    restart_ms: Option<Millis>,
}

impl World {
    pub(super) fn arm(&mut self, target: Target, when: When, restart_ms: Option<Millis>) {
        let armed = Armed {
            when,
            number: self.kills + 1,
            target,
            restart_ms,
        };
        match when {
            // However long that takes; other kills come and go meanwhile.
            When::ResultKept => self.kill_at_result = Some(armed),
            When::ClassGone => self.kill_when_gone = true,
            When::Now => {
                let server = self.aimed_at(target);
                self.kill(server, restart_ms);
            }
            When::AfterTasks(_)
            | When::AppendSent
            | When::AppendKept
            | When::AckSent
            | When::SnapshotSent
            | When::SnapshotKept
            | When::ClaimKept
            | When::ReleaseKept => self.arm_for_later(armed),
        }
    }

    fn arm_for_later(&mut self, armed: Armed) {
        if self.armed.is_some() {
            return;
        }
        self.kills += 1;
        // A restart or a takeover is what it waits for: this kill, and the next one at the claim.
        if armed.when == When::ClaimKept {
            let server = self.aimed_at(armed.target);
            self.kill(server, armed.restart_ms);
        }
        // What it waits for, for the same reason.
        if armed.when == When::ReleaseKept {
            let server = self.aimed_at(armed.target);
            self.ask_to_stop(server, 2_000, None, armed.restart_ms);
        }
        self.armed = Some(armed);
        self.trouble(KILL_WAITS_MS);
        let kill = self.kills;
        self.queue
            .plan(self.now + KILL_WAITS_MS, Event::KillAnyway { kill });
    }

    /// Kills a server if this is the moment that was waited for.
    pub(super) fn kill_if(&mut self, server: usize, when: When) {
        let Some(armed) = self.armed.filter(|armed| armed.when == when) else {
            return;
        };
        let is_it = match armed.target {
            Target::Owner => true,
            // Whoever takes the game from the one that was killed.
            Target::Server(number) => number == server || when == When::ClaimKept,
        };
        if !is_it || self.node(server).is_none_or(|node| node.running().is_none()) {
            return;
        }
        self.armed = None;
        match when {
            When::AppendSent => self.coverage.saw(Seen::KillBetweenAppendAndAck),
            When::AppendKept => {
                self.coverage.saw(Seen::KillBetweenAppendAndAck);
                self.coverage.saw(Seen::KillAfterAppendKept);
            }
            When::SnapshotSent | When::SnapshotKept => self.coverage.saw(Seen::KillDuringSnapshot),
            When::ClaimKept => self.coverage.saw(Seen::KillDuringRestore),
            When::ReleaseKept => self.coverage.saw(Seen::KillDuringHandOver),
            When::Now | When::AfterTasks(_) | When::AckSent | When::ResultKept | When::ClassGone => {}
        }
        self.kill(server, armed.restart_ms);
    }

    /// The API has the result of a server.
    pub(super) fn result_kept(&mut self, server: usize) {
        if let Some(armed) = self.kill_at_result.take() {
            self.kill(server, armed.restart_ms);
        }
    }

    /// Everybody has gone home: what is left to do is the servers' own affair.
    pub(super) fn class_may_be_gone(&mut self) {
        if self.kill_when_gone && self.is_class_gone() {
            self.kill_when_gone = false;
            if self.store.kept(self.code).is_some() {
                self.coverage.saw(Seen::Orphan);
                let server = self.aimed_at(Target::Owner);
                self.kill(server, None);
            }
        }
    }

    /// Something reached a server: if a kill waits for it, some of the server's tasks run once, and then it dies.
    pub(super) fn count_down_to_kill(&mut self, server: usize) {
        let Some(armed) = self.armed else {
            return;
        };
        let When::AfterTasks(tasks) = armed.when else {
            return;
        };
        if armed.target != Target::Owner && armed.target != Target::Server(server) {
            return;
        }
        let Some((process, run)) = self
            .node(server)
            .and_then(|node| Some((node.running()?, node.run)))
        else {
            return;
        };
        process.run_tasks(tasks);
        let (at, emissions) = (process.clock(), process.take_emissions());
        self.armed = None;
        self.take(server, run, at, emissions);
        self.kill(server, armed.restart_ms);
    }

    pub(super) fn kill_anyway(&mut self, kill: u64) {
        if let Some(armed) = self.armed.filter(|armed| armed.number == kill) {
            self.armed = None;
            let server = self.aimed_at(armed.target);
            self.kill(server, armed.restart_ms);
        }
    }

    pub(super) fn kill(&mut self, server: usize, restart_ms: Option<Millis>) {
        let restart_ms = self.restart_of(server, restart_ms);
        if self.node(server).is_none_or(|node| node.process.is_none()) {
            return;
        }
        self.trace
            .line(self.now, format_args!("{} killed", Node::name(server)));
        self.coverage.saw(Seen::Kill);
        if self.oracle.has_answers_in_flight() {
            self.coverage.saw(Seen::KillWithAnswersInFlight);
        }
        self.process_gone(server);
        if !self.is_alone() && self.weather == Weather::Calm && self.fault_dice.chance(25) {
            self.weather_turns(Weather::Contended, CONTENDED_MS);
        }
        match restart_ms {
            Some(restart_ms) => self.boot_after(server, restart_ms),
            None => {
                self.coverage.saw(Seen::KillWithoutRestart);
                self.trouble(0);
            }
        }
    }

    /// A process is gone, for whatever reason.
    pub(super) fn process_gone(&mut self, server: usize) {
        let Some(node) = self.nodes.get_mut(server) else {
            return;
        };
        let Some(process) = node.process.take() else {
            return;
        };
        process.kill();
        let was_holder = node.holds.take().is_some();
        node.is_listening = false;
        node.stops = None;
        node.pause = None;
        let run = node.run;
        self.unanswered.retain(|(dialler, _)| *dialler != run);
        // What the kernel holds still goes out, or is lost with it.
        let is_silent = self.fault_dice.chance(15);
        let keeps_tail = self.fault_dice.chance(50) && !is_silent;
        if let Some(node) = self.nodes.get_mut(server) {
            node.is_silent = is_silent;
        }
        self.lose_lines(run, is_silent, keeps_tail);
        self.lose_wires(run, is_silent);
        self.lose_calls(run);
        self.oracle.killed(run, was_holder && !self.is_alone());
    }
}
