//! The functions in Redis that every call goes through, and their names.
//!
//! The text decides the names: a release with another text registers other functions beside those of the release before, and
//! neither can call the other's by accident while one replaces the other.

use std::sync::LazyLock;

/// What is loaded into Redis, with `@` where the tag goes.
const TEMPLATE: &str = include_str!("homeroom.lua");

/// The text with its tag.
static LIBRARY: LazyLock<Library> = LazyLock::new(Library::new);

struct Library {
    tag: String,
    text: String,
}

/// A function of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Create,
    Claim,
    Assert,
    Append,
    Snapshot,
    Tail,
    Load,
    Release,
    Remove,
}

impl Library {
    fn new() -> Self {
        // 16 bits: enough to tell one release from the next, and short, since it is in every call.
        let tag = format!("{:04x}", crc32fast::hash(TEMPLATE.as_bytes()) & 0xffff);
        let text = TEMPLATE.replace('@', &tag);
        Self { tag, text }
    }
}

impl Function {
    /// Its name, short since it is in every call.
    pub(super) fn name(self) -> String {
        let letter = match self {
            Self::Create => 'c',
            Self::Claim => 'o',
            Self::Assert => 'w',
            Self::Append => 'a',
            Self::Snapshot => 's',
            Self::Tail => 't',
            Self::Load => 'l',
            Self::Release => 'r',
            Self::Remove => 'd',
        };
        format!("h{}{letter}", LIBRARY.tag)
    }

    /// What an answer of it is about.
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Create => "an answer to create",
            Self::Claim => "an answer to claim",
            Self::Assert => "an answer to assert",
            Self::Append => "an answer to append",
            Self::Snapshot => "an answer to snapshot",
            Self::Tail => "an owner record",
            Self::Load => "a game",
            Self::Release => "an answer to release",
            Self::Remove => "an answer to remove",
        }
    }
}

/// The text to load.
pub(super) fn text() -> &'static str {
    &LIBRARY.text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_in_the_text_under_its_name() {
        let all = [
            Function::Create,
            Function::Claim,
            Function::Assert,
            Function::Append,
            Function::Snapshot,
            Function::Tail,
            Function::Load,
            Function::Release,
            Function::Remove,
        ];
        for function in all {
            let name = format!("'{}'", function.name());
            assert_eq!(text().matches(&name).count(), 1, "{name}");
        }
        assert_eq!(text().matches("register_function").count(), all.len());
        assert!(text().starts_with(&format!("#!lua name=homeroom_{}\n", LIBRARY.tag)));
        assert!(!text().contains('@'));
    }
}
