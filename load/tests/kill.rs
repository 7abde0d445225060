//! Short runs against the real servers: kills in both places where games are kept, a kill after which another server takes over,
//! and connections that nothing keeps together. `./test --long kill`, `takeover`, `round-robin` and others do more, with optimised
//! binaries.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Where the workspace's build has put the servers, beside this test.
fn binaries() -> PathBuf {
    let own = std::env::current_exe().expect("path of this test");
    let directory = own.parent().and_then(Path::parent).expect("target directory");
    for name in ["homeroom", "game-server", "api", "ingress-proxy"] {
        assert!(
            directory.join(name).is_file(),
            "{name} does not exist; build it first: cargo build -p {name}"
        );
    }
    directory.to_owned()
}

/// What a run measured, and what it said.
struct Run {
    measured: Value,
    said: String,
}

impl Run {
    /// Carries a run out and demands that nothing went wrong.
    fn of(arguments: &[&str]) -> Self {
        let out = tempfile::tempdir().expect("directory");
        let output = Command::new(env!("CARGO_BIN_EXE_load"))
            .arg("run")
            .args(arguments)
            .args(["--up", "--short", "--bin-dir"])
            .arg(binaries())
            .arg("--out")
            .arg(out.path())
            .output()
            .expect("binary");
        let said = [&output.stdout[..], &output.stderr]
            .map(String::from_utf8_lossy)
            .concat();
        let results = std::fs::read_to_string(out.path().join("results.json"));
        let results = results.unwrap_or_else(|error| panic!("no results: {error}\n{said}"));
        let results: Value = serde_json::from_str(&results).expect("JSON");
        // Other tests beside this one make the machine too busy to measure times on; what must be 0 must be 0 all the same.
        let wrong: Vec<&Value> = results["checks"]
            .as_array()
            .expect("checks")
            .iter()
            .filter(|check| check["kind"] == "correctness" && check["met"] != true)
            .collect();
        assert_eq!(wrong, Vec::<&Value>::new(), "{said}");
        Self {
            measured: results["measured"].clone(),
            said,
        }
    }

    fn number(&self, kind: &str, name: &str) -> u64 {
        let found = self.measured[kind][name].as_u64();
        found.unwrap_or_else(|| panic!("no {name}\n{}", self.said))
    }
}

/// Kills, and tells what they met.
#[allow(clippy::print_stdout, reason = "the test shows its ledger")]
fn kill(what: &str, kills: u64, arguments: &[&str]) -> Run {
    let run = Run::of(&[&["kill"], arguments].concat());
    let of = |kind: &str, name: &str| run.number(kind, name);
    assert_eq!(of("counts", "kills"), kills, "{}", run.said);
    let acked = of("ledger", "acked");
    assert!(acked > 500, "a class of 30 alone answers 200 times: {}", run.said);
    println!(
        "{what}: {kills} kills, {} of them met {} answers in flight; {acked} acked, {} lost, {} doubled, {} wrong, {} never settled",
        of("counts", "kills with answers in flight"),
        of("counts", "answers in flight at a kill"),
        of("ledger", "lost"),
        of("ledger", "doubled"),
        of("ledger", "wrong_choice")
            + of("ledger", "wrong_time")
            + of("ledger", "wrong_score")
            + of("ledger", "phantom"),
        of("ledger", "unsettled"),
    );
    run
}

#[test]
fn five_kills_of_the_one_process_lose_nothing() {
    kill("embedded", 5, &[]);
}

#[test]
fn five_kills_of_a_game_server_with_redis_lose_nothing() {
    kill("redis", 5, &["--games", "1", "--apis", "1", "--store", "redis"]);
}

const CLUSTER: [&str; 6] = ["--games", "2", "--apis", "1", "--store", "redis"];

#[test]
fn games_of_a_killed_server_go_on_at_another_one() {
    let more = ["--proxies", "2", "--no-restart", "--kills", "2", "--classes", "6"];
    let run = kill("another server", 2, &[&CLUSTER[..], &more].concat());
    assert!(run.number("counts", "games taken up") > 0, "{}", run.said);
}

#[test]
fn classes_that_nothing_keeps_together_play_to_the_end_and_the_alarm_metric_tells() {
    let more = [
        "--round-robin",
        "--classes",
        "4",
        "--stages",
        "1",
        "--climb",
        "5",
        "--hold",
        "5",
    ];
    let run = Run::of(&[&["ramp"], &CLUSTER[..], &more].concat());
    assert!(
        run.number("counts", "calls passed on by game servers") >= 31,
        "{}",
        run.said
    );
}
