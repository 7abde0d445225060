//! The seeds of `./test`. They are also asked what they have met: a simulation that meets nothing holds everything.

use sim::{Coverage, Play, SEEDS_IN_TEST, Seen};

/// Threads that play: as many as a small machine has.
const THREADS: u64 = 2;

/// What the seeds must meet together, and how often: a third of what they meet, so that a change of the plan is noticed and a change of
/// its dice is not.
const MET: [(Seen, u64); MET_COUNT] = [MET_ROWS];

fn play(first: u64) -> Coverage {
    let mut coverage = Coverage::default();
    for seed in (first..SEEDS_IN_TEST).step_by(usize::try_from(THREADS).unwrap()) {
        let outcome = sim::play(Play {
            seed,
            ..Play::default()
        });
        assert!(outcome.violation.is_none(), "{outcome}");
        coverage.add(&outcome.coverage);
    }
    coverage
}

#[test]
fn the_seeds_hold_and_meet_every_fault() {
    let mut coverage = Coverage::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|first| scope.spawn(move || play(first)))
            .collect();
        for thread in threads {
            match thread.join() {
                Ok(met) => coverage.add(&met),
                Err(failed) => std::panic::resume_unwind(failed),
            }
        }
    });
    for (seen, least) in MET {
        let count = coverage.of(seen);
        assert!(
            count >= least,
            "{seen:?} {count} times; {least} at least: {coverage:?}"
        );
    }
}
