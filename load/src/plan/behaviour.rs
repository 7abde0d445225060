//! The behaviour model: who does what and when.

use super::draw::{Draw, Subject, fold, mix};
use super::habits::Habits;
use super::quiz::{CHOICES, reference_correct};
use super::segment::Segment;

/// How fast a class plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Its name in results.
    pub name: &'static str,
    /// Students join over this time, in milliseconds.
    pub join_over_ms: u32,
    /// A student answers after at least and at most this time from seeing the question, in milliseconds.
    pub answer_ms: (u32, u32),
    /// The host stays on results for at least and at most this time, in milliseconds.
    pub results_ms: (u32, u32),
    /// The host closes a question after this time, in milliseconds; none leaves it to the deadline.
    pub close_after_ms: Option<u32>,
}

impl Pace {
    /// Like a lesson: answers after 2 to 15 s, results for 3 to 7 s, joining over 30 s.
    pub const LESSON: Self = Self {
        name: "lesson",
        join_over_ms: 30_000,
        answer_ms: (2_000, 15_000),
        results_ms: (3_000, 7_000),
        close_after_ms: None,
    };

    /// For a quick run: the same class in a fraction of the time. Answers after 0.1 to 1 s; the host closes after 2 s,
    /// because some students never answer and the deadline would be waited for.
    pub const FAST: Self = Self {
        name: "fast",
        join_over_ms: 2_000,
        answer_ms: (100, 1_000),
        results_ms: (300, 700),
        close_after_ms: Some(2_000),
    };
}

/// Students in a hundred who do not answer a question.
const NEVER_PERCENT: u32 = 5;
/// Students in a hundred who know the answer.
const KNOWS_PERCENT: u32 = 60;

/// A planned answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerPlan {
    /// Milliseconds from seeing the question to the tap.
    pub after_ms: u32,
    /// The choice, from 0.
    pub choice: u8,
}

/// The plan of a run: classes of given sizes playing the first questions of the reference quiz.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The seed; the same seed and sizes give the same plan everywhere.
    pub seed: u64,
    /// How fast they play.
    pub pace: Pace,
    /// Questions played; 0 for a class that stays in the lobby.
    pub questions: u16,
    /// Students of each class.
    pub sizes: Vec<u32>,
    /// What students do besides joining and answering.
    pub habits: Habits,
    /// The part of the classes that this process plays; no part of the hash.
    pub segment: Segment,
}

impl Plan {
    /// A plan of classes without habits, played by one process.
    #[must_use]
    pub const fn new(seed: u64, pace: Pace, questions: u16, sizes: Vec<u32>) -> Self {
        Self {
            seed,
            pace,
            questions,
            sizes,
            habits: Habits::NONE,
            segment: Segment::WHOLE,
        }
    }

    pub(super) const fn draw(&self) -> Draw {
        Draw::new(self.seed)
    }

    /// Whether `class` is played by this process.
    #[must_use]
    pub fn is_mine(&self, class: u32) -> bool {
        self.segment.has(class)
    }

