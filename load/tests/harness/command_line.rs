//! Exit codes and words of the binary itself.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::fake::{Fake, Fault};

fn load(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_load"))
        .args(arguments.split(' '))
        .output()
        .expect("binary")
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn bad_configuration_exits_with_64_and_says_why() {
    let output = load("run bigroom --target ftp://127.0.0.1");
    assert_eq!(output.status.code(), Some(64));
    assert!(error(&output).contains("http://"), "{}", error(&output));
    let output = load("run bigroom --up --bin /nonexistent/homeroom");
    assert_eq!(output.status.code(), Some(64));
    assert!(
        error(&output).contains("cargo build --release -p homeroom"),
        "{}",
        error(&output)
    );
    assert_eq!(
        load("run idle --target http://127.0.0.1:9").status.code(),
        Some(64)
    );
    assert_eq!(load("--help").status.code(), Some(0));
    let output = load("run bigroom --target https://127.0.0.1:9 --sizes 2");
    assert_eq!(output.status.code(), Some(64));
    assert!(error(&output).contains("--ca FILE"), "{}", error(&output));
    let output = load("run ramp --up --games 1 --tls --short");
    assert_eq!(output.status.code(), Some(64));
    assert!(error(&output).contains("--proxies N"), "{}", error(&output));
}

#[test]
fn a_server_that_is_not_there_exits_with_69() {
    // A port that was free a moment ago: nobody listens on it.
    let port = TcpListener::bind(("127.0.0.1", 0))
        .expect("port")
        .local_addr()
        .expect("address")
        .port();
    let output = load(&format!("run bigroom --target http://127.0.0.1:{port} --sizes 2"));
    assert_eq!(output.status.code(), Some(69));
    assert!(error(&output).contains("no answer"), "{}", error(&output));
}

#[test]
fn a_run_prints_its_figures_and_keeps_them() {
    let fake = Fake::start(Fault::None);
    let dir = tempfile::tempdir().expect("directory");
    let out = dir.path().display();
    let target = fake.address;
    let run =
        format!("run bigroom --target http://{target} --sizes 3,6 --questions 1 --fast --seed 9 --out {out}");
    let output = load(&run);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("growth exponent") && text.contains("seed 9"),
        "{text}"
    );
    let results = std::fs::read_to_string(dir.path().join("results.json")).expect("results");
    let results: serde_json::Value = serde_json::from_str(&results).expect("JSON");
    assert_eq!(results["plan"]["seed"], 9);
    // Other tests beside this one may have made the machine too busy to measure on; then the verdict says so.
    let valid = results["verdict"]["word"] != "INVALID";
    assert_eq!(results["passed"], valid, "{text}");
    assert_eq!(output.status.code(), Some(i32::from(!valid)), "{text}");
    assert!(
        text.starts_with("verdict: ") && text.contains(if valid { "PASSED" } else { "INVALID" }),
        "the verdict stands first: {text}"
    );
    assert!(
        results["checks"]
            .as_array()
            .is_some_and(|all| all.iter().all(|c| c["met"] == true)),
        "{text}"
    );
}

#[test]
fn a_merge_that_lacks_a_segment_is_not_judged_and_does_not_exit_with_0() {
    let fake = Fake::start(Fault::None);
    let dir = tempfile::tempdir().expect("directory");
    let out = dir.path().display();
    let run = "run reconnect --short --classes 2 --segment 1/2";
    load(&format!("{run} --target http://{} --out {out}", fake.address));
    let merged = load(&format!("merge {out}"));
    assert_eq!(merged.status.code(), Some(1));
    assert!(
        error(&merged).contains("segments 2 of 2 are missing"),
        "{}",
        error(&merged)
    );
    let over = load(&format!("merge {out} --out {out}"));
    assert_eq!(over.status.code(), Some(64), "{}", error(&over));
}

#[test]
fn a_run_whose_results_have_no_place_does_not_begin() {
    let output = load("run bigroom --target http://127.0.0.1:9 --sizes 2 --out /dev/null/results");
    assert_eq!(output.status.code(), Some(64));
    assert!(
        error(&output).contains("--out /dev/null/results"),
        "{}",
        error(&output)
    );
}

#[test]
fn servers_end_with_the_program_that_started_them_however_it_ends() {
    let dir = tempfile::tempdir().expect("directory");
    let (script, told) = (dir.path().join("server"), dir.path().join("pid"));
    let text = format!(
        "#!/bin/sh\necho $$ > {}.new\nmv {0}.new {0}\nexec sleep 600\n",
        told.display()
    );
    std::fs::write(&script, text).expect("script");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("executable");
    let mut running = Command::new(env!("CARGO_BIN_EXE_load"))
        .args(["up", "--bin"])
        .arg(&script)
        .stderr(Stdio::null())
        .spawn()
        .expect("binary");
    let wait_for = |what: &str, done: &dyn Fn() -> bool| {
        let limit = Instant::now() + Duration::from_secs(20);
        while !done() {
            assert!(Instant::now() < limit, "{what} did not happen");
            load::sys::clock::pause_ms(10);
        }
    };
    wait_for("the start", &|| told.exists());
    let pid = std::fs::read_to_string(&told).expect("id").trim().to_owned();
    let is_there = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    assert!(is_there());
    running.kill().expect("killed");
    running.wait().expect("gone");
    wait_for("its end", &|| !is_there());
}

#[test]
fn a_missed_bar_exits_with_1() {
    let fake = Fake::start(Fault::RefusedJoins);
    let output = load(&format!(
        "run bigroom --target http://{} --sizes 4 --questions 1 --fast",
        fake.address
    ));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("FAILED: 4 players: not joined: 2"));
}
