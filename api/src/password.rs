//! Password hashing: argon2id in a small pool of its own, so that a rush of sign-ins takes neither all cores nor all memory.

use std::sync::Arc;

use argon2::Params;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::{HASHES_AT_ONCE_MAX, HASHES_WAITING_MAX};
use crate::random;
use workspace::{Hashing, Workspaces};

mod workspace;

/// Memory in KiB, passes and lanes: OWASP's first recommendation for argon2id.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Characters of a password.
pub(crate) const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 8..=256;

/// A well-formed hash of no password, checked when an address is unknown, so that the answer takes as long as for a
/// known one.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5bm9ib2R5bm9ib2R5$MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA";

/// Why a password was not hashed or checked.
#[derive(Debug, Error)]
pub(crate) enum HashError {
    /// As many sign-ins wait as may.
    #[error("too many sign-ins are waiting")]
    Busy,
    /// The operating system gave no randomness for the salt.
    #[error("draw a salt")]
    Random(#[source] rand::rand_core::OsError),
    /// The library refused.
    #[error("hash a password")]
    Hash(#[source] argon2::password_hash::Error),
    /// The hashing task died.
    #[error("hashing stopped")]
    Stopped(#[source] tokio::task::JoinError),
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Not the password.
    Wrong,
    /// The password.
    Right,
    /// The password, and its stored hash used weaker parameters: store this one.
    RightRehashed(String),
}

/// The pool. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Hasher {
    places: Arc<Semaphore>,
    running: Arc<Semaphore>,
    workspaces: Workspaces,
}

impl Hasher {
    pub(crate) fn new() -> Self {
        Self {
            places: Arc::new(Semaphore::new(HASHES_AT_ONCE_MAX + HASHES_WAITING_MAX)),
            running: Arc::new(Semaphore::new(HASHES_AT_ONCE_MAX)),
            workspaces: Workspaces::default(),
        }
    }

    /// Hashes a new password.
    pub(crate) async fn hash(&self, password: String) -> Result<String, HashError> {
        self.run(move |hashing| hash(hashing, &password)).await
    }

    /// Checks a password against the stored hash, or against nobody's when there is none.
    pub(crate) async fn verify(
        &self,
        password: String,
        stored: Option<String>,
    ) -> Result<Verdict, HashError> {
        self.run(move |hashing| verify(hashing, &password, stored.as_deref()))
            .await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Hashing<'_>) -> Result<T, HashError> + Send + 'static,
    ) -> Result<T, HashError> {
        let permits = self.enter().await?;
        let workspaces = self.workspaces.clone();
        // The permits go with the work: a client that leaves does not make room for a third hash beside two running.
        tokio::task::spawn_blocking(move || {
            let _permits = permits;
            workspaces.with(work)
        })
        .await
        .map_err(HashError::Stopped)?
    }

    async fn enter(&self) -> Result<[OwnedSemaphorePermit; 2], HashError> {
        let place = Arc::clone(&self.places)
            .try_acquire_owned()
            .map_err(|_| HashError::Busy)?;
        let running = Arc::clone(&self.running)
            .acquire_owned()
            .await
            .map_err(|_| HashError::Busy)?;
        Ok([place, running])
    }
}

fn hash(hashing: &Hashing<'_>, password: &str) -> Result<String, HashError> {
    let salt = random::bytes::<16>().map_err(HashError::Random)?;
    let salt = SaltString::encode_b64(&salt).map_err(HashError::Hash)?;
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|e| HashError::Hash(e.into()))?;
    // The algorithm and version that are taken when none is named: argon2id, 19.
    let hash = hashing
        .hash_password_customized(password.as_bytes(), None, None, params, &salt)
        .map_err(HashError::Hash)?;
    Ok(hash.to_string())
}

fn verify(hashing: &Hashing<'_>, password: &str, stored: Option<&str>) -> Result<Verdict, HashError> {
    let parsed = PasswordHash::new(stored.unwrap_or(NOBODY)).map_err(HashError::Hash)?;
    match hashing.verify_password(password.as_bytes(), &parsed) {
        Ok(()) if stored.is_none() => Ok(Verdict::Wrong),
        Ok(()) if is_weak(&parsed)? => Ok(Verdict::RightRehashed(hash(hashing, password)?)),
        Ok(()) => Ok(Verdict::Right),
        Err(argon2::password_hash::Error::Password) => Ok(Verdict::Wrong),
        Err(error) => Err(HashError::Hash(error)),
    }
}

fn is_weak(stored: &PasswordHash<'_>) -> Result<bool, HashError> {
    let params = Params::try_from(stored).map_err(HashError::Hash)?;
    Ok(params.m_cost() < MEMORY_KIB || params.t_cost() < PASSES || stored.algorithm.as_str() != "argon2id")
}

#[cfg(test)]
mod tests {
    use argon2::{Algorithm, Argon2, Version};

    use super::*;

    fn hash(password: &str) -> Result<String, HashError> {
        Workspaces::default().with(|hashing| super::hash(hashing, password))
    }

    fn verify(password: &str, stored: Option<&str>) -> Result<Verdict, HashError> {
        Workspaces::default().with(|hashing| super::verify(hashing, password, stored))
    }

    #[test]
    fn nobody_costs_as_much_as_somebody() {
        let parsed = PasswordHash::new(NOBODY).unwrap();
        let params = Params::try_from(&parsed).unwrap();
        assert_eq!(
            (params.m_cost(), params.t_cost(), params.p_cost()),
            (MEMORY_KIB, PASSES, LANES)
        );
        assert_eq!(parsed.hash.unwrap().len(), 32, "as long as a real one");
        assert!(hash("x").unwrap().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert_eq!(verify("nobody", None).unwrap(), Verdict::Wrong);
    }

    #[test]
    fn a_weak_hash_is_replaced_at_sign_in() {
        let weak = Argon2::new(
            Algorithm::Argon2id,
            Version::V0x13,
            Params::new(8, 1, 1, None).unwrap(),
        );
        let weak = weak
            .hash_password(
                b"correct horse",
                &SaltString::encode_b64(b"0123456789abcdef").unwrap(),
            )
            .unwrap()
            .to_string();
        assert_eq!(verify("wrong horse", Some(&weak)).unwrap(), Verdict::Wrong);
        let Verdict::RightRehashed(strong) = verify("correct horse", Some(&weak)).unwrap() else {
            panic!("a weak hash was kept")
        };
        assert_eq!(verify("correct horse", Some(&strong)).unwrap(), Verdict::Right);
    }

    #[tokio::test]
    async fn a_full_queue_refuses_at_once() {
        let hasher = Hasher::new();
        let running = hasher.enter().await.unwrap();
        let _second = hasher.enter().await.unwrap();
        let waiting: Vec<_> = (0..HASHES_WAITING_MAX)
            .map(|_| Arc::clone(&hasher.places).try_acquire_owned().unwrap())
            .collect();
        assert!(matches!(
            hasher.hash("password".into()).await,
            Err(HashError::Busy)
        ));
        drop((running, waiting));
        assert!(hasher.hash("password".into()).await.is_ok());
    }

    #[tokio::test]
    async fn a_rush_of_sign_ins_works_in_the_memory_of_two() {
        let hasher = Hasher::new();
        let rush = (0..8).map(|n| hasher.verify(format!("wrong {n}"), None));
        for verdict in futures_util::future::join_all(rush).await {
            assert_eq!(verdict.unwrap(), Verdict::Wrong);
        }
        assert!((1..=HASHES_AT_ONCE_MAX).contains(&hasher.workspaces.free_count()));
    }
}
