//! How a Rust module lies in the tree and opens.

use super::finding::Finding;
use super::tree::File;

/// Reports `mod.rs` files, modules that do not say what they own, and a core that is not pure.
pub(crate) fn check(file: &File, findings: &mut Vec<Finding>) {
    if file.name() == "mod.rs" {
        let message = "no mod.rs: an editor full of equal names helps nobody; name it after its folder, beside it \
                       (for shared test code: tests/NAME/main.rs with modules beside it)";
        findings.push(Finding::new(file.path(), 1, message));
    }
    let opens_with_doc = file
        .text()
        .lines()
        .find(|line| !line.trim().is_empty())
        .is_some_and(|line| line.starts_with("//!"));
    if !opens_with_doc && !file.is_generated() {
        let message = "does not open with `//!`; say what this module owns and what it leaves to whom";
        findings.push(Finding::new(file.path(), 1, message));
    }
    if file.path().starts_with("game-core/src/") && !file.is_test() {
        check_pure(file, findings);
    }
}

/// What the rules of a game must not reach for: replaying the journal must give the same game.
const IMPURE: [(&str, &str); 7] = [
    ("std::time::SystemTime", "a clock"),
    ("std::time::Instant", "a clock"),
    ("Instant::now", "a clock"),
    ("std::thread", "a thread"),
    ("std::fs", "a file"),
    ("std::net", "a socket"),
    ("RandomState", "randomness"),
];

fn check_pure(file: &File, findings: &mut Vec<Finding>) {
    for (line, text) in file
        .lines()
        .filter(|(_, text)| !text.trim_start().starts_with("//"))
    {
        for (word, what) in IMPURE.iter().filter(|(word, _)| text.contains(word)) {
            let message = format!(
                "{word} is {what}, and game-core is pure: replaying the journal must give the same game; \
                 take it from the command"
            );
            findings.push(Finding::new(file.path(), line, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        check(&File::sample(path, text), &mut findings);
        findings
    }

    #[test]
    fn a_module_opens_with_its_purpose() {
        assert_eq!(findings("a/src/b.rs", "//! Owns b.\nfn b() {}\n"), []);
        assert_eq!(findings("a/src/b.rs", "\n//! Owns b.\n"), []);
        assert_eq!(findings("a/src/b.rs", "fn b() {}\n").len(), 1);
        assert_eq!(findings("a/src/b.rs", "").len(), 1);
    }

    #[test]
    fn no_mod_rs() {
        let found = findings("a/src/b/mod.rs", "//! Owns b.\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("no mod.rs"));
    }

    #[test]
    fn the_core_reads_no_clock() {
        let text = "//! Core.\n// std::time::Instant would be wrong here.\nlet now = std::time::SystemTime::now();\n";
        let found = findings("game-core/src/apply.rs", text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 3);
        assert_eq!(findings("api/src/clock.rs", text), []);
    }
}
