//! What lock files must not hold: two WebSocket libraries, and the addresses packages came from.

use super::finding::Finding;
use super::tree::File;

/// axum brings these; a second copy has its own buffers, limits and error types.
const ONE_COPY: [&str; 2] = ["tungstenite", "tokio-tungstenite"];

/// Reports doubled packages and recorded addresses.
pub(crate) fn check(file: &File, findings: &mut Vec<Finding>) {
    if file.name() == "Cargo.lock" {
        check_one_copy(file, findings);
    } else {
        check_addresses(file, findings);
    }
}

fn check_one_copy(file: &File, findings: &mut Vec<Finding>) {
    for package in ONE_COPY {
        let entry = format!("name = \"{package}\"");
        let second = file.lines().filter(|(_, line)| *line == entry).nth(1);
        if let Some((line, _)) = second {
            let message = format!(
                "a second version of {package}: types stop fitting and its limits must be set twice; ask for the \
                 version that axum brings"
            );
            findings.push(Finding::new(file.path(), line, message));
        }
    }
}

/// npm can pin a package by its hash alone; an address pins the registry of whoever wrote the file too.
fn check_addresses(file: &File, findings: &mut Vec<Finding>) {
    for (line, text) in file.lines() {
        let text = text.trim_start();
        if text.starts_with("\"resolved\": \"http") {
            let message = "names a registry's address, which others may not reach; write the lock file with \
                           `npm install --omit-lockfile-registry-resolved`";
            findings.push(Finding::new(file.path(), line, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [usize; 0] = [];

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let mut findings = Vec::new();
        check(&File::sample(path, text), &mut findings);
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn one_websocket_library() {
        let one = "[[package]]\nname = \"tungstenite\"\n[[package]]\nname = \"tokio-tungstenite\"\n";
        assert_eq!(lines("Cargo.lock", one), NONE);
        let two = format!("{one}[[package]]\nname = \"tungstenite\"\n");
        assert_eq!(lines("Cargo.lock", &two), [6]);
    }

    #[test]
    fn no_addresses_in_npm_locks() {
        let bad =
            "{\n  \"resolved\": \"https://registry.example/preact.tgz\",\n  \"integrity\": \"sha512-\"\n}\n";
        assert_eq!(lines("web/package-lock.json", bad), [2]);
        assert_eq!(
            lines("web/package-lock.json", "{\n  \"integrity\": \"sha512-\"\n}\n"),
            NONE
        );
    }
}
