//! Lobbies: every socket is counted, and one that dies is missed.

use load::client::Target;
use load::plan::{Pace, Plan};
use load::report::{Console, Outcome};
use load::scenario::idle::{self, Timing};

use crate::fake::{Fake, Fault};

const TIMING: Timing = Timing {
    connects_per_s: 500,
    look_ms: 20,
    hold_ms: 50,
    ask_over_ms: 20,
};

/// Fills a lobby of 20 and one of 5. The scripted server lives in this very process, so that its memory is the
/// harness's own and only counts and faults are looked at.
fn sit(fault: Fault) -> Outcome {
    sit_with(fault, &[std::process::id()])
}

fn sit_with(fault: Fault, pids: &[u32]) -> Outcome {
    let fake = Fake::start(fault);
    let target: Target = format!("http://{}", fake.address).parse().expect("target");
    let plan = Plan::new(1, Pace::FAST, 0, vec![20, 5]);
    idle::run(&target.into(), &plan, pids, TIMING, &mut Console::silent()).expect("carried out")
}

fn failing(outcome: &Outcome) -> Vec<String> {
    // Threads of the scripted server cost more than any bar allows.
    let counts = outcome
        .checks()
        .into_iter()
        .filter(|c| c.fails() && c.unit.is_empty());
    counts
        .map(|c| format!("{} = {}", c.name, c.measured.unwrap_or(f64::NAN)))
        .collect()
}

#[test]
fn every_socket_joins_and_answers() {
    let outcome = sit(Fault::None);
    assert_eq!(failing(&outcome), Vec::<String>::new(), "{}", outcome.figures);
    assert_eq!(outcome.figures["joined"], 25);
    assert_eq!(outcome.figures["alive"], 25);
    assert_eq!(outcome.figures["join"]["count"], 25);
    assert_eq!(outcome.figures["counted_by_server"], 25);
}

#[test]
fn all_processes_that_hold_the_sockets_are_measured() {
    let own = std::process::id();
    let kib = |pids: &[u32]| {
        let outcome = sit_with(Fault::None, pids);
        outcome.figures["server_before_kib"].as_u64().expect("KiB")
    };
    let (one, two) = (kib(&[own]), kib(&[own, own]));
    assert!(two > one + one / 2, "{one} KiB and {two} KiB");
    let gone = idle::run(
        &Fake::start(Fault::None).target().into(),
        &Plan::new(1, Pace::FAST, 0, vec![1]),
        &[own, u32::MAX],
        TIMING,
        &mut Console::silent(),
    );
    assert!(gone.is_err(), "one of them cannot be read");
}

#[test]
fn a_socket_that_dies_in_the_lobby_is_missed() {
    let outcome = sit(Fault::CutInLobby);
    assert_eq!(
        failing(&outcome),
        ["faults seen by clients = 2", "sockets dead after the hold = 2"]
    );
    assert_eq!(outcome.figures["faults"], serde_json::json!({"lost": 2}));
}

#[test]
fn refused_sockets_fail_the_run() {
    let outcome = sit(Fault::RefusedJoins);
    assert_eq!(outcome.figures["joined"], 13);
    assert!(failing(&outcome).contains(&"sockets not joined = 12".to_owned()));
}
