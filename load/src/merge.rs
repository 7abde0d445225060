//! Putting the segments of a run together. Merging is associative and knows no order, so it may be done in steps and by
//! whoever is there first; what is not of one run is refused.

use std::collections::btree_map::Entry;

use thiserror::Error;

use crate::report::{Record, SegmentRecord};

/// Why two records are not parts of one run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MergeError {
    /// Something that all parts share differs.
    #[error("not of one run: {what} is {one} in one and {other} in the other")]
    Unlike {
        /// What.
        what: &'static str,
        /// In the first.
        one: String,
        /// In the second.
        other: String,
    },
    /// One part is in both: its figures would count twice.
    #[error("segment {0} is in both")]
    Twice(u32),
    /// They did not run beside each other: one is of another day.
    #[error("not of one run: segment {one} had ended when segment {other} began")]
    Apart {
        /// The earlier one.
        one: u32,
        /// The later one.
        other: u32,
    },
    /// Nothing to merge.
    #[error("nothing to merge")]
    Nothing,
}

/// Puts all of `records` together.
///
/// # Errors
/// They are not parts of one run, or there are none.
pub fn all(records: impl IntoIterator<Item = Record>) -> Result<Record, MergeError> {
    let mut records = records.into_iter();
    let first = records.next().ok_or(MergeError::Nothing)?;
    records.try_fold(first, two)
}

/// Puts two records together.
///
/// # Errors
/// They are not parts of one run.
pub fn two(mut one: Record, other: Record) -> Result<Record, MergeError> {
    same("the schema version", &one.schema_version, &other.schema_version)?;
    same("the plan's hash", &one.plan.hash, &other.plan.hash)?;
    same("the scenario", &one.scenario, &other.scenario)?;
    same("the number of segments", &one.segments_of, &other.segments_of)?;
    same(
        "the harness's version",
        &one.harness_version,
        &other.harness_version,
    )?;
    if one.hardware != other.hardware {
        return Err(unlike("the hardware", &one.hardware, &other.hardware));
    }
    if one.plan != other.plan {
        return Err(unlike("the plan", &one.plan.pace, &other.plan.pace));
    }
    let pairs = one
        .segments
        .iter()
        .flat_map(|a| other.segments.iter().map(move |b| (a, b)));
    for ((&a, first), (&b, second)) in pairs {
        beside((a, first), (b, second))?;
    }
    for (number, segment) in other.segments {
        match one.segments.entry(number) {
            Entry::Vacant(vacant) => drop(vacant.insert(segment)),
            Entry::Occupied(_) => return Err(MergeError::Twice(number)),
        }
    }
    one.begun_unix_ms = one.begun_unix_ms.min(other.begun_unix_ms);
    one.ended_unix_ms = one.ended_unix_ms.max(other.ended_unix_ms);
    one.measured
        .merge(other.measured)
        .map_err(|name| MergeError::Unlike {
            what: "a threshold",
            one: name.clone(),
            other: name,
        })?;
    Ok(one)
}

/// Segments of one run play beside each other; what a restarted script left of another run does not.
fn beside((a, first): (u32, &SegmentRecord), (b, second): (u32, &SegmentRecord)) -> Result<(), MergeError> {
    if a == b {
        return Err(MergeError::Twice(a));
    }
    if first.ended_unix_ms < second.begun_unix_ms {
        return Err(MergeError::Apart { one: a, other: b });
    }
    if second.ended_unix_ms < first.begun_unix_ms {
        return Err(MergeError::Apart { one: b, other: a });
    }
    Ok(())
}

fn same<T: PartialEq + ToString>(what: &'static str, one: &T, other: &T) -> Result<(), MergeError> {
    if one == other {
        return Ok(());
    }
    Err(MergeError::Unlike {
        what,
        one: one.to_string(),
        other: other.to_string(),
    })
}

fn unlike(what: &'static str, one: &impl ToString, other: &impl ToString) -> MergeError {
    MergeError::Unlike {
        what,
        one: one.to_string(),
        other: other.to_string(),
    }
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
