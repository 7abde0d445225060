//! The seeds of `./test`, in parts, so that every core has some. A part is also asked what it has met: a simulation that meets
//! nothing holds everything.

use sim::{Coverage, Play, SEEDS_IN_TEST, Seen};

/// Parts that the seeds are played in.
const PARTS: u64 = 4;

/// What every part must meet, and how often: a third of what it meets, so that a change of the plan is noticed and a change of
/// its dice is not.
const MET: [(Seen, u64); 24] = [
    (Seen::ClassEnded, 50),
    (Seen::Kill, 30),
    (Seen::KillWithAnswersInFlight, 8),
    (Seen::KillBetweenAppendAndAck, 8),
    (Seen::KillAfterAppendKept, 4),
    (Seen::KillDuringSnapshot, 1),
    (Seen::Restore, 30),
    (Seen::RestoreOfOpenQuestion, 15),
    (Seen::Stop, 1),
    (Seen::RequestLost, 5),
    (Seen::AnswerLost, 5),
    (Seen::LateWrite, 5),
    (Seen::WriteOfTheDead, 3),
    (Seen::RepeatedAppend, 2),
    (Seen::StaleSnapshot, 1),
    (Seen::OutOfMemory, 8),
    (Seen::Unreachable, 5),
    (Seen::Emptied, 5),
    (Seen::Rewritten, 4),
    (Seen::AckUnsaved, 25),
    (Seen::FrameUnsaved, 100),
    (Seen::AckSavedLater, 20),
    (Seen::AnswerResent, 20),
    (Seen::AnswerRefused, 10),
];

/// What is rarer, and must be met by all parts together; each part asks for its own, as parts may run in processes of their own.
const MET_BY_PART: [&[Seen]; 4] = [
    &[Seen::KillDuringRestore],
    &[Seen::TornAppend],
    &[Seen::GameLost],
    &[Seen::ResultRepeated],
];

fn part(number: u64, rare: &[Seen]) {
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
    for (seen, least) in MET.into_iter().chain(rare.iter().map(|seen| (*seen, 1))) {
        let count = coverage.of(seen);
        assert!(
            count >= least,
            "{seen:?} {count} times; {least} at least: {coverage:?}"
        );
    }
}

#[test]
fn seeds_of_part_0_hold() {
    part(0, MET_BY_PART[0]);
}

#[test]
fn seeds_of_part_1_hold() {
    part(1, MET_BY_PART[1]);
}

#[test]
fn seeds_of_part_2_hold() {
    part(2, MET_BY_PART[2]);
}

#[test]
fn seeds_of_part_3_hold() {
    part(3, MET_BY_PART[3]);
}
