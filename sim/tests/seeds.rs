//! The seeds of `./test`. They are also asked what they have met: a simulation that meets nothing holds everything.

use sim::{Coverage, Play, SEEDS_IN_TEST, Seen};

/// Threads that play: as many as a small machine has.
const THREADS: u64 = 2;

/// What the seeds must meet together, and how often: a third of what they meet, so that a change of the plan is noticed and a change of
/// its dice is not.
const MET: [(Seen, u64); 56] = [
    (Seen::Kill, 93),
    (Seen::KillWithAnswersInFlight, 18),
    (Seen::KillBetweenAppendAndAck, 13),
    (Seen::KillAfterAppendKept, 3),
    (Seen::KillDuringSnapshot, 2),
    (Seen::KillDuringRestore, 8),
    (Seen::Restore, 26),
    (Seen::RestoreOfOpenQuestion, 13),
    (Seen::Stop, 21),
    (Seen::RequestLost, 39),
    (Seen::AnswerLost, 192),
    (Seen::LateWrite, 24),
    (Seen::WriteOfTheDead, 12),
    (Seen::RepeatedAppend, 8),
    (Seen::StaleSnapshot, 1),
    (Seen::TornAppend, 1),
    (Seen::OutOfMemory, 28),
    (Seen::Unreachable, 35),
    (Seen::Emptied, 13),
    (Seen::Rewritten, 7),
    (Seen::WentBack, 10),
    (Seen::WentBackWithHolder, 4),
    (Seen::AssertedByHolder, 5),
    (Seen::Rewound, 5),
    (Seen::AckedAnswerLost, 7),
    (Seen::GameLost, 1),
    (Seen::AckUnsaved, 102),
    (Seen::FrameUnsaved, 418),
    (Seen::AckSavedLater, 63),
    (Seen::AnswerResent, 128),
    (Seen::AnswerRefused, 66),
    (Seen::ResultRepeated, 2),
    (Seen::KillWithoutRestart, 27),
    (Seen::KillDuringHandOver, 3),
    (Seen::Takeover, 123),
    (Seen::TakeoverOfOpenQuestion, 57),
    (Seen::Beaten, 2),
    (Seen::WriteFenced, 2),
    (Seen::Fenced, 16),
    (Seen::GivenBack, 17),
    (Seen::Pause, 28),
    (Seen::Zombie, 8),
    (Seen::Join, 8),
    (Seen::CutFromStore, 25),
    (Seen::CutFromServer, 36),
    (Seen::CutFromProxy, 4),
    (Seen::Offline, 8),
    (Seen::ClockStep, 5),
    (Seen::PeerAsked, 467),
    (Seen::Misdirected, 119),
    (Seen::WrongHint, 58),
    (Seen::Orphan, 10),
    (Seen::OrphanTaken, 34),
    (Seen::BehindProxy, 38),
    (Seen::BehindRoundRobin, 10),
    (Seen::ClassEnded, 66),
];

fn play(first: u64) -> Coverage {
    let mut coverage = Coverage::default();
    for seed in (0..SEEDS_IN_TEST).filter(|seed| seed % THREADS == first) {
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
