//! The bar on hashing, and vectors that keep placement as it is.

use crate::ids::GameCode;

use super::*;

/// Games of one key set; what bars.md measured the other proxies with.
const GAMES: usize = 10_000;
/// Key sets, numbered from 0.
const SETS: u64 = 20;

/// The numbers of a set, from a generator that is the same everywhere (SplitMix64).
fn codes(set: u64) -> Vec<GameCode> {
    // Far apart, or the sets would be one sequence, each a step further on.
    let mut state = set << 32;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut code = || GameCode::from_positions([0; 6].map(|_| u8::try_from(next() % 30).unwrap()));
    (0..GAMES).map(|_| code()).collect()
}

fn names(servers: usize) -> Vec<String> {
    (0..servers).map(|n| format!("game-{n}")).collect()
}

/// Where each game of a set goes.
fn placed(codes: &[GameCode], servers: usize) -> Vec<usize> {
    let names = names(servers);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    codes.iter().map(|code| order(&names, code.as_str())[0]).collect()
}

fn chi_square(placed: &[usize], servers: usize) -> f64 {
    let mut counts = vec![0.0; servers];
    placed.iter().for_each(|&server| counts[server] += 1.0);
    let mean = f64::from(u32::try_from(placed.len()).unwrap()) / f64::from(u32::try_from(servers).unwrap());
    counts
        .iter()
        .map(|count: &f64| (count - mean).powi(2) / mean)
        .sum()
}

/// The bar: each of twenty sets, on 2, 3 and 5 servers, spreads as a fair draw would in 99 of 100 cases.
#[test]
fn games_spread_as_a_fair_draw_would() {
    // Critical values of chi-square at 1 % for one, two and four degrees of freedom.
    for (servers, critical) in [(2, 6.635), (3, 9.210), (5, 13.277)] {
        for set in 0..SETS {
            let value = chi_square(&placed(&codes(set), servers), servers);
            assert!(
                value < critical,
                "set {set} on {servers} servers: {value:.2} of {critical}"
            );
        }
    }
}

/// The bar: a server that joins takes its share, within three standard deviations, and nothing else moves.
#[test]
fn a_new_server_takes_its_share_and_nothing_else_moves() {
    for (before, after, ideal) in [
        (2_usize, 3_usize, 1.0 / 3.0),
        (2, 5, 3.0 / 5.0),
        (3, 5, 2.0 / 5.0),
    ] {
        let games = f64::from(u32::try_from(GAMES).unwrap());
        let sigma = (ideal * (1.0 - ideal) / games).sqrt();
        for set in 0..SETS {
            let codes = codes(set);
            let (old, new) = (placed(&codes, before), placed(&codes, after));
            let moved: Vec<_> = old.iter().zip(&new).filter(|(old, new)| old != new).collect();
            assert!(moved.iter().all(|(_, new)| **new >= before), "set {set}");
            let share = f64::from(u32::try_from(moved.len()).unwrap()) / games;
            assert!(
                (share - ideal).abs() <= 3.0 * sigma,
                "set {set} from {before} to {after}: {share:.4} of {ideal:.4}"
            );
        }
    }
}

/// When a server goes, its games go to the others as evenly as they came.
#[test]
fn the_second_in_order_is_spread_as_well() {
    let names = names(5);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let seconds: Vec<usize> = codes(0)
        .iter()
        .map(|code| order(&names, code.as_str()))
        .filter(|order| order[0] == 2)
        .map(|order| if order[1] > 2 { order[1] - 1 } else { order[1] })
        .collect();
    assert!(seconds.len() > GAMES / 6);
    // Three degrees of freedom.
    assert!(chi_square(&seconds, 4) < 11.345);
}

/// What traps.md measured: the test above would find a hash that mixes too little.
#[test]
fn a_hash_that_mixes_too_little_is_found() {
    let fnv = |name: &str, code: &str| {
        let bytes = name.bytes().chain([0]).chain(code.bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let names = names(5);
    let placed: Vec<usize> = codes(0)
        .iter()
        .map(|code| {
            (0..5)
                .max_by_key(|&at: &usize| fnv(code.as_str(), &names[at]))
                .unwrap()
        })
        .collect();
    assert!(chi_square(&placed, 5) > 1_000.0);
}

/// Vectors of the placement, so that no change of library, compiler or machine moves a live game. They were computed by a
/// second implementation, written from the algorithm's description.
#[test]
fn weights_are_fixed_for_ever() {
    for (name, code, expected) in [
        ("game-0", "K7Q2MX", 0xd852_ce4c_5e51_46a7),
        ("game-1", "K7Q2MX", 0xe3db_0ef4_9eb4_1f14),
        ("game-0", "222222", 0x8bc4_e51d_6a1d_4c48),
        ("game-15", "ZZZZZZ", 0x56c5_317b_4759_35ed),
        ("a", "ABCDEF", 0x26f6_3a8d_ff21_438c),
        (
            "homeroom-production-europe-west-game-0123456789-0123456789-01",
            "H8N4TC",
            0x1f27_ee34_8185_186c,
        ),
    ] {
        assert_eq!(weight(name, code), expected, "{name} {code}");
    }
}
