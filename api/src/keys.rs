//! The keys that tokens are signed with, kept in one file of the data folder.
//!
//! Ed25519 signs what the API issues; game servers and clients check it by the public set ([`Keys::jwks`]). The secret for players'
//! resume tokens is only kept here for the game servers; the API never uses it.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{hex, random};

/// Version of the file's format.
const FORMAT: u32 = 1;
/// Bytes of the file at most; a real one has 0.4 kB.
const FILE_BYTES_MAX: u64 = 16 * 1024;
/// Bytes of each secret.
const SECRET_BYTES: usize = 32;
/// What stands before the 32 bytes of an Ed25519 seed in PKCS#8 (RFC 8410, section 7).
const PKCS8_ED25519_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// Why the keys are not there.
#[derive(Debug, Error)]
pub enum KeysError {
    /// Reading or writing the file failed.
    #[error("cannot {action} the key file {}", path.display())]
    Io {
        /// What was tried: "read", "write".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is there, but is not one of ours. It is left untouched: new keys would sign everybody out.
    #[error("the key file {} cannot be used: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The operating system gives no randomness.
    #[error("no randomness for new keys")]
    Random(#[source] rand::rand_core::OsError),
    /// A key of the right form was not accepted.
    #[error("the signing key is not accepted")]
    Key(#[source] jsonwebtoken::errors::Error),
}

/// The key file.
#[derive(Serialize, Deserialize)]
struct KeyFile {
    format: u32,
    /// Ed25519 private key, PKCS#8.
    signing_pkcs8_hex: String,
    /// HS256 secret of the game servers' own tokens.
    game_secret_hex: String,
    /// HS256 secret that successors of refresh tokens are derived with.
    refresh_secret_hex: String,
}

/// The keys in memory.
pub struct Keys {
    pub(crate) kid: String,
    pub(crate) signing: EncodingKey,
    pub(crate) verifying: DecodingKey,
    pub(crate) refresh: EncodingKey,
    public: Jwk,
    game_secret: Vec<u8>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys")
            .field("kid", &self.kid)
            .finish_non_exhaustive()
    }
}

impl Keys {
    /// Reads the file, or makes new keys and writes it (readable by its owner only) when there is none.
    ///
    /// Blocks on the disk; meant for the start of a process.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is not a key file of this version.
    pub fn load_or_create(path: &Path) -> Result<Self, KeysError> {
        match read(path) {
            Ok(file) => Self::from_file(path, &file),
            Err(KeysError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                let file = KeyFile::generate()?;
                match write_new(path, &file) {
                    Ok(()) => Self::from_file(path, &file),
                    // Another process of the same data folder was faster; its keys are the keys.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        Self::from_file(path, &read(path)?)
                    }
                    Err(source) => Err(KeysError::Io {
                        action: "write",
                        path: path.to_owned(),
                        source,
                    }),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// New keys that are kept nowhere, for tests and tools.
    ///
    /// # Errors
    /// When there is no randomness.
    pub fn generate() -> Result<Self, KeysError> {
        Self::from_file(Path::new("(in memory)"), &KeyFile::generate()?)
    }

    /// The public keys, as served at `/.well-known/jwks.json`.
    #[must_use]
    pub fn jwks(&self) -> JwkSet {
        JwkSet {
            keys: vec![self.public.clone()],
        }
    }

    /// The HS256 secret of the game servers' own tokens, 32 bytes.
    #[must_use]
    pub fn game_secret(&self) -> &[u8] {
        &self.game_secret
    }

    fn from_file(path: &Path, file: &KeyFile) -> Result<Self, KeysError> {
        let unusable = |reason: &str| KeysError::Unusable {
            path: path.to_owned(),
            reason: reason.to_owned(),
        };
        if file.format != FORMAT {
            return Err(unusable("its format is of another release"));
        }
        let pkcs8 = hex::decode(&file.signing_pkcs8_hex)
            .filter(|bytes| bytes.len() == PKCS8_ED25519_PREFIX.len() + SECRET_BYTES)
            .ok_or_else(|| unusable("the signing key is damaged"))?;
        let secret = |text: &str| {
            hex::decode(text)
                .filter(|bytes| bytes.len() == SECRET_BYTES)
                .ok_or_else(|| unusable("a secret is damaged"))
        };
        let signing = EncodingKey::from_ed_der(&pkcs8);
        let mut public = Jwk::from_encoding_key(&signing, Algorithm::EdDSA).map_err(KeysError::Key)?;
        // RFC 7638: the same key has the same name in every process.
        let kid = public
            .thumbprint(ThumbprintHash::SHA256)
            .map_err(KeysError::Key)?;
        public.common.key_id = Some(kid.clone());
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        Ok(Self {
            kid,
            verifying: DecodingKey::from_jwk(&public).map_err(KeysError::Key)?,
            refresh: EncodingKey::from_secret(&secret(&file.refresh_secret_hex)?).map_err(KeysError::Key)?,
            game_secret: secret(&file.game_secret_hex)?,
            signing,
            public,
        })
    }
}

impl KeyFile {
    fn generate() -> Result<Self, KeysError> {
        let secret = || random::bytes::<SECRET_BYTES>().map_err(KeysError::Random);
        let pkcs8 = [PKCS8_ED25519_PREFIX.as_slice(), secret()?.as_slice()].concat();
        Ok(Self {
            format: FORMAT,
            signing_pkcs8_hex: hex::encode(&pkcs8),
            game_secret_hex: hex::encode(&secret()?),
            refresh_secret_hex: hex::encode(&secret()?),
        })
    }
}

fn read(path: &Path) -> Result<KeyFile, KeysError> {
    let failed = |source| KeysError::Io {
        action: "read",
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    warn_if_readable_by_others(path, &file);
    let mut text = String::new();
    #[expect(clippy::disallowed_methods, reason = "bounded by the take")]
    file.take(FILE_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(failed)?;
    serde_json::from_str(&text).map_err(|error| KeysError::Unusable {
        path: path.to_owned(),
        // The position only: the message could quote a secret.
        reason: format!(
            "it is no key file (line {}, column {})",
            error.line(),
            error.column()
        ),
    })
}

/// Only a warning: a secret mounted by an orchestrator is often readable by the group, and that is the operator's choice.
fn warn_if_readable_by_others(path: &Path, file: &File) {
    #[cfg(unix)]
    if let Ok(metadata) = file.metadata() {
        use std::os::unix::fs::PermissionsExt as _;
        if metadata.permissions().mode() & 0o077 != 0 {
            tracing::warn!(path = %path.display(), "the key file can be read by other users of this machine");
        }
    }
}

/// Writes beside, then links into place: a crash leaves either no key file or a whole one, and a file that appeared
/// meanwhile is never replaced.
fn write_new(path: &Path, file: &KeyFile) -> io::Result<()> {
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let written = options.open(&beside).and_then(|mut out| {
        out.write_all(&serde_json::to_vec_pretty(file)?)?;
        out.sync_all()
    });
    let linked = written.and_then(|()| fs::hard_link(&beside, path));
    // The link is what counts; a leftover holds nothing that the key file does not.
    let _removed = fs::remove_file(&beside);
    linked?;
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn keys_come_back_from_a_private_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let first = Keys::load_or_create(&path).unwrap();
        let again = Keys::load_or_create(&path).unwrap();
        assert_eq!(first.jwks(), again.jwks());
        assert_eq!(first.game_secret(), again.game_secret());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
        assert_ne!(Keys::generate().unwrap().kid, first.kid);
    }

    #[test]
    fn the_public_set_holds_no_secret() {
        let keys = Keys::generate().unwrap();
        let set = serde_json::to_value(keys.jwks()).unwrap();
        let key = set["keys"][0].as_object().unwrap();
        let mut fields: Vec<_> = key.keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["alg", "crv", "kid", "kty", "use", "x"]);
        assert_eq!(key["alg"], "EdDSA");
    }

    #[test]
    fn a_damaged_file_is_refused_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        for bad in [
            "",
            "{}",
            "{\"format\":1,\"signing_pkcs8_hex\":\"00\",\"game_secret_hex\":\"\",\"refresh_secret_hex\":\"\"}",
        ] {
            fs::write(&path, bad).unwrap();
            let error = Keys::load_or_create(&path).unwrap_err();
            assert!(matches!(error, KeysError::Unusable { .. }), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), bad);
        }
    }
}
