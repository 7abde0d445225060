//! The memory that hashing works in: as many areas as there are hashes at once, kept and used again.
//!
//! Taken from the allocator for each hash and given back, areas of 19 MiB end up between everything else that is allocated
//! meanwhile and fit nowhere the next time: sixty wrong passwords cost the process 800 MB for good.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use argon2::password_hash::errors::Result;
use argon2::password_hash::{Decimal, Ident, Output, ParamsString, PasswordHash, PasswordHasher, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};

/// Bytes of a salt, decoded, at most, by the PHC string format.
const SALT_BYTES_MAX: usize = 64;

/// Areas that no hash works in at the moment. Clones share them.
///
/// An area is made when none is free, so that there are never more than hashes have run at once; the caller bounds those.
#[derive(Debug, Clone, Default)]
pub(super) struct Workspaces {
    free: Arc<Mutex<Vec<Vec<Block>>>>,
}

impl Workspaces {
    /// Lends an area to `work` for as long as it takes.
    pub(super) fn with<T>(&self, work: impl FnOnce(&Hashing<'_>) -> T) -> T {
        let free = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut area = free().pop().unwrap_or_default();
        let done = work(&Hashing {
            area: RefCell::new(&mut area),
        });
        free().push(area);
        done
    }

    #[cfg(test)]
    pub(super) fn free_count(&self) -> usize {
        self.free.lock().unwrap().len()
    }
}

/// argon2 within a lent area.
pub(super) struct Hashing<'a> {
    area: RefCell<&'a mut Vec<Block>>,
}

impl PasswordHasher for Hashing<'_> {
    type Params = Params;

    fn hash_password_customized<'s>(
        &self,
        password: &[u8],
        algorithm: Option<Ident<'s>>,
        version: Option<Decimal>,
        params: Params,
        salt: impl Into<Salt<'s>>,
    ) -> Result<PasswordHash<'s>> {
        let algorithm = algorithm
            .map(Algorithm::try_from)
            .transpose()?
            .unwrap_or_default();
        let version = version.map(Version::try_from).transpose()?.unwrap_or_default();
        let output_bytes = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
        let shown = ParamsString::try_from(&params)?;
        let salt = salt.into();
        let mut decoded = [0; SALT_BYTES_MAX];
        let salt_bytes = salt.decode_b64(&mut decoded)?;

        let mut area = self.area.borrow_mut();
        if area.len() < params.block_count() {
            area.resize(params.block_count(), Block::default());
        }
        let argon2 = Argon2::new(algorithm, version, params);
        let hash = Output::init_with(output_bytes, |out| {
            Ok(argon2.hash_password_into_with_memory(password, salt_bytes, out, area.as_mut_slice())?)
        })?;
        Ok(PasswordHash {
            algorithm: algorithm.ident(),
            version: Some(version.into()),
            params: shown,
            salt: Some(salt),
            hash: Some(hash),
        })
    }

    fn hash_password<'s>(&self, password: &[u8], salt: impl Into<Salt<'s>>) -> Result<PasswordHash<'s>> {
        self.hash_password_customized(password, None, None, Params::default(), salt)
    }
}
