//! Rendezvous hashing of game codes over server names: every proxy gives the same order, and a server that comes or goes
//! moves no more games than it must.
//!
//! The weight of a server for a code is rapidhash V3 of `name`, a zero byte and `code`, with the algorithm's default
//! secrets. That function is fixed: its output is the same in all versions and on all platforms, and the vectors below keep it so. A
//! name holds no zero byte, so no two pairs are hashed alike. FNV spread the names `game-0`, `game-1` … as 502/502/497/497/2002
//! of 4,000 games (docs/adr/0016).

use std::cmp::Reverse;

use rapidhash::v3::{DEFAULT_RAPID_SECRETS, RapidStreamHasherV3};

/// How strongly `name` is drawn to `code`; the server with the highest weight gets the game.
#[must_use]
pub fn weight(name: &str, code: &str) -> u64 {
    let mut hasher = RapidStreamHasherV3::new(&DEFAULT_RAPID_SECRETS);
    hasher.write(name.as_bytes());
    hasher.write(&[0]);
    hasher.write(code.as_bytes());
    hasher.finish()
}

/// Positions in `names` in the order in which servers are asked for `code`. Equal weights, of which none are known, go by name.
#[must_use]
pub fn order(names: &[&str], code: &str) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..names.len()).collect();
    positions.sort_by_cached_key(|&at| {
        names
            .get(at)
            .map(|name| (Reverse(weight(name, code)), (*name).to_owned()))
    });
    positions
}

#[cfg(test)]
mod tests;
