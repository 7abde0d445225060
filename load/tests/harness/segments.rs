//! One process and six segments of it: one plan, and the same counts, in whatever order the segments are merged.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use load::plan::Plan;
use load::scenario::{ramp, reconnect};
use serde_json::{Value, json};

use crate::fake::{Fake, Fault};

const CLASSES: u32 = 6;
const SEED: u64 = 11;

/// Starts a run of all classes against `fake`, or the part of it that `segment` says.
fn start(fake: &Fake, segment: &str, out: &Path) -> Child {
    let classes = CLASSES.to_string();
    let seed = SEED.to_string();
    Command::new(env!("CARGO_BIN_EXE_load"))
        .args([
            "run",
            "reconnect",
            "--short",
            "--classes",
            &classes,
            "--seed",
            &seed,
        ])
        .args(["--target", &format!("http://{}", fake.address)])
        .args(["--segment", segment])
        .arg("--out")
        .arg(out)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("binary")
}

fn said(child: Child) -> String {
    let output = child.wait_with_output().expect("output");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn merge(parts: &[PathBuf], out: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_load"))
        .arg("merge")
        .args(parts)
        .arg("--out")
        .arg(out)
        .output()
        .expect("binary");
    let read = read(out);
    read.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn read(dir: &Path) -> std::io::Result<Value> {
    let text = std::fs::read_to_string(dir.join("results.json"))?;
    Ok(serde_json::from_str(&text).expect("JSON"))
}

/// What the plan decides and a right server carries out, whoever plays which part.
///
/// Left out is what depends on the moment: which answers were on their way when their socket dropped, and are therefore sent
/// again (`answers in flight at the drop`, `answers sent again`), how many times of acks count (those that were not on their
/// way), and what the generators used (`harness ...`).
fn decided(record: &Value) -> Value {
    let measured = &record["measured"];
    let mut counts = measured["counts"].as_object().expect("counts").clone();
    counts.retain(|name, _| {
        let depends = ["answers in flight at the drop", "answers sent again"];
        !depends.contains(&name.as_str()) && !name.starts_with("harness ")
    });
    let correctness = record["checks"].as_array().into_iter().flatten();
    let correctness: Vec<&Value> = correctness
        .filter(|check| check["kind"] == "correctness")
        .collect();
    json!({"plan": record["plan"], "counts": counts, "ledger": measured["ledger"],
           "faults": measured["faults"], "must be 0": correctness})
}

#[test]
fn one_process_and_six_segments_come_to_the_same_counts_in_any_order() {
    let (whole_server, parts_server) = (Fake::start(Fault::None), Fake::start(Fault::None));
    let dir = tempfile::tempdir().expect("directory");
    let at = |name: &str| dir.path().join(name);
    // All at once: they wait for their students most of the time.
    let whole = start(&whole_server, "1/1", &at("whole"));
    let numbers = 1..=6;
    let parts: Vec<PathBuf> = numbers.clone().map(|n| at(&n.to_string())).collect();
    let running: Vec<Child> = numbers
        .zip(&parts)
        .map(|(n, out)| start(&parts_server, &format!("{n}/6"), out))
        .collect();
    let said: Vec<String> = std::iter::once(whole).chain(running).map(said).collect();

    let sizes = vec![ramp::CLASS_SIZE; usize::try_from(CLASSES).expect("small")];
    let plan = Plan::new(SEED, reconnect::PACE_SHORT, reconnect::QUESTIONS, sizes);
    let printed = format!("plan {:016x}", plan.hash());
    assert!(
        said.iter().all(|text| text.contains(&printed)),
        "{printed}: {said:?}"
    );

    let whole = read(&at("whole")).expect("results");
    let students = || (0..CLASSES).flat_map(|class| (0..plan.size(class)).map(move |s| (class, s)));
    let questions = 1..=reconnect::QUESTIONS;
    let answers: usize = questions
        .map(|q| {
            students()
                .filter(|&(class, s)| plan.answer(class, s, q).is_some())
                .count()
        })
        .sum();
    assert_eq!(whole["measured"]["ledger"]["acked"], answers, "{}", said[0]);
    assert_eq!(whole["measured"]["counts"]["joined"], plan.my_students());

    let mut backwards = parts.clone();
    backwards.reverse();
    let there = merge(&parts, &at("there"));
    let back = merge(&backwards, &at("back"));
    assert_eq!(there, back, "in any order");
    // In two steps, out of order.
    merge(
        &[parts[4].clone(), parts[1].clone(), parts[5].clone()],
        &at("half"),
    );
    let rest = [parts[3].clone(), at("half"), parts[0].clone(), parts[2].clone()];
    assert_eq!(merge(&rest, &at("steps")), there, "in any grouping");
    assert_eq!(decided(&there), decided(&whole));
}
