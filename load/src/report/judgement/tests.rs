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
    let spoilt: Vec<&str> = judgement.spoilt.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(spoilt, ["lost"], "no other part can take it back");
    let whole = Judgement::of(&samples::record(1, 1));
    assert_eq!((whole.passed, whole.spoilt.len()), (Some(true), 0));
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
        read(&format!(r#"{{"schema_version": {SCHEMA_VERSION}}}"#)),
        ReadError::Shape { .. }
    ));
    assert!(matches!(read("no JSON"), ReadError::Shape { .. }));
    assert!(matches!(
        Record::read(&dir.path().join("gone")),
        Err(ReadError::File { .. })
    ));
}

#[test]
fn a_record_that_was_changed_by_hand_is_refused() {
    let dir = tempfile::tempdir().expect("directory");
    let mut record = samples::record(1, 1);
    record.measured.zero("lost", 3);
    record
        .measured
        .times("join", "hold", &samples::times(&[5, 70_000]));
    record.measured.peak("memory", 0.1 + 0.2);
    let path = record.write(dir.path()).expect("written");
    assert_eq!(Record::read(&path).expect("as it was written"), record);
    let text = fs::read_to_string(&path).expect("text");
    let changes: [(&str, &str); 3] = [
        (r#""lost": 3"#, r#""lost": 0"#),
        (r#""segments_of": 1"#, r#""segments_of": 0"#),
        (r#""limit": 0.0"#, r#""limit": 9.0"#),
    ];
    for (from, to) in changes {
        assert!(text.contains(from), "{from} in {text}");
        fs::write(&path, text.replace(from, to)).expect("changed");
        let refused = Record::read(&path).expect_err("refused");
        assert!(matches!(refused, ReadError::Changed { .. }), "{from}: {refused}");
    }
}

#[test]
fn what_an_earlier_run_left_is_put_away_and_half_a_record_is_none() {
    let dir = tempfile::tempdir().expect("directory");
    Record::make_way(&dir.path().join("new")).expect("a directory that is not there is made");
    let record = samples::record(1, 1);
    let path = record.write(dir.path()).expect("written");
    Record::make_way(dir.path()).expect("made way");
    assert!(!path.exists() && dir.path().join("results.previous.json").exists());
    Record::make_way(dir.path()).expect("nothing to put away");
    fs::create_dir(dir.path().join("results.json")).expect("in the way");
    assert!(record.write(dir.path()).is_err());
    let left = fs::read_dir(dir.path()).expect("directory").flatten();
    assert!(
        !left
            .into_iter()
            .any(|entry| entry.file_name().to_string_lossy().contains("part"))
    );
}
