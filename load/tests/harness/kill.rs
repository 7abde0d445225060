//! Kills: a server that keeps everything passes, one that forgets a single answer does not.

use load::plan::Pace;
use load::report::{Console, Outcome};
use load::scenario::kill::{self, Blow, Timing};

use crate::fake::{Fake, Fault};
use crate::support::failing;

const PACE: Pace = Pace {
    name: "test",
    join_over_ms: 60,
    answer_ms: (5, 120),
    results_ms: (20, 60),
    close_after_ms: Some(300),
};

const TIMING: Timing = Timing {
    blow: Blow::Kill,
    kills: 4,
    classes: 2,
    spread_ms: 0,
    gap_ms_max: 400,
    back_ms_max: 4_000,
    settle_ms_max: 5_000,
    game_ms_max: 10_000,
};

fn play(fault: Fault, timing: Timing) -> Outcome {
    let mut fake = Fake::start(fault);
    let plan = timing.plan(3, 12, PACE, 5);
    let targets = fake.target().into();
    kill::run(&targets, &plan, timing, &mut fake, &mut Console::silent()).expect("carried out")
}

#[test]
fn a_server_that_keeps_everything_passes() {
    let outcome = play(Fault::None, TIMING);
    assert_eq!(failing(&outcome), Vec::<String>::new(), "{}", outcome.figures);
    let figures = &outcome.figures;
    assert_eq!(figures["kills"], 4);
    assert!(figures["cut_off"].as_u64().is_some_and(|n| n > 0), "{figures}");
    assert!(
        figures["back"]["count"].as_u64().is_some_and(|n| n > 0),
        "{figures}"
    );
}

#[test]
fn an_answer_forgotten_at_a_kill_is_found() {
    // One kill in the middle of the game, so that one answer of each of the two games is gone.
    let timing = Timing {
        kills: 1,
        gap_ms_max: 1_400,
        ..TIMING
    };
    let outcome = play(Fault::ForgetsOne, timing);
    assert_eq!(outcome.figures["ledger"]["lost"], 2, "{}", outcome.figures);
    let failing = failing(&outcome);
    assert!(failing.contains(&"answers lost = 2".to_owned()), "{failing:?}");
}

#[test]
fn a_join_may_be_taken_back_that_was_never_said_to_be_saved() {
    let timing = Timing { kills: 1, ..TIMING };
    let outcome = play(Fault::TakesAJoinBack, timing);
    assert_eq!(failing(&outcome), Vec::<String>::new(), "{}", outcome.figures);
    assert_eq!(outcome.figures["joins_taken_back"], 2, "one in each game");

    let outcome = play(Fault::LosesAJoin, timing);
    let failing = failing(&outcome);
    for what in ["faults seen by clients", "members not back = 2"] {
        assert!(failing.iter().any(|f| f.starts_with(what)), "{what}: {failing:?}");
    }
}

#[test]
fn games_that_are_gone_fail_the_run_and_say_why() {
    let timing = Timing {
        kills: 2,
        gap_ms_max: 1_400,
        back_ms_max: 500,
        ..TIMING
    };
    let outcome = play(Fault::ForgetsAll, timing);
    let failing = failing(&outcome);
    for what in [
        "members not back",
        "games without a report = 2",
        "kills not carried out = 1",
        "answers lost",
    ] {
        assert!(failing.iter().any(|f| f.starts_with(what)), "{what}: {failing:?}");
    }
    let why = outcome.figures["why_away"].as_str().expect("words");
    assert!(why.contains("does not know the game any more"), "{why}");
}
