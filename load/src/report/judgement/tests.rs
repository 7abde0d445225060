//! Records, and what they come to.

use std::fs;

use super::*;
use crate::merge::samples;
use crate::report::{Figure, ReadError, Record, SCHEMA_VERSION};

#[test]
fn a_missed_target_passes_and_a_missed_bar_does_not() {
    let mut record = samples::record(1, 1);
    record.measured.count("bytes", 7);
    let figure = || Figure::Count {
        name: "bytes".to_owned(),
    };
    record.measured.target("bytes", figure(), 5.0, "B");
    assert_eq!(Judgement::of(&record).passed, Some(true));
    record.measured.bar("bytes", figure(), 6.0, "B");
    let judgement = Judgement::of(&record);
    assert_eq!(
        (judgement.passed, judgement.conclusion()),
        (Some(false), "FAILED")
    );
}

#[test]
fn an_invalid_run_never_passes() {
    let mut record = samples::record(1, 1);
    if let Some(segment) = record.segments.get_mut(&1) {
        segment.readings.own.no_port = 1;
    }
    let judgement = Judgement::of(&record);
    assert_eq!(judgement.passed, Some(false));
    assert!(!judgement.is_good() && judgement.conclusion().starts_with("INVALID"));
}

#[test]
fn a_part_is_not_judged() {
    let mut record = samples::record(2, 6);
    record.measured.zero("lost", 3);
    let judgement = Judgement::of(&record);
    assert_eq!((judgement.passed, judgement.checks.len()), (None, 0));
    assert!(judgement.is_good(), "its numbers may be believed");
}

#[test]
fn what_was_written_is_read_back() {
    let dir = tempfile::tempdir().expect("directory");
    let record = samples::record(2, 3);
    let path = record.write(&dir.path().join("new")).expect("written");
    assert_eq!(Record::read(&path).expect("read"), record);
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&path).expect("file")).expect("JSON");
    assert_eq!(json["schema_version"], SCHEMA_VERSION);
    assert_eq!(
        (&json["verdict"]["word"], &json["passed"]),
        (&serde_json::json!("VALID"), &serde_json::Value::Null)
    );
}

#[test]
fn other_files_are_refused_with_their_reason() {
    let dir = tempfile::tempdir().expect("directory");
    let read = |text: &str| {
        fs::write(dir.path().join("results.json"), text).expect("written");
        Record::read(dir.path()).expect_err("refused")
    };
    assert!(matches!(
        read(r#"{"schema_version": 1}"#),
        ReadError::Schema { found: 1, .. }
    ));
    assert!(matches!(
        read(r#"{"schema_version": 2}"#),
        ReadError::Shape { .. }
    ));
    assert!(matches!(read("no JSON"), ReadError::Shape { .. }));
    assert!(matches!(
        Record::read(&dir.path().join("gone")),
        Err(ReadError::File { .. })
    ));
}
