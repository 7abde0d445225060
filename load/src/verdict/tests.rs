//! Made-up readings and what they make of a run. That real ones look like these is shown by `tests/verdicts.sh`.

use super::*;

fn times(us: u64) -> Micros {
    let mut times = Micros::default();
    (0..100).for_each(|_| times.record(us));
    times
}

/// A machine with nothing else to do.
fn quiet() -> Readings {
    Readings {
        own: Own {
            lateness: times(150),
            stamped: 1_000,
            unstamped: 1,
            ..Own::default()
        },
        machine: Machine {
            wake: times(120),
            ran_us: 4_000_000,
            waited_us: 100_000,
            turns: 50_000,
            cores: 2,
            ticks: 6_000,
            ..Machine::default()
        },
        unexpected_restarts: 0,
    }
}

/// The verdict and its first reason after one change to a quiet machine.
fn after(change: impl FnOnce(&mut Readings)) -> (Word, String) {
    let mut readings = quiet();
    change(&mut readings);
    let verdict = Verdict::of([(1, &readings)], false);
    let why = verdict
        .reasons
        .first()
        .map_or_else(String::new, |r| r.why.clone());
    (verdict.word, why)
}

fn assert_invalid(words: &str, change: impl FnOnce(&mut Readings)) {
    let (word, why) = after(change);
    assert!(word == Word::Invalid && why.contains(words), "{word}: {why}");
}

fn assert_degraded(words: &str, change: impl FnOnce(&mut Readings)) {
    let (word, why) = after(change);
    assert!(word == Word::Degraded && why.contains(words), "{word}: {why}");
}

#[test]
fn a_quiet_machine_is_valid() {
    assert_eq!(after(|_| {}), (Word::Valid, String::new()));
}

/// One time among a long run's 100,000.
fn once(us: u64) -> Micros {
    let mut times = Micros::default();
    (0..99_999).for_each(|_| times.record(150));
    times.record(us);
    times
}

#[test]
fn three_seconds_of_a_long_run_spoil_it_though_no_percentile_shows_them() {
    assert_invalid("stood still for 3", |r| r.machine.wake = once(3_000_000));
    assert_invalid("once was late by 3", |r| r.own.lateness = once(3_000_000));
    assert_degraded("stood still for 4", |r| r.machine.wake = once(400_000));
}

#[test]
fn a_wall_clock_that_was_set_spoils_a_run() {
    assert_invalid("was set by 5000 ms", |r| r.machine.clock_stepped_us = 5_000_000);
    assert_degraded("was set by 40 ms", |r| r.machine.clock_stepped_us = 40_000);
}

#[test]
fn what_spoils_a_run_is_named() {
    assert_invalid("p99 40.0 ms", |r| r.own.lateness = times(40_000));
    assert_invalid("never done", |r| r.own.dropped = 1);
    assert_invalid("source port", |r| r.own.no_port = 3);
    assert_invalid("descriptor", |r| r.own.no_descriptor = 1);
    assert_invalid("woken late", |r| r.machine.wake = times(40_000));
    assert_invalid("CPU limit held", |r| r.machine.throttled_periods = 1);
    assert_invalid("0.50 cores", |r| r.machine.limit_cores = Some(0.5));
    assert_invalid("took 90 % of the generator's cores", |r| {
        r.machine.core_ticks = 1_000;
        r.machine.stranger_ticks = 900;
    });
    assert_invalid("hypervisor", |r| r.machine.stolen_ticks = 600);
    assert_invalid("restarts", |r| r.unexpected_restarts = 1);
    assert_invalid("waited for a core 80 %", |r| {
        r.machine.waited_us = 16_000_000;
        r.machine.turns = 4_000;
    });
}

#[test]
fn what_blurs_a_run_is_named() {
    assert_degraded("waited for a core 60 %", |r| {
        r.machine.waited_us = 6_000_000;
        r.machine.turns = 4_000;
    });
    assert_degraded("late", |r| r.own.lateness = times(8_000));
    assert_degraded("stamped only 50.0 %", |r| r.own.unstamped = 1_000);
    assert_degraded("1.50 cores", |r| r.machine.limit_cores = Some(1.5));
    assert_degraded("took 20 %", |r| {
        r.machine.core_ticks = 1_000;
        r.machine.stranger_ticks = 200;
    });
    assert_degraded("hypervisor", |r| r.machine.stolen_ticks = 120);
    assert_degraded("not watched", |r| r.machine.unread = vec!["steal".to_owned()]);
}

#[test]
fn what_does_no_harm_is_no_reason() {
    assert_eq!(after(|r| r.machine.limit_cores = Some(2.0)).0, Word::Valid);
    // Two thirds of the time, but a few microseconds a turn.
    assert_eq!(after(|r| r.machine.waited_us = 8_000_000).0, Word::Valid);
    assert_eq!(after(|r| r.own.unstamped = 0).0, Word::Valid);
}

#[test]
fn the_worst_generator_makes_the_verdict_and_is_named() {
    let mut spoiled = quiet();
    spoiled.own.no_port = 2;
    let verdict = Verdict::of([(1, &quiet()), (2, &spoiled)], true);
    assert_eq!(verdict.word, Word::Invalid);
    assert_eq!(
        verdict
            .reasons
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["INVALID: segment 2: 2 connects failed for want of a source port"]
    );
}
