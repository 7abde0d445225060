//! The check of the public sequence: every subscriber receives every number once, or a `sync` that covers it.

/// What a subscriber has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sequence {
    /// The last number, none before the first `welcome` or `sync`.
    last: Option<u32>,
}

/// What is wrong with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceFault {
    /// Numbers are missing before this one.
    Gap {
        /// How many.
        missed: u32,
    },
    /// This number, or a later one, came before.
    Duplicate,
    /// A number before any state: there is nothing to check it against.
    Unverified,
}

impl Sequence {
    /// A state arrived that covers everything up to `seq`.
    pub const fn cover(&mut self, seq: u32) {
        self.last = Some(seq);
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
            return Err(SequenceFault::Duplicate);
        }
        self.last = Some(seq);
        match seq - last - 1 {
            0 => Ok(()),
            missed => Err(SequenceFault::Gap { missed }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn faults(start: u32, numbers: &[u32]) -> Vec<SequenceFault> {
        let mut sequence = Sequence::default();
        sequence.cover(start);
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
    fn a_state_covers_what_was_missed() {
        let mut sequence = Sequence::default();
        sequence.cover(3);
        sequence.cover(9);
        assert_eq!(sequence.advance(10), Ok(()));
        assert_eq!(sequence.last(), Some(10));
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
