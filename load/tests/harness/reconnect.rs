//! Everybody drops and comes back.

use load::plan::{Pace, Plan};
use load::report::Console;
use load::scenario::reconnect::{self, Timing};

use crate::fake::{Fake, Fault};
use crate::support::failing;

const PACE: Pace = Pace {
    name: "test",
    join_over_ms: 40,
    answer_ms: (5, 200),
    results_ms: (20, 50),
    close_after_ms: Some(400),
};

const TIMING: Timing = Timing {
    classes_per_s: 100,
    drop_after_ms: 60,
    back_ms_max: 5_000,
};

#[test]
fn everybody_is_back_and_nothing_is_lost() {
    let fake = Fake::start(Fault::None);
    let plan = Plan::new(1, PACE, reconnect::QUESTIONS, vec![12, 12, 12]);
    let outcome =
        reconnect::run(&fake.target().into(), &plan, TIMING, &mut Console::silent()).expect("carried out");
    assert_eq!(failing(&outcome), Vec::<String>::new(), "{}", outcome.figures);
    let figures = &outcome.figures;
    assert_eq!(
        (&figures["dropped"], &figures["never_back"]),
        (&39.into(), &0.into()),
        "36 players and 3 hosts"
    );
    assert_eq!(figures["back"]["count"], 39);
    assert!(
        figures["in_flight"].is_u64() && figures["ledger"]["acked"].as_u64().is_some_and(|n| n > 80),
        "{figures}"
    );
}
