//! Sizes of files: none too long to hold in mind, most of them short.
//!
//! Test files, generated files and the tests inside a file do not count.

use super::finding::Finding;
use super::tree::{File, Kind};

/// Longest file, in lines without its tests (style: "600 at most").
const FILE_LINES_MAX: usize = 600;
/// The median file of a language stays below this many lines (style: "median under 150").
const MEDIAN_LINES_BELOW: usize = 150;

/// Collects the size of every file that counts.
#[derive(Default)]
pub(crate) struct Sizes {
    rust: Vec<(usize, String)>,
    typescript: Vec<(usize, String)>,
}

impl Sizes {
    /// Adds a file with its lines, tests taken off.
    pub(crate) fn add(&mut self, file: &File, lines: usize) {
        if file.is_test() || file.is_generated() {
            return;
        }
        let entry = (lines, file.path().to_owned());
        match file.kind() {
            Kind::Rust => self.rust.push(entry),
            Kind::TypeScript => self.typescript.push(entry),
            Kind::Lock | Kind::Other => {}
        }
    }

    /// Reports what is too long.
    pub(crate) fn check(mut self, findings: &mut Vec<Finding>) {
        for (language, files) in [("Rust", &mut self.rust), ("TypeScript", &mut self.typescript)] {
            files.sort();
            for (lines, path) in files.iter().filter(|(lines, _)| *lines > FILE_LINES_MAX) {
                let message = format!(
                    "{lines} lines without tests, {FILE_LINES_MAX} at most; split it by what each part owns"
                );
                findings.push(Finding::new(path, 1, message));
            }
            if let Some((lines, path)) = files.get(files.len() / 2)
                && *lines >= MEDIAN_LINES_BELOW
            {
                let message = format!(
                    "this is the median {language} file with {lines} lines, and the median stays below \
                     {MEDIAN_LINES_BELOW}; split the longest files"
                );
                findings.push(Finding::new(path, 1, message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(files: &[(&str, usize)]) -> Vec<Finding> {
        let mut sizes = Sizes::default();
        for (path, lines) in files {
            sizes.add(&File::sample(path, "//! Doc.\n"), *lines);
        }
        let mut findings = Vec::new();
        sizes.check(&mut findings);
        findings
    }

    #[test]
    fn a_long_file_is_found_in_both_languages() {
        let found = findings(&[
            ("a.rs", 601),
            ("b.rs", 1),
            ("c.rs", 1),
            ("a.ts", 601),
            ("b.ts", 1),
            ("c.tsx", 1),
        ]);
        let paths: Vec<&str> = found.iter().map(|finding| finding.path.as_str()).collect();
        assert_eq!(paths, ["a.rs", "a.ts"]);
    }

    #[test]
    fn the_median_binds_each_language_by_itself() {
        let found = findings(&[
            ("a.rs", 150),
            ("b.rs", 150),
            ("c.rs", 1),
            ("a.ts", 149),
            ("b.ts", 149),
            ("c.ts", 1),
        ]);
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("median Rust file with 150 lines"));
    }

    #[test]
    fn limits_are_allowed_and_tests_are_free() {
        assert_eq!(
            findings(&[("a.rs", 600), ("b.rs", 149), ("c.rs", 1), ("x/tests/d.rs", 5000)]),
            []
        );
    }
}
