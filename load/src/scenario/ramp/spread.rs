//! How evenly the games lie on the servers. Behind a proxy only the servers know, so their own count is read; a proxy that
//! sends everything to one server keeps every latency low until that server is full.

use serde::Serialize;

use crate::client::{HttpError, Target, Targets, metric};
use crate::scenario::ScenarioError;
use crate::scenario::school::School;
use crate::sys::{count, index, real};

/// The servers' gauge of games.
const GAMES_METRIC: &str = "homeroom_game_games";
/// The servers' counters of calls that they passed on.
const PASSED_ON_METRICS: [&str; 2] = [
    "homeroom_game_passed_on_total{how=\"told\"}",
    "homeroom_game_passed_on_total{how=\"tunnelled\"}",
];
/// Standard deviations of a fair draw that a server may have more than its share: by chance once in 370 runs on two servers. That is the bar
/// of a measured run.
const DEVIATIONS: f64 = 3.0;
/// The same of a run of few games, of which each test suite has several: once in 15,000.
const DEVIATIONS_FEW: f64 = 4.0;
/// Games of a measured run at least: 20,000 players in classes of 30.
const GAMES_MANY: u64 = 600;

/// Games by server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// Who counted: `servers`, `placement` for the harness's own choice, `nobody` behind a proxy without their metrics.
    pub counted_by: &'static str,
    /// Games on each server.
    pub games: Vec<u64>,
}

/// The most that the fullest of `servers` may have over the mean when `games` games are spread by hashing.
#[must_use]
pub fn allowed(games: u64, servers: u64) -> f64 {
    if games == 0 || servers < 2 {
        return 1.0;
    }
    let deviations = if games < GAMES_MANY {
        DEVIATIONS_FEW
    } else {
        DEVIATIONS
    };
    1.0 + deviations * (real(servers - 1) / real(games)).sqrt()
}

impl Spread {
    /// Counts the games of `school`, less those that were there `before`.
    ///
    /// # Errors
    /// The metrics of a server cannot be read.
    pub(super) fn of(
        school: &School,
        targets: &Targets,
        admins: &[Target],
        before: &[u64],
    ) -> Result<Self, ScenarioError> {
        if !admins.is_empty() {
            let now = count_games(admins)?;
            let games = now
                .iter()
                .zip(before)
                .map(|(now, before)| now.saturating_sub(*before));
            return Ok(Self {
                counted_by: "servers",
                games: games.collect(),
            });
        }
        let servers = targets.game_servers().len();
        if servers < 2 {
            return Ok(Self {
                counted_by: "nobody",
                games: vec![count(school.rooms.len())],
            });
        }
        let mut games = vec![0; servers];
        for room in &school.rooms {
            if let Some(n) = games.get_mut(index(targets.server_of(room.code()))) {
                *n += 1;
            }
        }
        Ok(Self {
            counted_by: "placement",
            games,
        })
    }
}

/// Games held by each server, and calls that all of them have passed on so far.
pub(super) fn so_far(admins: &[Target]) -> Result<(Vec<u64>, u64), ScenarioError> {
    Ok((count_games(admins)?, count_passed_on(admins)?))
}

/// Calls that servers have passed on so far: what a balancer without stickiness makes of most of them.
pub(super) fn count_passed_on(admins: &[Target]) -> Result<u64, ScenarioError> {
    let mut all = 0;
    for admin in admins {
        for name in PASSED_ON_METRICS {
            // A server that is alone counts none.
            all += match metric(admin, name) {
                Err(HttpError::Broken { .. }) => 0,
                told => told?,
            };
        }
    }
    Ok(all)
}

/// Games held by each server, by its own count.
fn count_games(admins: &[Target]) -> Result<Vec<u64>, ScenarioError> {
    let read = |admin: &Target| metric(admin, GAMES_METRIC);
    Ok(admins.iter().map(read).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fair_draw_is_allowed_and_one_server_for_all_is_not() {
        // 960 games on two servers: 480 each, a standard deviation of 15.5.
        let most = allowed(960, 2) * 480.0;
        assert!((526.0..=527.0).contains(&most), "{most}");
        // 96 of them: 48 each, a standard deviation of 4.9.
        let most = allowed(96, 2) * 48.0;
        assert!((67.0..=68.0).contains(&most), "{most}");
        for (games, servers) in [(32, 2), (96, 3), (960, 2), (960, 8)] {
            assert!(allowed(games, servers) < real(servers), "{games} on {servers}");
        }
        assert!(allowed(10, 1) <= 1.0);
    }
}
