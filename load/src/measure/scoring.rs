//! The harness's own model of scores, written from the rules and not from the servers' code.

/// Points of an answer: nothing when wrong; when correct 1000 at once, falling linearly to 500 at the deadline, what
/// speed costs rounded down. `elapsed_ms` beyond `time_ms` counts as `time_ms`.
#[must_use]
pub fn points(correct: bool, elapsed_ms: u32, time_ms: u32) -> u32 {
    if !correct {
        return 0;
    }
    let share = u128::from(elapsed_ms.min(time_ms)) * 500 / u128::from(time_ms.max(1));
    1_000u32.saturating_sub(u32::try_from(share).unwrap_or(500))
}

/// The place of `total` among `all`: one more than there are better ones, so that equal points share a place.
#[must_use]
pub fn rank(total: u32, all: &[u32]) -> u32 {
    crate::sys::small(all.iter().filter(|&&other| other > total).count()).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_fall_from_1000_to_500() {
        let table = [
            (true, 0, 20_000, 1_000),
            (true, 39, 20_000, 1_000),
            (true, 40, 20_000, 999),
            (true, 10_000, 20_000, 750),
            (true, 10_001, 20_000, 750),
            (true, 19_999, 20_000, 501),
            (true, 20_000, 20_000, 500),
            (true, 20_001, 20_000, 500),
            (true, 1, 7_001, 1_000),
            (true, 7_000, 7_001, 501),
            (true, u32::MAX, 600_000, 500),
            (false, 0, 20_000, 0),
        ];
        for (correct, elapsed_ms, time_ms, expected) in table {
            assert_eq!(
                points(correct, elapsed_ms, time_ms),
                expected,
                "{correct} {elapsed_ms} of {time_ms}"
            );
        }
    }

    #[test]
    fn equal_points_share_a_place() {
        let all = [900, 1_000, 900, 0, 300];
        let ranks: Vec<_> = all.iter().map(|&t| rank(t, &all)).collect();
        assert_eq!(ranks, [2, 1, 2, 5, 4]);
    }
}
