//! Merging knows no order, loses nothing, and refuses what is not of one run.

use proptest::prelude::*;
use proptest::sample::Index;

use super::samples::{record, times};
use super::*;
use crate::measure::{FaultKind, Faults, Micros, PackedMicros};
use crate::report::{Figure, Judgement, Sample, Window};

/// What one segment saw; few names, so that segments share some.
#[derive(Debug, Clone)]
struct Seen {
    counts: Vec<(u8, u32)>,
    us: Vec<u64>,
    points: Vec<(u64, u32)>,
    faults: Vec<u8>,
    used: Vec<(u8, u64, u64)>,
    hold: (u64, u64),
    peak: f64,
}

fn seen() -> impl Strategy<Value = Seen> {
    let counts = prop::collection::vec((0u8..3, any::<u32>()), 0..4);
    let us = prop::collection::vec(0u64..700_000_000, 0..20);
    let points = prop::collection::vec((1u64..4, any::<u32>()), 0..4);
    let faults = prop::collection::vec(any::<u8>(), 0..40);
    let used = prop::collection::vec((0u8..2, 0u64..5, 0u64..1_000), 0..6);
    let hold = (0u64..9, 0u64..9);
    (counts, us, points, faults, used, hold, 0.0f64..1e6).prop_map(
        |(counts, us, points, faults, used, hold, peak)| Seen {
            counts,
            us,
            points,
            faults,
            used,
            hold,
            peak,
        },
    )
}

fn segment(number: u32, of: u32, seen: &Seen) -> Record {
    let mut record = record(number, of);
    let measured = &mut record.measured;
    for &(name, n) in &seen.counts {
        measured.count(&format!("count {name}"), u64::from(n));
        measured.zero("lost", u64::from(n % 2));
    }
    measured.times("fan_out", "hold", &times(&seen.us));
    for &us in &seen.us {
        measured.second("fan_out", us % 3, &PackedMicros::from(&times(&[us])));
    }
    for &(size, bytes) in &seen.points {
        measured.point("bytes", size, u64::from(bytes));
    }
    let mut faults = Faults::default();
    for &n in &seen.faults {
        faults.add(FaultKind::Gap, || format!("player {n}"));
    }
    measured.faults(&faults);
    for &(process, second, cpu_us) in &seen.used {
        let sample = Sample {
            cpu_us,
            ..Sample::default()
        };
        measured
            .resources
            .enter(&format!("game-{process}"), second, sample);
    }
    let (from_s, upto_s) = seen.hold;
    let window = Window {
        from_s,
        upto_s,
        classes: 4,
    };
    measured.windows.insert("hold".to_owned(), window);
    measured.peak("memory", seen.peak);
    record
}

fn json(record: &Record) -> String {
    record.to_json().expect("JSON")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn order_and_grouping_do_not_matter(
        parts in prop::collection::vec(seen(), 6), order in Just((0..6usize).collect::<Vec<_>>()).prop_shuffle(), cut in any::<Index>(),
    ) {
        let records: Vec<_> = (1..).zip(&parts).map(|(number, seen)| segment(number, 6, seen)).collect();
        let in_turn = all(records.clone()).expect("one run");
        let shuffled: Vec<_> = order.iter().map(|&i| records[i].clone()).collect();
        let cut = 1 + cut.index(5);
        let (left, right) = (all(shuffled[..cut].to_vec()), all(shuffled[cut..].to_vec()));
        let grouped = two(right.expect("one run"), left.expect("one run")).expect("one run");
        prop_assert_eq!(json(&grouped), json(&in_turn));
        prop_assert_eq!(&grouped, &in_turn);
    }

    #[test]
    fn nothing_is_lost(parts in prop::collection::vec(seen(), 1..5)) {
        let of = u32::try_from(parts.len()).expect("few");
        let merged = all((1..).zip(&parts).map(|(number, seen)| segment(number, of, seen))).expect("one run");
        let sum: u64 = parts.iter().flat_map(|p| &p.counts).filter(|(name, _)| *name == 1).map(|&(_, n)| u64::from(n)).sum();
        prop_assert_eq!(merged.measured.counts.get("count 1").copied().unwrap_or(0), sum);
        let us: Vec<u64> = parts.iter().flat_map(|p| p.us.clone()).collect();
        prop_assert_eq!(&merged.measured.times["fan_out"]["hold"], &times(&us));
        let by_second: u64 = merged.measured.seconds.get("fan_out").into_iter().flat_map(|s| s.values()).map(|packed| Micros::from(packed.clone()).count()).sum();
        prop_assert_eq!(by_second, crate::sys::count(us.len()));
        prop_assert!(merged.is_whole() && Judgement::of(&merged).passed.is_some());
        let read: Record = serde_json::from_str(&json(&merged)).expect("read");
        prop_assert_eq!(read, merged);
    }
}

