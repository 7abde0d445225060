//! Printing belongs to command lines; a server speaks through `tracing`.

use super::finding::Finding;
use super::source::RustSource;

/// Crates whose product is what they print.
const CLI_CRATES: [&str; 3] = ["homeroom/", "load/", "xtask/"];

/// The one library file that speaks to a terminal: configuration is refused before logging exists.
const BEFORE_LOGGING: &str = "runtime/src/config.rs";

const PRINTS: [&str; 4] = ["println!", "eprintln!", "print!", "eprint!"];

/// Reports prints outside command lines, build scripts and tests.
pub(crate) fn check(source: &RustSource<'_>, findings: &mut Vec<Finding>) {
    let file = source.file();
    let may_print = CLI_CRATES.iter().any(|krate| file.path().starts_with(krate))
        || file.path() == BEFORE_LOGGING
        || matches!(file.name(), "main.rs" | "build.rs")
        || file.path().contains("/src/bin/")
        || file.path().contains("/examples/");
    if may_print {
        return;
    }
    for (line, text) in file.lines() {
        if !source.is_test_line(line) && is_print(text) {
            let message = "prints, but a library's words must reach the operator's log with level and fields; \
                           use tracing, or return the text";
            findings.push(Finding::new(file.path(), line, message));
        }
    }
}

fn is_print(line: &str) -> bool {
    let code = line.trim_start();
    if code.starts_with("//") {
        return false;
    }
    PRINTS.iter().any(|print| {
        code.match_indices(print).any(|(at, _)| {
            let before = code[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::tree::File;
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        let file = File::sample(path, text);
        let mut findings = Vec::new();
        check(&RustSource::parse(&file).unwrap(), &mut findings);
        findings.len()
    }

    #[test]
    fn libraries_do_not_print() {
        assert_eq!(findings("api/src/jobs.rs", "fn a() { println!(\"hi\"); }\n"), 1);
        assert_eq!(findings("api/src/jobs.rs", "fn a() { eprint!(\"hi\"); }\n"), 1);
    }

    #[test]
    fn command_lines_and_tests_do() {
        let text = "fn a() { println!(\"hi\"); }\n";
        assert_eq!(findings("api/src/main.rs", text), 0);
        assert_eq!(findings("homeroom/src/banner.rs", text), 0);
        assert_eq!(findings("api/build.rs", text), 0);
        assert_eq!(findings("api/tests/import.rs", text), 0);
        assert_eq!(
            findings(
                "api/src/a.rs",
                "/// println!(1)\nfn a() {}\n#[test]\nfn b() { println!(\"hi\"); }\n"
            ),
            0
        );
    }
}
