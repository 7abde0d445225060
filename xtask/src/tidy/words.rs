//! Words that do not belong in the repository: unfinished work, silenced tests, paths of one machine.
//!
//! A line that needs one says why, on itself or on the line before: `tidy-allow: <reason>`.

use super::finding::Finding;
use super::tree::{File, Kind};

/// A word and why it is not wanted. Written in two halves, so that this file does not find itself.
struct Word {
    text: &'static str,
    languages: Languages,
    why: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Languages {
    Rust,
    TypeScript,
    All,
}

const UNFINISHED: &str =
    "unfinished work lands as an issue, not as a panic or a note; finish it or leave it out";
const SILENCED: &str =
    "a test that does not run proves nothing; fix it, delete it, or make it a suite of `./test --long`";
const UNCHECKED: &str = "switches the type check off; fix the type";

const WORDS: [Word; 12] = [
    Word {
        text: concat!("todo", "!("),
        languages: Languages::Rust,
        why: UNFINISHED,
    },
    Word {
        text: concat!("unimplemented", "!("),
        languages: Languages::Rust,
        why: UNFINISHED,
    },
    Word {
        text: concat!("FIX", "ME"),
        languages: Languages::All,
        why: UNFINISHED,
    },
    Word {
        text: concat!("XX", "X"),
        languages: Languages::All,
        why: UNFINISHED,
    },
    Word {
        text: concat!("#[", "ignore"),
        languages: Languages::Rust,
        why: SILENCED,
    },
    Word {
        text: concat!("test.", "skip("),
        languages: Languages::TypeScript,
        why: SILENCED,
    },
    Word {
        text: concat!("test.", "only("),
        languages: Languages::TypeScript,
        why: SILENCED,
    },
    Word {
        text: concat!("describe.", "skip("),
        languages: Languages::TypeScript,
        why: SILENCED,
    },
    Word {
        text: concat!("describe.", "only("),
        languages: Languages::TypeScript,
        why: SILENCED,
    },
    Word {
        text: concat!("@ts-", "ignore"),
        languages: Languages::TypeScript,
        why: UNCHECKED,
    },
    Word {
        text: concat!("@ts-", "nocheck"),
        languages: Languages::TypeScript,
        why: UNCHECKED,
    },
    Word {
        text: concat!("eslint-", "disable"),
        languages: Languages::TypeScript,
        why: UNCHECKED,
    },
];

/// Folders that exist on the machine of whoever wrote the line.
const MACHINE_PATHS: [&str; 3] = [
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
];

const ALLOW: &str = "tidy-allow: ";

/// Reports each unwanted word once a line. Lock files and generated files are nobody's prose.
pub(crate) fn check(file: &File, findings: &mut Vec<Finding>) {
    if file.kind() == Kind::Lock || file.is_generated() {
        return;
    }
    let mut allowed_before = false;
    for (line, text) in file.lines() {
        let allowed = allows(text);
        if !allowed && !allowed_before {
            check_line(file, line, text, findings);
        }
        allowed_before = allowed;
    }
}

fn allows(line: &str) -> bool {
    line.split_once(ALLOW)
        .is_some_and(|(_, reason)| !reason.trim().is_empty())
}

fn check_line(file: &File, line: usize, text: &str, findings: &mut Vec<Finding>) {
    let applies = |languages| match languages {
        Languages::Rust => file.kind() == Kind::Rust,
        Languages::TypeScript => file.kind() == Kind::TypeScript,
        Languages::All => true,
    };
    for word in WORDS
        .iter()
        .filter(|word| applies(word.languages) && holds_word(text, word.text))
    {
        findings.push(Finding::new(
            file.path(),
            line,
            format!("`{}`: {}", word.text, word.why),
        ));
    }
    for path in MACHINE_PATHS.iter().filter(|path| holds_path(text, path)) {
        let message = format!(
            "`{path}` is a path of one machine; use a relative path, a flag or an environment variable"
        );
        findings.push(Finding::new(file.path(), line, message));
    }
}

/// The word by itself, not as a part of a longer one.
fn holds_word(line: &str, word: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let word_ends = is_word(word.chars().next_back());
    line.match_indices(word).any(|(at, _)| {
        let after = line[at + word.len()..].chars().next();
        let inside = is_word(line[..at].chars().next_back()) || (word_ends && is_word(after));
        !inside
    })
}

/// An absolute path: `docs/home/` and `https://host/home/` are none.
fn holds_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        !line[..at]
            .chars()
            .next_back()
            .is_some_and(|c| c.is_alphanumeric() || "._-}~/*)$".contains(c))
    })
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
    fn every_word_fires_in_its_language() {
        for word in &WORDS {
            let path = if word.languages == Languages::TypeScript {
                "a.ts"
            } else {
                "a.rs"
            };
            assert_eq!(
                lines(path, &format!("ok\n{} x\n", word.text)).len(),
                1,
                "{}",
                word.text
            );
        }
    }

    #[test]
    fn words_inside_words_and_other_languages_are_free() {
        assert_eq!(lines("a.rs", concat!("let AXX", "XB = 1;\n")), NONE);
        assert_eq!(lines("a.md", concat!("the macro todo", "!() panics\n")), NONE);
        assert_eq!(lines("a.md", concat!("FIX", "ME later\n")), [1]);
    }

    #[test]
    fn paths_of_a_machine_fire_and_urls_do_not() {
        for path in MACHINE_PATHS {
            assert_eq!(lines("a.sh", &format!("cd {path}x\n")), [1]);
            assert_eq!(lines("a.sh", &format!("open https://example.org{path}x\n")), NONE);
            assert_eq!(lines("a.sh", &format!("cd docs{path}x\n")), NONE);
        }
    }

    #[test]
    fn an_exception_needs_a_reason() {
        let path = MACHINE_PATHS[0];
        assert_eq!(
            lines(
                "a.sh",
                &format!("# tidy-allow: the image's user lives there\nHOME={path}x\n")
            ),
            NONE
        );
        assert_eq!(lines("a.sh", &format!("# tidy-allow: \nHOME={path}x\n")), [2]);
        assert_eq!(
            lines("a.sh", &format!("# tidy-allow: one line\n\nHOME={path}x\n")),
            [3]
        );
    }
}
