//! Links between pages: a page that moved must not leave a dead end behind.

use std::path::{Path, PathBuf};

use super::finding::Finding;
use super::tree::File;

/// Reports relative links of a Markdown file to files that do not exist below `root`. Addresses of other hosts and
/// anchors within the page are not followed.
pub(crate) fn check(root: &Path, file: &File, findings: &mut Vec<Finding>) {
    if !file.name().ends_with(".md") {
        return;
    }
    let folder = root
        .join(file.path())
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default();
    let mut in_code = false;
    for (line, text) in file.lines() {
        if text.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for target in targets(text) {
            if !resolve(root, &folder, target).exists() {
                let message = format!("links to {target}, which does not exist; correct the link or drop it");
                findings.push(Finding::new(file.path(), line, message));
            }
        }
    }
}

/// Paths of the inline links and pictures in a line, without their anchors.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| {
        let (target, _) = rest.split_once(')')?;
        let path = target.split(['#', ' ']).next()?;
        let elsewhere = path.contains("://") || path.starts_with("mailto:");
        (!path.is_empty() && !elsewhere).then_some(path)
    })
}

fn resolve(root: &Path, folder: &Path, target: &str) -> PathBuf {
    match target.strip_prefix('/') {
        Some(from_root) => root.join(from_root),
        None => folder.join(target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut findings = Vec::new();
        check(root, &File::sample("xtask/src/PAGE.md", text), &mut findings);
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_dead_link_fires() {
        assert_eq!(
            lines("See [a](main.rs) and\n[b](gone.rs) or ![c](../gone.png).\n"),
            [2, 2]
        );
        assert_eq!(lines("[a](/gone.md)\n"), [1]);
    }

    #[test]
    fn living_links_anchors_and_addresses_pass() {
        let text = "[a](main.rs#top) [b](../Cargo.toml) [c](/Cargo.toml)\n[d](#here) [e](https://example.org/x)\n\
                    ```\n[f](gone.rs)\n```\n";
        assert_eq!(lines(text).len(), 0);
    }
}
