//! The check of the public sequence: every subscriber receives every number once, or a `sync` that covers it.

/// What a subscriber has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sequence {
    /// The last number, none before the first `welcome` or `sync`.
    last: Option<u32>,
    /// The epoch of the last state; 0 when it had none.
    epoch: u32,
    /// Numbers that were skipped, the first and the last of the newest gap; 0 when there are none.
    missing: (u32, u32),
}

/// What is wrong with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceFault {
    /// Numbers are missing before this one.
    Gap {
        /// How many.
        missed: u32,
    },
    /// This number came before.
    Duplicate,
    /// It comes after a later one.
    Late {
        /// It was all that the newest gap had missed: nothing is lost, only out of order.
        fills: bool,
    },
    /// A number before any state: there is nothing to check it against.
    Unverified,
    /// A state of the same epoch covers less than what came before it.
    WentBack {
        /// The last number before it.
        from: u32,
    },
}

impl Sequence {
    /// A state arrived that covers everything up to `seq`. In a new epoch it replaces everything, even by less: who took the
    /// game over may not know what was shown and never saved.
    ///
    /// # Errors
    /// It covers less than what the same epoch had shown.
    pub fn cover(&mut self, epoch: Option<u32>, seq: u32) -> Result<(), SequenceFault> {
        let epoch = epoch.unwrap_or(0);
        let before = self.last.filter(|&last| last > seq && self.epoch == epoch);
        (self.last, self.epoch, self.missing) = (Some(seq), epoch, (0, 0));
        before.map_or(Ok(()), |from| Err(SequenceFault::WentBack { from }))
    }

    /// Whether a state of `epoch` that covers up to `seq` says what is known already.
    #[must_use]
    pub fn is_at(self, epoch: Option<u32>, seq: u32) -> bool {
        self.last == Some(seq) && self.epoch == epoch.unwrap_or(0)
    }

    /// Whether `epoch` is another one than that of the states so far: the game was taken over.
    #[must_use]
    pub fn is_of_another(self, epoch: Option<u32>) -> bool {
        self.last.is_some() && self.epoch != epoch.unwrap_or(0)
    }

    /// The last number received.
    #[must_use]
    pub const fn last(self) -> Option<u32> {
        self.last
    }

    /// The next number arrived. After a gap the count goes on from here, so that one loss is reported once.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn advance(&mut self, seq: u32) -> Result<(), SequenceFault> {
        let Some(last) = self.last else {
            self.last = Some(seq);
            return Err(SequenceFault::Unverified);
        };
        if seq <= last {
            return Err(self.late(seq));
        }
        self.last = Some(seq);
        match seq - last - 1 {
            0 => Ok(()),
            missed => {
                self.missing = (last + 1, seq - 1);
                Err(SequenceFault::Gap { missed })
            }
        }
    }

    /// What it means that `seq` comes when a later one is there.
    fn late(&mut self, seq: u32) -> SequenceFault {
        let (first, last) = self.missing;
        if seq == 0 || !(first..=last).contains(&seq) {
            return SequenceFault::Duplicate;
        }
        self.missing = match (seq == first, seq == last) {
            (true, true) => (0, 0),
            (true, false) => (first + 1, last),
            (false, true) => (first, last - 1),
            // From the middle: it may come once more unseen, which is the gap's fault and told with it.
            (false, false) => (first, last),
        };
        SequenceFault::Late { fills: first == last }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn faults(start: u32, numbers: &[u32]) -> Vec<SequenceFault> {
        let mut sequence = Sequence::default();
        sequence.cover(None, start).expect("the first state");
        numbers
            .iter()
            .filter_map(|&seq| sequence.advance(seq).err())
            .collect()
    }

    #[test]
    fn each_fault_is_found_once() {
        assert_eq!(faults(4, &[5, 6, 7]), []);
        assert_eq!(faults(4, &[5, 7, 8]), [SequenceFault::Gap { missed: 1 }]);
        assert_eq!(faults(4, &[5, 6, 6, 7]), [SequenceFault::Duplicate]);
        assert_eq!(faults(4, &[8]), [SequenceFault::Gap { missed: 3 }]);
        assert_eq!(Sequence::default().advance(1), Err(SequenceFault::Unverified));
    }

    #[test]
    fn what_comes_out_of_order_is_late_and_neither_lost_nor_doubled() {
        use SequenceFault::{Duplicate, Gap, Late};
        let fills = Late { fills: true };
        assert_eq!(faults(4, &[6, 5, 7]), [Gap { missed: 1 }, fills]);
        assert_eq!(faults(4, &[6, 5, 5, 7]), [Gap { missed: 1 }, fills, Duplicate]);
        let part = Late { fills: false };
        assert_eq!(faults(4, &[7, 5, 6]), [Gap { missed: 2 }, part, fills]);
        assert_eq!(faults(4, &[6, 4]), [Gap { missed: 1 }, Duplicate]);
    }

    #[test]
    fn a_state_covers_what_was_missed() {
        let mut sequence = Sequence::default();
        assert_eq!(sequence.cover(Some(1), 3), Ok(()));
        assert_eq!(sequence.cover(Some(1), 9), Ok(()));
        assert_eq!(sequence.advance(10), Ok(()));
        assert_eq!(sequence.last(), Some(10));
    }

    #[test]
    fn only_a_new_epoch_may_go_back() {
        let mut sequence = Sequence::default();
        assert_eq!(sequence.cover(Some(1), 9), Ok(()));
        assert_eq!(sequence.cover(Some(2), 7), Ok(()));
        assert_eq!(sequence.advance(8), Ok(()));
        assert_eq!(
            sequence.cover(Some(2), 6),
            Err(SequenceFault::WentBack { from: 8 })
        );
        assert_eq!(sequence.advance(7), Ok(()), "reported once");
    }

    proptest! {
        #[test]
        fn one_dropped_or_doubled_frame_is_one_fault(length in 2u32..50, at in 1u32..49, doubled: bool) {
            let at = at % length;
            let mut numbers: Vec<u32> = (1..=length).collect();
            let index = usize::try_from(at).expect("small");
            if doubled { numbers.insert(index, numbers[index]); } else { numbers.remove(index); }
            let expected = if doubled {
                vec![SequenceFault::Duplicate]
            } else if at + 1 == length {
                vec![] // Nothing follows the last number; the final check of the head finds it.
            } else {
                vec![SequenceFault::Gap { missed: 1 }]
            };
            prop_assert_eq!(faults(0, &numbers), expected);
        }
    }
}
