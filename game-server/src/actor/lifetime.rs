//! When a game is ended by the server: without a host for too long, or too old; and when an ended one is forgotten.

use game_core::Phase;
use tokio::time::{Duration, Instant};

use super::Actor;
use crate::config::Config;

/// Ages of one game.
#[derive(Debug)]
pub(super) struct Lifetime {
    started: Instant,
    /// Its age at `started`.
    age: Duration,
    without_host_since: Option<Instant>,
    ended: Option<Instant>,
}

impl Lifetime {
    /// A game that is `age` old, by its own time.
    pub(super) fn new(now: Instant, age: Duration) -> Self {
        Self {
            started: now,
            age,
            without_host_since: Some(now),
            ended: None,
        }
    }

    /// A host came or went.
    pub(super) fn host_seen(&mut self, has_host: bool, now: Instant) {
        self.without_host_since = match (has_host, self.without_host_since) {
            (true, _) => None,
            (false, None) => Some(now),
            (false, since) => since,
        };
    }

    pub(super) fn ended(&mut self, now: Instant) {
        self.ended = Some(now);
    }

    /// Whether an ended game has been shown for long enough.
    pub(super) fn is_over(&self, now: Instant, config: &Config) -> bool {
        self.ended.is_some_and(|ended| ended + config.ended_linger <= now)
    }

    /// When the next rule applies, if nothing happens.
    pub(super) fn next_wake(&self, now: Instant, phase: Phase, config: &Config) -> Option<Instant> {
        let wake = match self.ended {
            Some(ended) => ended + config.ended_linger,
            None => self.end_at(phase, config),
        };
        // A rule that applies now has been applied; what is left can only be in the future.
        (wake > now).then_some(wake)
    }

    fn end_at(&self, phase: Phase, config: &Config) -> Instant {
        let too_old = self.started + config.total.saturating_sub(self.age);
        match self.without_host_since {
            Some(since) => too_old.min(since + patience(phase, config)),
            None => too_old,
        }
    }
}

fn patience(phase: Phase, config: &Config) -> Duration {
    match phase {
        Phase::Lobby => config.lobby_without_host,
        // On the podium as well: the result is saved, and phones should not hold their sockets for hours.
        Phase::Question { .. } | Phase::Results { .. } | Phase::Podium | Phase::Ended => {
            config.play_without_host
        }
    }
}

impl Actor {
    /// Ends the game if a rule says so: by way of the podium when a question was played, so that its result is saved.
    pub(super) fn check_lifetime(&mut self, now: Instant) {
        let phase = self.game.phase();
        if phase == Phase::Ended || self.lifetime.end_at(phase, &self.around.config) > now {
            return;
        }
        tracing::info!(game = %self.facts.game, "a game without a host, or too old, is ended");
        // At most two steps: to the podium, and to the end.
        self.end();
        if self.game.phase() != Phase::Ended {
            self.end();
        }
    }
}
