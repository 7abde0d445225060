//! Made-up records for tests.

use std::collections::BTreeMap;

use crate::measure::Micros;
use crate::plan::{Pace, Plan};
use crate::report::{Measured, PlanRecord, Record, SCHEMA_VERSION, SegmentRecord};
use crate::sys::hardware::Hardware;
use crate::verdict::Readings;

/// Segment `number` of `of` of a run that measured nothing, on a quiet machine.
pub(crate) fn record(number: u32, of: u32) -> Record {
    let (begun_unix_ms, ended_unix_ms) = (1_000 + u64::from(number), 9_000 + u64::from(number));
    let segment = SegmentRecord {
        begun_unix_ms,
        ended_unix_ms,
        readings: Readings::default(),
        figures: serde_json::json!({ "of segment": number }),
    };
    Record {
        schema_version: SCHEMA_VERSION,
        scenario: "ramp".to_owned(),
        harness_version: "0.1.0".to_owned(),
        begun_unix_ms,
        ended_unix_ms,
        hardware: Hardware::read(),
        plan: PlanRecord::from(&Plan::new(3, Pace::FAST, 2, vec![4])),
        segments_of: of,
        segments: BTreeMap::from([(number, segment)]),
        measured: Measured::default(),
    }
}

/// Times in microseconds as a histogram.
pub(crate) fn times(us: &[u64]) -> Micros {
    let mut times = Micros::default();
    us.iter().for_each(|&us| times.record(us));
    times
}
