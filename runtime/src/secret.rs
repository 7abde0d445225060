//! Secrets that processes share, read from files, and never printed.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::files;

/// Shortest secret, in bytes: the output of SHA-256; a shorter one weakens HS256.
pub const SECRET_BYTES_MIN: usize = 32;
/// Longest secret file read, in bytes: far more than anybody draws.
const FILE_BYTES_MAX: u64 = 4 * 1024;

/// A shared secret. `Debug` prints nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

/// Why a secret cannot be used.
#[derive(Debug, Error)]
pub enum SecretError {
    /// The file cannot be read.
    #[error("the secret file {path} cannot be read: {why}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
    /// It is too short to be worth anything.
    #[error("the secret in {path} has {bytes} bytes; at least {SECRET_BYTES_MIN} are needed")]
    Short {
        /// The file.
        path: PathBuf,
        /// Bytes found, white space at the ends not counted.
        bytes: usize,
    },
}

impl Secret {
    /// Reads a secret. White space at both ends does not count: editors and `echo` leave a line's end behind.
    ///
    /// # Errors
    /// When the file cannot be read, or holds less than [`SECRET_BYTES_MIN`].
    pub fn read(path: &Path) -> Result<Self, SecretError> {
        let text = files::read(path, FILE_BYTES_MAX).map_err(|why| SecretError::Unreadable {
            path: path.to_owned(),
            why,
        })?;
        let secret = text.trim_ascii().to_vec();
        if secret.len() < SECRET_BYTES_MIN {
            return Err(SecretError::Short {
                path: path.to_owned(),
                bytes: secret.len(),
            });
        }
        Ok(Self(secret))
    }

    /// A secret that comes from no file: of tests and the simulation. None when it is shorter than [`SECRET_BYTES_MIN`].
    #[must_use]
    pub fn given(bytes: &[u8]) -> Option<Self> {
        (bytes.len() >= SECRET_BYTES_MIN).then(|| Self(bytes.to_vec()))
    }

    /// The secret itself.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &[u8]) -> Result<Secret, SecretError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        Secret::read(file.path())
    }

    #[test]
    fn a_line_end_is_no_part_of_a_secret() {
        let secret = read(b"0123456789abcdef0123456789abcdef\n").unwrap();
        assert_eq!(secret.bytes(), b"0123456789abcdef0123456789abcdef");
        assert!(!format!("{secret:?}").contains("0123"));
    }

    #[test]
    fn short_missing_and_endless_ones_are_refused_without_being_told() {
        let short = read(b" 0123456789abcdef0123456789abcde\n").unwrap_err();
        assert!(matches!(short, SecretError::Short { bytes: 31, .. }), "{short}");
        assert!(!short.to_string().contains("0123"));
        let missing = Secret::read(Path::new("/nowhere/at/all")).unwrap_err();
        assert!(missing.to_string().contains("/nowhere/at/all"), "{missing}");
        let endless = Secret::read(Path::new("/dev/zero")).unwrap_err();
        assert!(matches!(endless, SecretError::Unreadable { .. }), "{endless}");
    }
}