    /// The classes that this process plays, in the plan's order.
    pub fn my_classes(&self) -> impl Iterator<Item = u32> + '_ {
        (0..crate::sys::small(self.sizes.len())).filter(|&class| self.is_mine(class))
    }

    /// Students of the classes that this process plays.
    #[must_use]
    pub fn my_students(&self) -> u64 {
        self.my_classes().map(|class| u64::from(self.size(class))).sum()
    }

    /// Students of `class`; 0 for a class that is not in the plan.
    #[must_use]
    pub fn size(&self, class: u32) -> u32 {
        self.sizes.get(crate::sys::index(class)).copied().unwrap_or(0)
    }

    /// When student `student` joins, in microseconds from the class's opening.
    #[must_use]
    pub fn join_after_us(&self, class: u32, student: u32) -> u32 {
        let span_us = self.pace.join_over_ms.saturating_mul(1_000);
        let in_time = self
            .draw()
            .between((Subject::Join, class, student, 0), 0, span_us);
        in_time.saturating_add(self.late_by_ms(class, student).saturating_mul(1_000))
    }

    /// How student `student` answers question `q` (from 1); none means not at all.
    #[must_use]
    pub fn answer(&self, class: u32, student: u32, q: u16) -> Option<AnswerPlan> {
        let draw = self.draw();
        let key = |subject| (subject, class, student, u32::from(q));
        if draw.between(key(Subject::Answers), 0, 99) < NEVER_PERCENT {
            return None;
        }
        let (fastest, slowest) = self.pace.answer_ms;
        let correct = reference_correct(q);
        let choice = if draw.between(key(Subject::Knows), 0, 99) < KNOWS_PERCENT {
            correct
        } else {
            let step = draw.between(key(Subject::Wrong), 1, u32::from(CHOICES) - 1);
            (correct + u8::try_from(step).unwrap_or(1)) % CHOICES
        };
        Some(AnswerPlan {
            after_ms: draw.between(key(Subject::Delay), fastest, slowest),
            choice,
        })
    }

    /// How long the host of `class` stays on the results of question `q`, in milliseconds.
    #[must_use]
    pub fn results_ms(&self, class: u32, q: u16) -> u32 {
        let (shortest, longest) = self.pace.results_ms;
        self.draw()
            .between((Subject::Results, class, 0, u32::from(q)), shortest, longest)
    }

    /// The symbols of the code for `class`, as positions below `alphabet`; `attempt` counts codes that were taken.
    #[must_use]
    pub fn code_positions(&self, class: u32, attempt: u32, alphabet: u32) -> [u32; 6] {
        std::array::from_fn(|i| {
            let index = attempt.saturating_mul(6).saturating_add(crate::sys::small(i));
            self.draw()
                .between((Subject::Code, class, 0, index), 0, alphabet.saturating_sub(1))
        })
    }

    /// A hash of everything the plan decides. Classes are hashed apart and then folded in their order, so every process
    /// of a segmented run prints the same.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let classes = (0..).zip(&self.sizes);
        classes.fold(mix(self.seed), |h, (class, &size)| {
            fold(h, self.class_hash(class, size))
        })
    }

    fn class_hash(&self, class: u32, size: u32) -> u64 {
        let mut h = fold(u64::from(class), u64::from(size));
        for q in 1..=self.questions {
            h = fold(h, u64::from(self.results_ms(class, q)));
            h = fold(h, self.pace.close_after_ms.map_or(u64::MAX, u64::from));
        }
        for student in 0..size {
            h = fold(h, u64::from(self.join_after_us(class, student)));
            for q in 1..=self.questions {
                let answer = self.answer(class, student, q);
                h = fold(
                    h,
                    answer.map_or(u64::MAX, |a| u64::from(a.after_ms) << 8 | u64::from(a.choice)),
                );
                // A plan without habits keeps the hash that it had before there were any.
                for mishap in self.mishaps(class, student, q) {
                    h = fold(h, mishap.bits());
                }
            }
        }
        h
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(seed: u64, pace: Pace) -> Plan {
        Plan::new(seed, pace, 20, vec![30, 50])
    }

    #[test]
    fn the_hash_is_the_plans_alone() {
        let a = plan(1, Pace::FAST);
        assert_eq!(a.hash(), plan(1, Pace::FAST).hash());
        assert_ne!(a.hash(), plan(2, Pace::FAST).hash());
        assert_ne!(a.hash(), plan(1, Pace::LESSON).hash());
        assert_ne!(
            a.hash(),
            Plan {
                sizes: vec![50, 30],
                ..a.clone()
            }
            .hash()
        );
        assert_ne!(
            a.hash(),
            Plan {
                questions: 19,
                ..a.clone()
            }
            .hash()
        );
    }

    #[test]
    fn shares_are_as_documented() {
        let plan = Plan::new(9, Pace::LESSON, 20, vec![500]);
        let answers: Vec<_> = (0..500)
            .flat_map(|s| (1..=20).map(move |q| (s, q)))
            .map(|(s, q)| (q, plan.answer(0, s, q)))
            .collect();
        let never = answers.iter().filter(|(_, a)| a.is_none()).count();
        let right = answers
            .iter()
            .filter(|(q, a)| a.is_some_and(|a| a.choice == reference_correct(*q)))
            .count();
        // 10,000 draws: 500 and 5,700 expected, five standard deviations around them.
        assert!((390..=610).contains(&never), "{never} never answer");
        assert!((5_450..=5_950).contains(&right), "{right} are right");
    }

    #[test]
    fn the_hash_is_pinned() {
        // As the first release printed it, so that stored results stay comparable.
        assert_eq!(plan(1, Pace::FAST).hash(), 0xd667_4ef7_fc82_a811);
    }

    proptest! {
        #[test]
        fn answers_keep_their_bounds(seed: u64, class: u32, student: u32, q in 1u16..=20) {
            let plan = plan(seed, Pace::LESSON);
            let again = plan.answer(class, student, q);
            prop_assert_eq!(again, plan.answer(class, student, q));
            if let Some(answer) = again {
                prop_assert!((2_000..=15_000).contains(&answer.after_ms) && answer.choice < CHOICES);
            }
            prop_assert!((3_000..=7_000).contains(&plan.results_ms(class, q)));
            prop_assert!(plan.join_after_us(class, student) <= 30_000_000);
            prop_assert!(plan.code_positions(class, 3, 30).iter().all(|&p| p < 30));
        }
    }
}
