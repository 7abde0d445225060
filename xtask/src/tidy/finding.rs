//! One finding: where, what, and what to do about it.

use std::fmt;

/// Sorted by path, then line, so that the output reads like the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Path from the repository's root.
    pub(crate) path: String,
    /// Counted from 1; 1 for what concerns the whole file.
    pub(crate) line: usize,
    /// What is wrong, why it matters, what to do, in one line.
    pub(crate) message: String,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}
