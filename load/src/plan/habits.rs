//! What students do besides joining in time and answering once: they come late, tap twice, reload, lose their network,
//! read slowly. Drawn from the same seed as everything else.

use super::behaviour::Plan;
use super::draw::Subject;

/// How many students in a hundred do what, at each question unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// Their name in results.
    pub name: &'static str,
    /// Come late, once a game.
    pub late_percent: u32,
    /// Come late by at most this time, in milliseconds.
    pub late_ms_max: u32,
    /// Tap an answer twice.
    pub double_tap_percent: u32,
    /// Reload the page while the question is open.
    pub reload_percent: u32,
    /// Lose the network while the question is open.
    pub lost_network_percent: u32,
    /// Stop reading for a while.
    pub slow_percent: u32,
    /// Lose the network, or read nothing, for at least and at most this time, in milliseconds.
    pub away_ms: (u32, u32),
}

impl Habits {
    /// Students who do as they are told.
    pub const NONE: Self = Self {
        name: "none",
        late_percent: 0,
        late_ms_max: 0,
        double_tap_percent: 0,
        reload_percent: 0,
        lost_network_percent: 0,
        slow_percent: 0,
        away_ms: (0, 0),
    };

    /// Like a class with phones of its own: of 30 students one or two come late and one taps twice at each question; one
    /// in a hundred reloads, loses the network, or has a phone that sleeps for some seconds.
    pub const SCHOOL: Self = Self {
        name: "school",
        late_percent: 5,
        late_ms_max: 60_000,
        double_tap_percent: 3,
        reload_percent: 1,
        lost_network_percent: 1,
        slow_percent: 1,
        away_ms: (2_000, 8_000),
    };

    /// The same habits at a pace that is ten times as fast.
    pub const SCHOOL_FAST: Self = Self {
        name: "school fast",
        late_ms_max: 6_000,
        away_ms: (200, 800),
        ..Self::SCHOOL
    };
}

/// Something that happens to a student at a question; times count from the moment the question is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mishap {
    /// The answer is sent again this many milliseconds after it was sent.
    DoubleTap {
        /// From the first tap to the second, in milliseconds.
        after_ms: u32,
    },
    /// The socket is dropped and a new one opened at once.
    Reload {
        /// When, in milliseconds.
        after_ms: u32,
    },
    /// The socket is dropped, and a new one opened later.
    LostNetwork {
        /// When, in milliseconds.
        after_ms: u32,
        /// For how long, in milliseconds.
        for_ms: u32,
    },
    /// Nothing is read from the socket.
    SlowReader {
        /// For how long, in milliseconds.
        for_ms: u32,
    },
}

/// Fingers are at least and at most this far apart when they tap twice, in milliseconds.
const DOUBLE_TAP_MS: (u32, u32) = (20, 300);

impl Mishap {
    /// For the plan's hash.
    pub(super) fn bits(self) -> u64 {
        let (kind, first, second) = match self {
            Self::DoubleTap { after_ms } => (1, after_ms, 0),
            Self::Reload { after_ms } => (2, after_ms, 0),
            Self::LostNetwork { after_ms, for_ms } => (3, after_ms, for_ms),
            Self::SlowReader { for_ms } => (4, 0, for_ms),
        };
        kind << 60 ^ u64::from(first) << 32 ^ u64::from(second)
    }
}

impl Plan {
    /// How late student `student` comes, in milliseconds; 0 for one who is in time.
    #[must_use]
    pub fn late_by_ms(&self, class: u32, student: u32) -> u32 {
        let (draw, habits) = (self.draw(), &self.habits);
        if draw.between((Subject::Late, class, student, 0), 0, 99) >= habits.late_percent {
            return 0;
        }
        draw.between((Subject::Late, class, student, 1), 1, habits.late_ms_max)
    }

