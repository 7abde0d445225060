//! `load run kill --short` against the real servers, in both places where games are kept. `./test --long kill` does it fifty
//! times each, with optimised binaries.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Where the workspace's build has put the servers, beside this test.
fn binaries() -> PathBuf {
    let own = std::env::current_exe().expect("path of this test");
    let directory = own.parent().and_then(Path::parent).expect("target directory");
    for name in ["homeroom", "game-server", "api"] {
        assert!(
            directory.join(name).is_file(),
            "{name} does not exist; build it first: cargo build -p {name}"
        );
    }
    directory.to_owned()
}

/// Five kills; demands that they happened and that nothing went wrong, and tells what they met.
#[allow(clippy::print_stdout, reason = "the test shows its ledger")]
fn play(store: &str, arguments: &[&str]) {
    let out = tempfile::tempdir().expect("directory");
    let binaries = binaries();
    let output = Command::new(env!("CARGO_BIN_EXE_load"))
        .args(["run", "kill", "--up", "--short"])
        .args(arguments)
        .arg("--bin-dir")
        .arg(&binaries)
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
    let measured = &results["measured"];
    let of = |kind: &str, name: &str| {
        measured[kind][name]
            .as_u64()
            .unwrap_or_else(|| panic!("no {name}\n{said}"))
    };
    // Other tests beside this one make the machine too busy to measure times on; what must be 0 must be 0 all the same.
    let wrong: Vec<&Value> = results["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .filter(|check| check["kind"] == "correctness" && check["met"] != true)
        .collect();
    assert_eq!(wrong, Vec::<&Value>::new(), "{said}");
    assert_eq!(of("counts", "kills"), 5, "{said}");
    let acked = of("ledger", "acked");
    assert!(acked > 500, "a class of 30 alone answers 200 times: {said}");
    println!(
        "{store}: 5 kills, {} of them met {} answers in flight; {acked} acked, {} lost, {} doubled, {} wrong, {} never settled",
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
}

#[test]
fn five_kills_of_the_one_process_lose_nothing() {
    play("embedded", &[]);
}

#[test]
fn five_kills_of_a_game_server_with_redis_lose_nothing() {
    play("redis", &["--games", "1", "--apis", "1", "--store", "redis"]);
}
