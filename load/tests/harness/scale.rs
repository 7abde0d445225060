//! A server comes and goes: one whose games move once, when it goes, passes; others do not.

use load::plan::Pace;
use load::report::{Console, Outcome};
use load::scenario::scale::{self, Timing};

use crate::fake::{Fake, Fault};
use crate::support::failing;

const PACE: Pace = Pace {
    name: "test",
    join_over_ms: 60,
    answer_ms: (5, 120),
    results_ms: (200, 300),
    close_after_ms: Some(300),
};

const TIMING: Timing = Timing {
    cycles: 1,
    classes: 4,
    spread_ms: 100,
    calm_ms: 300,
};

/// Questions: the games last longer than both halves take to begin.
const QUESTIONS: u16 = 12;

fn play(fault: Fault) -> Outcome {
    let mut fake = Fake::start(fault);
    let plan = TIMING.plan(3, 8, PACE, QUESTIONS);
    let targets = fake.target().into();
    scale::run(&targets, &plan, TIMING, &mut fake, &mut Console::silent()).expect("carried out")
}

#[test]
fn games_that_move_once_pass() {
    let outcome = play(Fault::None);
    assert_eq!(failing(&outcome), Vec::<String>::new(), "{}", outcome.figures);
    let figures = &outcome.figures;
    assert_eq!(figures["games_moved"], 4, "{figures}");
    assert_eq!(figures["cut_off_by_shrinking"], 4 * 9, "{figures}");
    assert_eq!(figures["without_service"]["count"], 4, "{figures}");
}

#[test]
fn games_that_move_too_often_or_too_soon_do_not_pass() {
    let twice = failing(&play(Fault::MovesTwice));
    assert!(
        twice
            .iter()
            .any(|f| f.starts_with("games moved more than once = ")),
        "{twice:?}"
    );
    let soon = failing(&play(Fault::MovesAtGrowing));
    for what in [
        "games moved by a server that came = 2",
        "members cut off by a server that came = 18",
    ] {
        assert!(soon.contains(&what.to_owned()), "{what}: {soon:?}");
    }
}
