//! A seed is one run, byte for byte.

use sim::{Keep, Play, play};

/// Seeds that are played twice, with faults.
const SEEDS: [u64; 4] = [3, 7, 11, 19];

fn whole(seed: u64) -> String {
    let outcome = play(Play {
        seed,
        keep: Keep::Whole,
        ..Play::default()
    });
    assert!(outcome.lines > 100, "{outcome}");
    outcome.whole.expect("it was asked for")
}

#[test]
fn a_seed_says_the_same_again_and_in_another_thread() {
    for seed in SEEDS {
        let first = whole(seed);
        assert!(first == whole(seed), "seed {seed} in the same thread");
        let other = std::thread::spawn(move || whole(seed)).join().unwrap();
        assert!(first == other, "seed {seed} in another thread");
    }
    assert_ne!(whole(3), whole(7));
}

#[test]
fn a_seed_says_the_same_in_another_process() {
    let seed = SEEDS[0];
    let program = env!("CARGO_BIN_EXE_sim");
    let output = std::process::Command::new(program)
        .args(["--seed", &seed.to_string(), "--trace"])
        .output()
        .unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with(&whole(seed)), "seed {seed} in another process");
}

#[test]
fn a_class_without_faults_is_played_to_its_end() {
    for seed in 0..5 {
        let outcome = play(Play {
            seed,
            is_quiet: true,
            ..Play::default()
        });
        assert!(outcome.violation.is_none(), "{outcome}");
        assert_eq!(outcome.coverage.of(sim::Seen::ClassEnded), 1);
    }
}
