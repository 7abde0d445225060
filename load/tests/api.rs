//! Short runs of the scenarios that ask the API, against the real servers and a PostgreSQL of the run's own: what must be 0 is 0, and what
//! must be counted is. Times are for `./test --long overload`, `dashboard`, `nine`, `e2e` and `storage`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Where the workspace's build has put the servers, beside this test.
fn binaries() -> PathBuf {
    let own = std::env::current_exe().expect("path of this test");
    let directory = own.parent().and_then(Path::parent).expect("target directory");
    for name in ["game-server", "api"] {
        assert!(
            directory.join(name).is_file(),
            "{name} does not exist; build it first: cargo build -p {name}"
        );
    }
    directory.to_owned()
}

/// What a run measured, and what it said.
struct Run {
    results: Value,
    said: String,
}

impl Run {
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
        Self {
            results: serde_json::from_str(&results).expect("JSON"),
            said,
        }
    }

    /// Demands that nothing went wrong. Other tests beside this one make the machine too busy to measure times on; what must be 0
    /// must be 0 all the same.
    fn is_right(&self) -> &Self {
        let checks = self.results["checks"].as_array().expect("checks");
        let wrong: Vec<&Value> = checks
            .iter()
            .filter(|check| check["kind"] == "correctness" && check["met"] != true)
            .collect();
        assert_eq!(wrong, Vec::<&Value>::new(), "{}", self.said);
        assert!(
            checks.iter().any(|check| check["kind"] == "correctness"),
            "{}",
            self.said
        );
        self
    }

    fn count(&self, name: &str) -> u64 {
        let found = self.results["measured"]["counts"][name].as_u64();
        found.unwrap_or_else(|| panic!("no {name}\n{}", self.said))
    }
}

#[test]
fn an_overloaded_api_refuses_what_it_cannot_do_and_nothing_else_goes_wrong() {
    let run = Run::of(&["overload"]);
    run.is_right();
    assert!(run.count("calls refused, 5x") > 100, "{}", run.said);
    // How much it does is a matter of the machine's speed; who goes first is not.
    let share = |class: &str| {
        let of = |what: &str| run.count(&format!("calls {what}, {class} at 5x"));
        of("served") * 100 / of("offered").max(1)
    };
    assert!(
        share("P0") > 50 && share("P0") > 2 * share("P3"),
        "P0 {} %, P3 {} %\n{}",
        share("P0"),
        share("P3"),
        run.said
    );
    assert!(run.count("classes started") > 5, "{}", run.said);
}

/// The check can fail: without admission nobody is told to come back, and everybody waits.
#[test]
fn an_api_without_admission_serves_game_servers_no_better_than_others() {
    let run = Run::of(&["overload", "--no-admission"]);
    let (offered, good) = (
        run.count("calls offered, P0 at 5x"),
        run.count("calls served in time, P0 at 5x"),
    );
    assert!(good * 2 < offered, "{good} of {offered} in time\n{}", run.said);
}

#[test]
fn dashboards_count_what_was_saved_and_nobody_is_refused() {
    let run = Run::of(&["dashboard"]);
    run.is_right();
    assert_eq!(run.count("quizzes"), 4 * 5, "{}", run.said);
    assert!(run.count("calls served, cached, most") > 100, "{}", run.said);
}

#[test]
fn at_nine_o_clock_everybody_is_let_in_and_one_who_asks_too_much_is_told_when_to_come_back() {
    let run = Run::of(&["nine"]);
    run.is_right();
    assert_eq!(run.count("joined"), 12 * 30, "{}", run.said);
    assert_eq!(
        run.count("refusals of one teacher's thirty games"),
        10,
        "{}",
        run.said
    );
}

#[test]
fn another_api_shows_a_result_as_soon_as_it_is_saved() {
    let run = Run::of(&["e2e"]);
    run.is_right();
    assert_eq!(run.count("rounds"), 3, "{}", run.said);
}

#[test]
fn a_database_that_is_killed_or_stands_still_loses_no_result_and_makes_nobody_wrong() {
    let run = Run::of(&["storage"]);
    run.is_right();
    assert_eq!((run.count("kills"), run.count("freezes")), (1, 1), "{}", run.said);
    assert!(run.count("calls refused") > 0, "it was felt\n{}", run.said);
    assert!(run.count("results sent") > 5, "{}", run.said);
}