    /// What happens to student `student` at question `q` (from 1). At most one of the mishaps that touch the socket.
    pub fn mishaps(&self, class: u32, student: u32, q: u16) -> impl Iterator<Item = Mishap> + use<> {
        let (draw, habits) = (self.draw(), self.habits);
        let number = u32::from(q) * 4;
        let between = move |subject, index, (low, high)| {
            draw.between((subject, class, student, number + index), low, high)
        };
        let happens = move |subject, percent| percent > 0 && between(subject, 0, (0, 99)) < percent;
        let when = (self.pace.answer_ms.0 / 2, self.pace.answer_ms.1);
        let double_tap = happens(Subject::DoubleTap, habits.double_tap_percent).then(|| Mishap::DoubleTap {
            after_ms: between(Subject::DoubleTap, 1, DOUBLE_TAP_MS),
        });
        let socket = if happens(Subject::Reload, habits.reload_percent) {
            Some(Mishap::Reload {
                after_ms: between(Subject::Reload, 1, when),
            })
        } else if happens(Subject::LostNetwork, habits.lost_network_percent) {
            Some(Mishap::LostNetwork {
                after_ms: between(Subject::LostNetwork, 1, when),
                for_ms: between(Subject::LostNetwork, 2, habits.away_ms),
            })
        } else if happens(Subject::SlowReader, habits.slow_percent) {
            Some(Mishap::SlowReader {
                for_ms: between(Subject::SlowReader, 1, habits.away_ms),
            })
        } else {
            None
        };
        double_tap.into_iter().chain(socket)
    }

    /// How long a client waits before its `attempt`th try (from 0) to connect again, in milliseconds: between 0.2 s and a
    /// bound that doubles from 0.4 s to 5 s, as the product's pages do. `turn` tells one loss of a socket from the next.
    #[must_use]
    pub fn backoff_ms(&self, class: u32, student: u32, turn: u32, attempt: u32) -> u32 {
        let bound = BACKOFF_MS
            .0
            .saturating_mul(2 << attempt.min(BACKOFF_DOUBLINGS_MAX))
            .min(BACKOFF_MS.1);
        let index = turn.saturating_mul(64).saturating_add(attempt.min(63));
        self.draw()
            .between((Subject::Backoff, class, student, index), BACKOFF_MS.0, bound)
    }
}

/// Shortest wait before connecting again, and the last bound of the longest, in milliseconds.
const BACKOFF_MS: (u32, u32) = (200, 5_000);
/// Doublings after which the last bound is reached: 0.4 s times 2^4 is above 5 s.
const BACKOFF_DOUBLINGS_MAX: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Pace;

    fn plan(habits: Habits) -> Plan {
        Plan {
            habits,
            ..Plan::new(5, Pace::LESSON, 20, vec![500])
        }
    }

    fn all(plan: &Plan) -> Vec<Mishap> {
        let keys = (0..500).flat_map(|student| (1..=20).map(move |q| (student, q)));
        keys.flat_map(|(student, q)| plan.mishaps(0, student, q))
            .collect()
    }

    #[test]
    fn students_without_habits_have_no_mishaps() {
        assert_eq!(all(&plan(Habits::NONE)), []);
        assert!((0..500).all(|s| plan(Habits::NONE).late_by_ms(0, s) == 0));
    }

    #[test]
    fn shares_are_as_documented() {
        let plan = plan(Habits::SCHOOL);
        let mishaps = all(&plan);
        let count = |is: fn(&Mishap) -> bool| mishaps.iter().filter(|m| is(m)).count();
        // 10,000 draws: five standard deviations around 300 and 100.
        let taps = count(|m| matches!(m, Mishap::DoubleTap { .. }));
        assert!((215..=385).contains(&taps), "{taps} double taps");
        for n in [
            count(|m| matches!(m, Mishap::Reload { .. })),
            count(|m| matches!(m, Mishap::LostNetwork { .. })),
            count(|m| matches!(m, Mishap::SlowReader { .. })),
        ] {
            assert!((50..=150).contains(&n), "{n} in {mishaps:?}");
        }
        let late = (0..500).filter(|&s| plan.late_by_ms(0, s) > 0).count();
        assert!((5..=50).contains(&late), "{late} late");
    }

    #[test]
    fn waits_double_up_to_their_bound() {
        let plan = plan(Habits::NONE);
        for (attempt, bound) in [
            (0, 400),
            (1, 800),
            (2, 1_600),
            (3, 3_200),
            (4, 5_000),
            (40, 5_000),
        ] {
            let waits: Vec<u32> = (0..200).map(|s| plan.backoff_ms(0, s, 1, attempt)).collect();
            let longest = waits.iter().copied().max().unwrap_or(0);
            assert!(longest <= bound && longest > bound / 2, "{attempt}: {longest}");
            assert!(waits.iter().all(|&ms| ms >= 200), "{attempt}");
        }
    }

    #[test]
    fn habits_are_part_of_the_hash() {
        assert_ne!(plan(Habits::NONE).hash(), plan(Habits::SCHOOL).hash());
    }
}
