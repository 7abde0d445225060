//! The files that belong to the repository, and what kind each is.
//!
//! git decides what belongs: tracked files, and new ones that are not ignored, so a rule fires before the commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// The checked files with their text.
pub(crate) struct Tree {
    root: PathBuf,
    files: Vec<File>,
}

/// What the rules look at in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `.rs`.
    Rust,
    /// `.ts`, `.tsx`, `.mts`.
    TypeScript,
    /// `Cargo.lock` and `package-lock.json`.
    Lock,
    /// Any other text: words are checked, shape is not.
    Other,
}

/// One text file of the repository.
pub(crate) struct File {
    path: String,
    text: String,
}

impl Tree {
    /// Reads the repository this binary was built from.
    pub(crate) fn open() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest
            .parent()
            .context("xtask lies in a folder of the repository")?
            .to_owned();
        let listing = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&root)
            .output()
            .context("run git ls-files")?;
        ensure!(
            listing.status.success(),
            "git ls-files: {}",
            String::from_utf8_lossy(&listing.stderr).trim()
        );
        let names = String::from_utf8(listing.stdout).context("file names are UTF-8")?;
        let mut files: Vec<File> = names
            .split('\0')
            .filter_map(|name| File::read(&root, name))
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path == b.path);
        Ok(Self { root, files })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn files(&self) -> &[File] {
        &self.files
    }
}

impl File {
    /// `None` for what has no text: pictures, spreadsheets, a tracked file deleted in the work tree, links to folders.
    fn read(root: &Path, path: &str) -> Option<Self> {
        let text = String::from_utf8(fs::read(root.join(path)).ok()?).ok()?;
        Some(Self {
            path: path.to_owned(),
            text,
        })
    }

    /// A file that exists only in a test of a rule.
    #[cfg(test)]
    pub(crate) fn sample(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    /// From the repository's root, with forward slashes.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Lines with their numbers from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }

    pub(crate) fn line_count(&self) -> usize {
        self.text.lines().count()
    }

    pub(crate) fn kind(&self) -> Kind {
        let name = self.name();
        if name == "Cargo.lock" || name == "package-lock.json" {
            return Kind::Lock;
        }
        match name.rsplit_once('.') {
            Some((_, "rs")) => Kind::Rust,
            Some((_, "ts" | "tsx" | "mts")) => Kind::TypeScript,
            _ => Kind::Other,
        }
    }

    /// Files that hold only tests; sizes do not bind them.
    pub(crate) fn is_test(&self) -> bool {
        let folder = self
            .path
            .split('/')
            .rev()
            .skip(1)
            .any(|part| matches!(part, "tests" | "test" | "benches" | "e2e"));
        let name = self.name();
        folder || name == "tests.rs" || name.contains(".test.") || name.contains(".spec.")
    }

    /// Written by a program, which says so in its first lines.
    pub(crate) fn is_generated(&self) -> bool {
        self.text.lines().take(3).any(|line| {
            let line = line.to_ascii_lowercase();
            let comment = line.starts_with("//") || line.starts_with("/*") || line.starts_with('#');
            comment && line.contains("generated")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_tests_follow_the_name() {
        let kind = |path| File::sample(path, "").kind();
        assert_eq!(kind("api/src/lib.rs"), Kind::Rust);
        assert_eq!(kind("web/src/app.tsx"), Kind::TypeScript);
        assert_eq!(kind("web/package-lock.json"), Kind::Lock);
        assert_eq!(kind("README.md"), Kind::Other);

        let is_test = |path| File::sample(path, "").is_test();
        assert!(is_test("api/tests/import.rs"));
        assert!(is_test("api/src/import/tests.rs"));
        assert!(is_test("web/e2e/game.spec.ts"));
        assert!(!is_test("api/src/import.rs"));
        assert!(!is_test("test"));
    }

    #[test]
    fn only_a_first_comment_marks_a_generated_file() {
        let generated = |text| File::sample("a.ts", text).is_generated();
        assert!(generated(
            "// This file is generated from protocol/.\nexport type A = 1"
        ));
        assert!(!generated("const generated = 1\n"));
        assert!(!generated(
            "//! TypeScript is written elsewhere.\n\n\n\n// generated"
        ));
    }

    #[test]
    fn the_repository_lists_this_file() {
        let tree = Tree::open().unwrap();
        assert!(
            tree.files()
                .iter()
                .any(|file| file.path() == "xtask/src/tidy/tree.rs")
        );
        assert!(!tree.files().iter().any(|file| file.path().starts_with("target/")));
    }
}
