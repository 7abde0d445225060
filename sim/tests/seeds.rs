//! The seeds of `./test`, in parts, so that every core has some.

use sim::{Coverage, Play, SEEDS_IN_TEST};

/// Parts that the seeds are played in.
const PARTS: u64 = 4;

fn part(number: u64) {
    let count = SEEDS_IN_TEST / PARTS;
    let mut coverage = Coverage::default();
    for seed in number * count..(number + 1) * count {
        let outcome = sim::play(Play {
            seed,
            ..Play::default()
        });
        assert!(outcome.violation.is_none(), "{outcome}");
        coverage.add(&outcome.coverage);
    }
    for (seen, count) in coverage.iter() {
        println!("{seen:?} {count}");
    }
}

#[test]
fn part_0_of_the_seeds_holds() {
    part(0);
}

#[test]
fn part_1_of_the_seeds_holds() {
    part(1);
}

#[test]
fn part_2_of_the_seeds_holds() {
    part(2);
}

#[test]
fn part_3_of_the_seeds_holds() {
    part(3);
}
