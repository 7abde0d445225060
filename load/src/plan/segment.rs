//! Which part of the classes a process plays. A class never spans two processes, so that one clock measures it; what a
//! class does depends on the seed alone, so every part of a run prints the same plan hash.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Parts of a run at most: beyond what one machine, or one cluster, gives ports and descriptors for.
pub const SEGMENTS_MAX: u32 = 1_000;

/// Part `index` of `count`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    index: u32,
    count: u32,
}

/// Why a segment is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a segment is given as PART/PARTS, from 1/1 to {SEGMENTS_MAX}/{SEGMENTS_MAX}")]
pub struct SegmentError;

impl Segment {
    /// Everything.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// Whether `class` belongs to this part. Classes are dealt in turn, so that every part climbs at the same rate.
    #[must_use]
    pub const fn has(self, class: u32) -> bool {
        class % self.count == self.index - 1
    }

    /// The number of this part, from 1.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// All parts.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.count
    }
}

impl Default for Segment {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl FromStr for Segment {
    type Err = SegmentError;

    fn from_str(text: &str) -> Result<Self, SegmentError> {
        let (index, count) = text.split_once('/').ok_or(SegmentError)?;
        let index: u32 = index.parse().map_err(|_| SegmentError)?;
        let count: u32 = count.parse().map_err(|_| SegmentError)?;
        if index == 0 || index > count || count > SEGMENTS_MAX {
            return Err(SegmentError);
        }
        Ok(Self { index, count })
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Habits, Pace, Plan};

    #[test]
    fn segments_are_checked() {
        let segment: Segment = "2/6".parse().expect("a part");
        assert_eq!(
            (segment.index(), segment.count(), segment.to_string()),
            (2, 6, "2/6".to_owned())
        );
        for bad in ["", "2", "0/6", "7/6", "1/0", "-1/2", "1/1001", "a/b", "1/2/3"] {
            assert!(bad.parse::<Segment>().is_err(), "{bad}");
        }
    }

    #[test]
    fn six_parts_hold_every_class_once_and_have_one_hash() {
        let whole = Plan {
            habits: Habits::SCHOOL,
            ..Plan::new(3, Pace::FAST, 4, vec![30; 25])
        };
        let parts: Vec<Plan> = (1..=6)
            .map(|i| Plan {
                segment: format!("{i}/6").parse().expect("a part"),
                ..whole.clone()
            })
            .collect();
        let mut classes: Vec<u32> = parts.iter().flat_map(Plan::my_classes).collect();
        classes.sort_unstable();
        assert_eq!(classes, (0..25).collect::<Vec<_>>());
        assert_eq!(
            parts.iter().map(Plan::my_students).sum::<u64>(),
            whole.my_students()
        );
        assert!(parts.iter().all(|part| part.hash() == whole.hash()));
    }
}