/// Why segment 2 is refused after `change`.
fn refusal(change: impl FnOnce(&mut Record)) -> String {
    let mut other = record(2, 2);
    change(&mut other);
    two(record(1, 2), other).expect_err("refused").to_string()
}

#[test]
fn what_is_not_of_one_run_is_refused() {
    assert!(refusal(|r| r.plan.hash = "0123".to_owned()).contains("plan's hash"));
    assert!(refusal(|r| r.schema_version += 1).contains("schema version"));
    assert!(refusal(|r| r.hardware.cores += 1).contains("hardware"));
    assert!(refusal(|r| r.hardware.kernel = "7.0".to_owned()).contains("kernel 7.0"));
    assert!(refusal(|r| r.scenario = "idle".to_owned()).contains("scenario"));
    assert!(refusal(|r| r.segments_of = 3).contains("number of segments"));
    assert_eq!(two(record(1, 2), record(1, 2)), Err(MergeError::Twice(1)));
    assert_eq!(all([]), Err(MergeError::Nothing));
}

#[test]
fn a_segment_of_another_day_is_refused() {
    let yesterday = |r: &mut Record| {
        let segment = r.segments.get_mut(&2).expect("segment 2");
        (segment.begun_unix_ms, segment.ended_unix_ms) = (10, 900);
    };
    assert_eq!(
        refusal(yesterday),
        "not of one run: segment 2 had ended when segment 1 began"
    );
}

#[test]
fn thresholds_are_judged_on_the_merged_set_only() {
    let part = |number, lost| {
        let mut part = record(number, 2);
        part.measured.count("lost", lost);
        let figure = Figure::Count {
            name: "lost".to_owned(),
        };
        part.measured.bar("lost", figure, 5.0, "");
        part
    };
    let (one, other) = (part(1, 3), part(2, 4));
    assert_eq!(Judgement::of(&one).passed, None);
    let merged = two(one, other).expect("one run");
    let judgement = Judgement::of(&merged);
    assert_eq!(
        (judgement.passed, judgement.checks[0].measured),
        (Some(false), Some(7.0))
    );
}

#[test]
fn programs_that_judge_differently_do_not_merge() {
    let part = |number, limit| {
        let mut part = record(number, 2);
        part.measured.bar("p95", Figure::Faults, limit, "ms");
        part
    };
    assert!(two(part(1, 5.0), part(2, 6.0)).is_err());
}

#[test]
fn times_of_nobody_keep_no_limit() {
    let mut whole = record(1, 1);
    let figure = Figure::Percentile {
        name: "join".to_owned(),
        phase: "hold".to_owned(),
        percent: 95.0,
    };
    whole.measured.bar("join p95", figure, 500.0, "ms");
    whole.measured.times("join", "hold", &Micros::default());
    let judgement = Judgement::of(&whole);
    assert_eq!(judgement.passed, Some(false), "{:?}", judgement.checks);
}
