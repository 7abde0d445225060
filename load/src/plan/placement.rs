//! Where the harness puts a game when it addresses the game servers itself, without a proxy.

use super::draw::{fold, mix};

/// The server, from 0 to `servers` less one, for the game `code`: the one whose hash of server and code is the highest, so
/// that a changed number of servers moves no more games than it must.
#[must_use]
pub fn place(code: &str, servers: u32) -> u32 {
    let key = code.bytes().fold(mix(1), |h, byte| fold(h, u64::from(byte)));
    (0..servers)
        .max_by_key(|&server| fold(key, u64::from(server)))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Pace, Plan};
    use crate::wire;

    #[test]
    fn games_are_spread_and_stay() {
        let plan = Plan::new(1, Pace::FAST, 1, vec![1; 3_000]);
        let codes: Vec<String> = (0..3_000)
            .map(|class| wire::code(plan.code_positions(class, 0, 30)))
            .collect();
        let mut games = [0u32; 3];
        for code in &codes {
            games[usize::try_from(place(code, 3)).expect("small")] += 1;
        }
        // 1000 expected, standard deviation 26: five of them.
        assert!(games.iter().all(|n| (870..=1_130).contains(n)), "{games:?}");
        let moved = codes
            .iter()
            .filter(|code| place(code, 2) != place(code, 3))
            .count();
        assert!(
            (870..=1_130).contains(&moved),
            "{moved} of 3000 moved, a third must"
        );
        assert_eq!(place("K7Q2MX", 1), 0);
    }
}
