//! The formula of points, at its ends, between them and at every width that can occur.

use super::{POINTS_MAX, SPEED_POINTS_MAX, Scoring};
use crate::limits::{TIME_MS_MAX, TIME_MS_MIN};

#[test]
fn speed_falls_from_1000_at_once_to_500_at_the_deadline() {
    let cases = [
        (0, 1_000),
        (5_000, 875),
        (10_000, 750),
        (15_000, 625),
        (20_000, 500),
    ];
    for (elapsed_ms, points) in cases {
        assert_eq!(
            Scoring::Speed.points(elapsed_ms, 20_000),
            points,
            "after {elapsed_ms} ms"
        );
    }
}

#[test]
fn what_speed_costs_is_rounded_down() {
    // 40 ms of 20 s are one point.
    assert_eq!(Scoring::Speed.points(39, 20_000), 1_000);
    assert_eq!(Scoring::Speed.points(40, 20_000), 999);
    assert_eq!(Scoring::Speed.points(19_999, 20_000), 501);
}

#[test]
fn speed_never_rises_and_stays_within_its_ends() {
    for time_ms in [TIME_MS_MIN, 7_777, 20_000, TIME_MS_MAX] {
        let mut before = POINTS_MAX;
        for elapsed_ms in (0..=time_ms).step_by(7) {
            let points = Scoring::Speed.points(elapsed_ms, time_ms);
            assert!(
                points <= before && points >= POINTS_MAX - SPEED_POINTS_MAX,
                "{elapsed_ms} of {time_ms}"
            );
            before = points;
        }
        assert_eq!(Scoring::Speed.points(time_ms, time_ms), 500);
    }
}

#[test]
fn accuracy_does_not_look_at_the_clock() {
    assert_eq!(Scoring::Accuracy.points(0, 20_000), 1_000);
    assert_eq!(Scoring::Accuracy.points(20_000, 20_000), 1_000);
}

#[test]
fn times_that_cannot_occur_do_no_harm() {
    assert_eq!(Scoring::Speed.points(u32::MAX, 20_000), 500);
    assert_eq!(Scoring::Speed.points(u32::MAX, u32::MAX), 500);
    assert_eq!(Scoring::Speed.points(7, 0), 1_000);
}
