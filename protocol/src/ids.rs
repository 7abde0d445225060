//! Identifiers, each a type of its own so that two of them cannot be swapped.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Symbols in a game code.
pub const CODE_LEN: usize = 6;

/// The alphabet of game codes: upper case, without the look-alikes 0/O, 1/I/L and without U (read as V).
pub const CODE_ALPHABET: &[u8; 30] = b"23456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The code students type, in its canonical form: six symbols of [`CODE_ALPHABET`].
///
/// Servers accept only this form (`FromStr`); clients turn what people type into it with [`GameCode::from_typed`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "string"))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("pattern" = "^[23456789ABCDEFGHJKMNPQRSTVWXYZ]{6}$")))]
pub struct GameCode([u8; CODE_LEN]);

/// Why a string is no game code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CodeError {
    /// The code has the wrong number of symbols.
    #[error("a game code has exactly {CODE_LEN} symbols")]
    Length,
    /// The code has a symbol outside the alphabet, lower case included.
    #[error("a game code has only upper-case letters and digits without 0, O, 1, I, L and U")]
    Symbol,
}

impl GameCode {
    /// Builds a code from six alphabet positions (each taken modulo the alphabet's length). The caller draws them at random.
    #[must_use]
    pub fn from_positions(positions: [u8; CODE_LEN]) -> Self {
        Self(positions.map(|p| CODE_ALPHABET[usize::from(p) % CODE_ALPHABET.len()]))
    }

    /// Canonicalises what a person typed: white space and hyphens dropped, letters upper-cased.
    ///
    /// # Errors
    /// As `FromStr`, when the rest is no code.
    pub fn from_typed(typed: &str) -> Result<Self, CodeError> {
        let canonical: String = typed
            .chars()
            .filter(|c| !c.is_whitespace() && *c != '-')
            .map(|c| c.to_ascii_uppercase())
            .collect();
        canonical.parse()
    }

    /// The code as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // The constructors admit only ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl FromStr for GameCode {
    type Err = CodeError;

    fn from_str(s: &str) -> Result<Self, CodeError> {
        let bytes: [u8; CODE_LEN] = s.as_bytes().try_into().map_err(|_| CodeError::Length)?;
        if bytes.iter().all(|b| CODE_ALPHABET.contains(b)) {
            Ok(Self(bytes))
        } else {
            Err(CodeError::Symbol)
        }
    }
}

impl TryFrom<String> for GameCode {
    type Error = CodeError;

    fn try_from(s: String) -> Result<Self, CodeError> {
        s.parse()
    }
}

impl From<GameCode> for String {
    fn from(code: GameCode) -> Self {
        code.as_str().to_owned()
    }
}

impl fmt::Display for GameCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for GameCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GameCode({})", self.as_str())
    }
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS), ts(type = "string"))]
        #[serde(transparent)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name(pub uuid::Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(s: &str) -> Result<Self, uuid::Error> {
                s.parse().map(Self)
            }
        }
    };
}

uuid_id!(
    /// One game, for ever: codes come back, this does not.
    GameId
);
uuid_id!(
    /// A teacher's account.
    TeacherId
);
uuid_id!(
    /// A stored quiz.
    QuizId
);
uuid_id!(
    /// A quiz that its teacher shares. Whoever knows it may read the quiz, so it is drawn at random, 122 bits of it.
    ShareId
);

/// A player within one game, counted from 1 in the order of joining and never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "number"))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlayerId(pub u32);

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests;
