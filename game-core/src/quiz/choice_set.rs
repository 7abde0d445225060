//! A set of choices as bits. Whether the choices exist is the question's business.

/// A set of choices, bit `n` for choice `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ChoiceSet(pub u16);

impl ChoiceSet {
    /// Choices a set can hold.
    pub(crate) const WIDTH: u8 = 16;

    /// The set of these choices, counted from 0; naming one twice is naming it once. `None` when one is 16 or more, which
    /// no question has (`limits::CHOICES_MAX`).
    pub fn from_indices(indices: impl IntoIterator<Item = u8>) -> Option<Self> {
        indices
            .into_iter()
            .try_fold(0_u16, |bits, index| {
                Some(bits | 1_u16.checked_shl(u32::from(index))?)
            })
            .map(Self)
    }

    /// The choices, ascending, counted from 0.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..Self::WIDTH).filter(move |&index| self.contains(index))
    }

    /// Whether choice `index` is in the set; `false` for 16 and more.
    #[must_use]
    pub fn contains(self, index: u8) -> bool {
        1_u16
            .checked_shl(u32::from(index))
            .is_some_and(|bit| self.0 & bit != 0)
    }

    /// Whether nothing is chosen.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many are chosen, at most 16.
    #[must_use]
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }
}
