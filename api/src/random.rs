//! Randomness for ids and secrets, from the operating system alone.

use rand::TryRngCore as _;
use rand::rand_core::OsError;
use rand::rngs::OsRng;
use uuid::Uuid;

/// `N` random bytes.
///
/// # Errors
/// When the operating system gives none; nothing that needs a secret may go on then.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], OsError> {
    let mut bytes = [0; N];
    OsRng.try_fill_bytes(&mut bytes)?;
    Ok(bytes)
}

/// A random (version 4) id.
///
/// # Errors
/// As [`bytes`].
pub(crate) fn id() -> Result<Uuid, OsError> {
    Ok(uuid::Builder::from_random_bytes(bytes()?).into_uuid())
}
