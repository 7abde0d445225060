//! A class played by a client in another language, from the protocol page alone, against the real server: its counts, the
//! saved report and the harness's own rules and counts must agree.

use std::path::{Path, PathBuf};
use std::process::Command;

use load::client::Http;
use load::measure::{points, rank};
use load::plan::{Pace, Plan};
use load::report::Console;
use load::scenario::bigroom;
use load::stack::{Pauses, Stack, Topology};
use serde_json::{Value, json};

/// Time to answer in the foreign quiz, in milliseconds.
const TIME_MS: u32 = 20_000;
/// Its players and questions, which the harness plays, too.
const PLAYERS: u32 = 5;
const QUESTIONS: u16 = 3;

/// The server that the workspace's build has put beside this test.
fn homeroom() -> PathBuf {
    let own = std::env::current_exe().expect("path of this test");
    let directory = own.parent().and_then(Path::parent).expect("target directory");
    let binary = directory.join("homeroom");
    assert!(
        binary.is_file(),
        "{} does not exist; build it first: cargo build -p homeroom",
        binary.display()
    );
    binary
}

fn play_foreign(address: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign/class.mjs");
    let output = Command::new("node").arg(script).arg(address).output();
    let output = output.expect("node, which plays the foreign class, cannot be run");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{complaint}");
    serde_json::from_slice(&output.stdout).expect("one line of JSON")
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().expect("a number")).expect("a small number")
}

/// Every player of the report is the phone's, with the points that the harness's model gives, and so is every answer.
fn assert_saved(class: &Value, report: &Value) {
    let saved = report["result"]["players"].as_array().expect("players");
    let phones = class["players"].as_array().expect("players");
    assert_eq!(saved.len(), phones.len());
    let totals: Vec<u32> = saved.iter().map(|player| number(&player["total"])).collect();
    for phone in phones {
        let row = saved
            .iter()
            .find(|row| row["id"] == phone["id"])
            .expect("a row for every phone");
        assert_eq!(
            (&row["name"], &row["total"], &row["rank"]),
            (&phone["name"], &phone["total"], &phone["rank"])
        );
        let total = number(&row["total"]);
        assert_eq!(
            (number(&row["rank"]), number(&phone["of"])),
            (rank(total, &totals), PLAYERS)
        );
        let answers = row["answers"].as_array().expect("answers");
        let earned: u32 = answers
            .iter()
            .map(|answer| {
                let (q, elapsed_ms) = (number(&answer["q"]), number(&answer["elapsed_ms"]));
                points(answer["choices"] == json!([q % 4]), elapsed_ms, TIME_MS)
            })
            .sum();
        assert_eq!(total, earned, "{row}");
        let acked = phone["acked"].as_object().expect("acked answers");
        let by_q = |answer: &Value| (answer["q"].to_string(), answer["choices"][0].clone());
        assert_eq!(
            acked,
            &answers.iter().map(by_q).collect::<serde_json::Map<_, _>>()
        );
    }
}

#[test]
fn a_client_in_another_language_counts_the_same() {
    let stack = Stack::start(&Topology::One { binary: homeroom() }, Pauses::CLUSTER).expect("a server");
    let target = stack.apis()[0].clone();
    let class = play_foreign(&target.to_string());

    // Fourteen answers: five players, three questions, and one player leaves one out.
    assert_eq!(
        class["answers"],
        json!({"sent": 14, "acked": 14, "refused": 0}),
        "{class}"
    );
    assert_eq!(
        class["sequence"],
        json!({"gaps": 0, "duplicates": 0, "behind": 0}),
        "{class}"
    );
    assert_eq!(class["closed_as_ended"], PLAYERS, "{class}");
    let path = format!("/store/games/{}/report", class["game"].as_str().expect("a game"));
    let token = class["token"].as_str();
    let report: Value = Http::new(target).get_json(&path, token).expect("a report");
    assert_saved(&class, &report);

    // The harness plays a class of the same size on the same server: but for the acks, which follow the answers, both
    // receive as many frames.
    let plan = Plan::new(4, Pace::FAST, QUESTIONS, vec![PLAYERS]);
    let targets = stack.targets().expect("servers");
    let outcome = bigroom::run(&targets, &plan, &mut Console::silent()).expect("carried out");
    let counts = |value: &Value| value.as_u64().expect("a count");
    let ours = outcome.measured.counts["frames"] - outcome.measured.ledger["acked"];
    let theirs = counts(&class["frames_total"]) - counts(&class["frames"]["ack"]);
    assert_eq!(ours, theirs, "{class}");
    let failing: Vec<_> = outcome
        .checks()
        .into_iter()
        .filter(load::report::Check::fails)
        .collect();
    assert_eq!(failing, [], "the harness's own class");
}
