//! A short run of a scenario against the real servers, which the workspace's build has put beside the test.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Where the servers are.
fn binaries(servers: &[&str]) -> PathBuf {
    let own = std::env::current_exe().expect("path of this test");
    let directory = own.parent().and_then(Path::parent).expect("target directory");
    for name in servers {
        assert!(
            directory.join(name).is_file(),
            "{name} does not exist; build it first: cargo build -p {name}"
        );
    }
    directory.to_owned()
}

/// What a run measured, and what it said.
pub(crate) struct Run {
    results: Value,
    pub(crate) said: String,
}

impl Run {
    /// Carries a run out with a stack of these servers.
    pub(crate) fn of(servers: &[&str], arguments: &[&str]) -> Self {
        let out = tempfile::tempdir().expect("directory");
        let output = Command::new(env!("CARGO_BIN_EXE_load"))
            .arg("run")
            .args(arguments)
            .args(["--up", "--short", "--bin-dir"])
            .arg(binaries(servers))
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
    pub(crate) fn expect_right(self) -> Self {
        let checks = self.results["checks"].as_array().expect("checks");
        let judged = || checks.iter().filter(|check| check["kind"] == "correctness");
        let wrong: Vec<&Value> = judged().filter(|check| check["met"] != true).collect();
        assert_eq!(wrong, Vec::<&Value>::new(), "{}", self.said);
        assert!(judged().next().is_some(), "{}", self.said);
        self
    }

    /// A whole number among what was measured.
    pub(crate) fn number(&self, kind: &str, name: &str) -> u64 {
        let found = self.results["measured"][kind][name].as_u64();
        found.unwrap_or_else(|| panic!("no {name}\n{}", self.said))
    }
}
