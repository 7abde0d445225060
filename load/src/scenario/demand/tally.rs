//! What became of calls.

use serde::Serialize;

use super::Phase;
use crate::client::calls::Heard;
use crate::measure::Micros;
use crate::sys::clock::Stamp;
use crate::sys::{index, real};

/// An answer that comes later than this after the call was due is of no use to whoever waits for it, in microseconds: a page has been
/// left or reloaded by then.
pub(in crate::scenario) const GOOD_US_MAX: u64 = 1_000_000;
/// Wrong answers that are described in words.
const EXAMPLES_MAX: usize = 5;

/// What became of the calls of one kind.
#[derive(Debug, Clone, Default, Serialize)]
pub(in crate::scenario) struct Tally {
    /// Calls made.
    pub(in crate::scenario) offered: u64,
    /// Those that were answered as asked.
    pub(in crate::scenario) served: u64,
    /// Those of them that were answered in time to be of use.
    pub(in crate::scenario) good: u64,
    /// Refused for want of capacity, with a time to come back.
    pub(in crate::scenario) refused: u64,
    /// Refused for a limit of the caller's own.
    pub(in crate::scenario) limited: u64,
    /// Refusals that did not say when to come back.
    pub(in crate::scenario) without_a_time: u64,
    /// No answer at all.
    pub(in crate::scenario) unanswered: u64,
    /// An answer that is wrong.
    pub(in crate::scenario) wrong: u64,
    /// From the moment a call was due to its answer, of those that were served.
    #[serde(skip)]
    pub(in crate::scenario) admitted: Micros,
    /// The same of those that were refused for want of capacity.
    #[serde(skip)]
    pub(in crate::scenario) rejected: Micros,
}

/// What became of the calls of a phase.
#[derive(Debug, Clone)]
pub(in crate::scenario) struct PhaseTally {
    /// Its name.
    pub(in crate::scenario) name: String,
    /// How long calls counted, in milliseconds.
    pub(in crate::scenario) measured_ms: u64,
    /// By kind.
    pub(in crate::scenario) kinds: Vec<Tally>,
    /// When the last call was due that was not answered well, of those that count.
    pub(in crate::scenario) last_bad: Option<Stamp>,
    /// When the first call was due that counts.
    pub(in crate::scenario) first: Option<Stamp>,
    /// Wrong answers, in words.
    pub(in crate::scenario) examples: Vec<String>,
    slow_us: u64,
}

/// Who answers later than this is not back to normal, in microseconds: what an admitted call may take under any load.
const NORMAL_US_MAX: u64 = 250_000;

impl Tally {
    /// Adds what became of others.
    pub(in crate::scenario) fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.served += other.served;
        self.good += other.good;
        self.refused += other.refused;
        self.limited += other.limited;
        self.without_a_time += other.without_a_time;
        self.unanswered += other.unanswered;
        self.wrong += other.wrong;
        self.admitted.merge(&other.admitted);
        self.rejected.merge(&other.rejected);
    }
}

impl PhaseTally {
    pub(super) fn new(phase: &Phase, kinds: usize) -> Self {
        Self {
            name: phase.name.clone(),
            measured_ms: phase.ms.saturating_sub(phase.unmeasured_ms),
            kinds: vec![Tally::default(); kinds],
            last_bad: None,
            first: None,
            examples: Vec::new(),
            slow_us: NORMAL_US_MAX,
        }
    }

    pub(super) fn enter(&mut self, kind: u32, heard: &Heard<'_>, right: Result<(), String>) {
        self.first = Some(self.first.map_or(heard.due, |first| first.min(heard.due)));
        let Some(tally) = self.kinds.get_mut(index(kind)) else {
            return;
        };
        tally.offered += 1;
        let took_us = heard.took_us();
        let mut is_well = false;
        match (&heard.answer, right) {
            (Err(_), _) => tally.unanswered += 1,
            (Ok(answer), _) if matches!(answer.status, 429 | 503) => {
                if answer.status == 503 {
                    tally.refused += 1;
                    tally.rejected.record(took_us);
                } else {
                    tally.limited += 1;
                }
                tally.without_a_time += u64::from(answer.retry_after_s.is_none());
            }
            (Ok(_), Ok(())) => {
                tally.served += 1;
                tally.good += u64::from(took_us <= GOOD_US_MAX);
                tally.admitted.record(took_us);
                is_well = took_us <= self.slow_us;
            }
            (Ok(_), Err(why)) => {
                tally.wrong += 1;
                if self.examples.len() < EXAMPLES_MAX {
                    self.examples.push(why);
                }
            }
        }
        if !is_well {
            self.last_bad = Some(self.last_bad.map_or(heard.due, |last| last.max(heard.due)));
        }
    }

    /// All kinds together.
    pub(in crate::scenario) fn all(&self) -> Tally {
        let mut all = Tally::default();
        self.kinds.iter().for_each(|kind| all.add(kind));
        all
    }

    /// How many of `n` there were in a second.
    pub(in crate::scenario) fn per_s(&self, n: u64) -> f64 {
        real(n) * 1_000.0 / real(self.measured_ms.max(1))
    }

    /// From the first call on, until which moment not everybody was answered well, in milliseconds.
    pub(in crate::scenario) fn unwell_ms(&self) -> f64 {
        let (Some(first), Some(last)) = (self.first, self.last_bad) else {
            return 0.0;
        };
        real(last.since(first)) / 1_000.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pressure;
    use super::*;
    use crate::client::calls::{Answer, Unanswered};

    fn heard(due_ms: u64, took_ms: u64, status: u16, retry_after_s: Option<u32>) -> Heard<'static> {
        Heard {
            tag: 0,
            due: Stamp(due_ms * 1_000),
            at: Stamp((due_ms + took_ms) * 1_000),
            answer: Ok(Answer {
                status,
                retry_after_s,
                cookie: None,
                body: b"",
            }),
        }
    }

    #[test]
    fn every_call_is_counted_once_and_as_what_it_is() {
        let phase = Phase {
            name: "x".to_owned(),
            pressure: Pressure::PerSecond(1.0),
            ms: 2_000,
            unmeasured_ms: 1_000,
        };
        let mut tally = PhaseTally::new(&phase, 2);
        tally.enter(0, &heard(10, 5, 200, None), Ok(()));
        tally.enter(0, &heard(20, 1_001, 200, None), Ok(()));
        tally.enter(0, &heard(30, 1, 503, Some(1)), Err("not asked".to_owned()));
        tally.enter(0, &heard(40, 1, 429, None), Ok(()));
        tally.enter(0, &heard(50, 1, 500, None), Err("status 500".to_owned()));
        let gone = Heard {
            answer: Err(Unanswered::TooLate),
            ..heard(60, 9_000, 0, None)
        };
        tally.enter(1, &gone, Ok(()));
        let all = tally.all();
        assert_eq!((all.offered, all.served, all.good), (6, 2, 1));
        assert_eq!((all.refused, all.limited, all.without_a_time), (1, 1, 1));
        assert_eq!((all.unanswered, all.wrong), (1, 1));
        assert_eq!((all.admitted.count(), all.rejected.count()), (2, 1));
        assert_eq!((tally.per_s(6), tally.unwell_ms()), (6.0, 50.0));
        assert_eq!(tally.examples, ["status 500"]);
    }
}
