//! Places. One rule everywhere: equal points share a place, and the place after them is as many further (1, 2, 2, 4).

use std::cmp::Reverse;

use crate::name::PlayerName;
use crate::player::{Player, PlayerId};

/// One line of the standings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Place, from 1; equal points share one.
    pub rank: u32,
    /// The player.
    pub player: PlayerId,
    /// Its name.
    pub name: PlayerName,
    /// Points of all closed questions.
    pub total: u32,
}

/// Players with their places: best first, ties in the order given, which is the order of joining. O(n log n).
pub(crate) fn ranked<'a>(players: impl Iterator<Item = &'a Player>) -> Vec<(u32, &'a Player)> {
    let mut sorted: Vec<&Player> = players.collect();
    // Stable, so that ties keep their order.
    sorted.sort_by_key(|player| Reverse(player.total));
    let mut rank = 1;
    let mut above: Option<u32> = None;
    (1..)
        .zip(sorted)
        .map(|(place, player)| {
            if above != Some(player.total) {
                rank = place;
                above = Some(player.total);
            }
            (rank, player)
        })
        .collect()
}
