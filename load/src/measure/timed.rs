//! Times of one kind, as a whole and second by second.

use std::collections::BTreeMap;
use std::ops::Deref;

use super::histogram::{Micros, PackedMicros};

/// Times of one kind. Reads as the histogram of its phase.
#[derive(Debug)]
pub struct Timed {
    phase: Micros,
    second: Micros,
    seconds: BTreeMap<u64, PackedMicros>,
}

impl Default for Timed {
    fn default() -> Self {
        Self {
            phase: Micros::default(),
            second: Micros::coarse(),
            seconds: BTreeMap::new(),
        }
    }
}

impl Deref for Timed {
    type Target = Micros;

    fn deref(&self) -> &Micros {
        &self.phase
    }
}

impl Timed {
    /// Records a time.
    pub fn record(&mut self, us: u64) {
        self.phase.record(us);
        self.second.record(us);
    }

    /// Takes the times of the phase and begins the next; the seconds go on.
    #[must_use]
    pub fn take_phase(&mut self) -> Micros {
        std::mem::take(&mut self.phase)
    }

    /// The Unix second `unix_s` is over.
    pub(super) fn end_second(&mut self, unix_s: u64) {
        if self.second.count() > 0 {
            let packed = PackedMicros::from(&self.second);
            self.seconds
                .entry(unix_s)
                .and_modify(|held| held.merge(&packed))
                .or_insert(packed);
            self.second.clear();
        }
    }

    /// The seconds that are over.
    #[must_use]
    pub const fn seconds(&self) -> &BTreeMap<u64, PackedMicros> {
        &self.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_belongs_to_its_phase_and_to_its_second() {
        let mut timed = Timed::default();
        timed.record(1_000);
        timed.end_second(7);
        timed.end_second(8);
        timed.record(2_000);
        timed.record(3_000);
        assert_eq!(timed.take_phase().count(), 3);
        timed.record(4_000);
        timed.end_second(9);
        assert_eq!(timed.count(), 1);
        let counts = timed
            .seconds()
            .iter()
            .map(|(&second, times)| (second, Micros::from(times.clone()).count()));
        assert_eq!(counts.collect::<Vec<_>>(), [(7, 1), (9, 3)]);
    }
}
