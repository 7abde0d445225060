//! Names of players: what is allowed, what is shown, and which names read the same.
//!
//! A name is shown as typed but for white space. Whether it is still free is the roster's business; whether it is fit for
//! a classroom is the teacher's, who can rename and remove.

mod chars;

#[cfg(test)]
mod tests;

use std::fmt;

use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::limits::{NAME_BYTES_MAX, NAME_GRAPHEMES_MAX, NAME_TYPED_BYTES_MAX};

/// A name that is allowed: 1 to `limits::NAME_GRAPHEMES_MAX` graphemes in at most `limits::NAME_BYTES_MAX` bytes, with
/// something to see, without control characters and towers of accents.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlayerName {
    shown: Box<str>,
    key: Box<str>,
}

/// Why a name is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum NameError {
    /// Nothing to see: empty, or white space and invisible characters only.
    #[error("the name is empty")]
    Empty,
    /// More graphemes, accents on one letter or bytes than allowed.
    #[error("the name is too long")]
    TooLong,
    /// A control character, a line or paragraph separator, or one that overrides the direction of the text around it.
    #[error("the name has a control character")]
    Control,
}

impl PlayerName {
    /// Takes a name as typed: white space around it is dropped and white space inside becomes one space; all else stays.
    ///
    /// # Errors
    /// Why the name is not allowed.
    pub fn parse(typed: &str) -> Result<Self, NameError> {
        if typed.len() > NAME_TYPED_BYTES_MAX {
            return Err(NameError::TooLong);
        }
        let trimmed = typed.trim();
        // Before white space is collapsed: a line break inside a name is no slip of a finger, around it it is.
        if trimmed.chars().any(chars::is_refused) {
            return Err(NameError::Control);
        }
        let shown = collapse(trimmed.chars());
        if shown.chars().all(chars::is_invisible) {
            return Err(NameError::Empty);
        }
        if shown.len() > NAME_BYTES_MAX || shown.graphemes(true).count() > NAME_GRAPHEMES_MAX {
            return Err(NameError::TooLong);
        }
        if chars::has_tower(&shown) {
            return Err(NameError::TooLong);
        }
        let key = key(&shown);
        if key.is_empty() {
            return Err(NameError::Empty);
        }
        Ok(Self {
            shown: shown.into(),
            key: key.into(),
        })
    }

    /// The name as it is shown.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.shown
    }

    /// What the name is compared by: names with equal keys read the same.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl AsRef<str> for PlayerName {
    fn as_ref(&self) -> &str {
        &self.shown
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.shown)
    }
}

/// Folds away what a reader in a hurry does not see: compatibility forms (NFKC), case, zero-width characters, white space.
///
/// Case goes down, up and down again, character by character, so that `ẞ`, `ß` and `SS` or the three sigmas meet, which
/// lower case alone leaves apart. NFKC comes twice, as folding can undo it.
fn key(shown: &str) -> String {
    let folded = shown
        .chars()
        .filter(chars::seen())
        .nfkc()
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfkc()
        .filter(chars::seen());
    collapse(folded)
}

/// White space around is dropped, white space inside becomes one space.
fn collapse(chars: impl Iterator<Item = char>) -> String {
    let mut out = String::new();
    let mut gap = false;
    for c in chars {
        if c.is_whitespace() {
            gap = !out.is_empty();
            continue;
        }
        if gap {
            out.push(' ');
            gap = false;
        }
        out.push(c);
    }
    out
}
