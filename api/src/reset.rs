//! Links by which a teacher sets a new password: drawn at random, kept as a hash, good once and for an hour.

use protocol::ids::TeacherId;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::config::RESET_LIFE_MS;
use crate::email::Email;
use crate::store::{Reset, Store, StoreError};
use crate::{hex, random};

/// Bytes of a token.
const TOKEN_BYTES: usize = 32;

/// A token as it stands in a link. Not `Debug`: it must not reach a log.
pub(crate) struct ResetToken(String);

impl ResetToken {
    fn draw() -> Result<Self, rand::rand_core::OsError> {
        Ok(Self(hex::encode(&random::bytes::<TOKEN_BYTES>()?)))
    }

    /// Reads what a client sent; none when it cannot be a token.
    pub(crate) fn parse(text: String) -> Option<Self> {
        let fine = text.len() == 2 * TOKEN_BYTES && text.bytes().all(|b| b.is_ascii_hexdigit());
        fine.then_some(Self(text))
    }

    pub(crate) fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }

    /// The link at a site. What stands behind `#` is sent to no server and stands in no log.
    fn link(&self, site: &str) -> String {
        format!("{site}/teach#/reset/{}", self.0)
    }
}

/// Why there is no link.
#[derive(Debug, Error)]
pub enum ResetLinkError {
    /// The operating system gives no randomness.
    #[error("no randomness for a link")]
    Random(#[source] rand::rand_core::OsError),
    /// The store did not keep it.
    #[error("the store did not keep a link")]
    Store(#[from] StoreError),
}

/// A link, and what is kept of it. Not `Debug`: it must not reach a log.
pub(crate) struct Link {
    pub(crate) url: String,
    pub(crate) token_hash: [u8; 32],
}

/// A link for an account, at most `most` of them at once; none when there were as many.
pub(crate) async fn link(
    store: &dyn Store,
    teacher: TeacherId,
    (site, now_ms): (&str, u64),
    most: u32,
) -> Result<Option<Link>, ResetLinkError> {
    let token = ResetToken::draw().map_err(ResetLinkError::Random)?;
    let reset = Reset {
        token_hash: token.hash(),
        teacher,
        expires_ms: now_ms.saturating_add(RESET_LIFE_MS),
    };
    let kept = store.insert_reset(&reset, now_ms, most).await?;
    Ok(kept.then(|| Link {
        url: token.link(site),
        token_hash: token.hash(),
    }))
}

/// A link for whoever runs the server to hand out; none when there is no such account.
///
/// # Errors
/// When the store does not answer.
pub async fn reset_link(
    store: &dyn Store,
    email: &str,
    site: &str,
    now_ms: u64,
) -> Result<Option<String>, ResetLinkError> {
    let Ok(email) = Email::parse(email) else {
        return Ok(None);
    };
    match store.account_by_email(email.as_str()).await? {
        Some((account, _)) => {
            let link = link(store, account.id, (site, now_ms), u32::MAX).await?;
            Ok(link.map(|link| link.url))
        }
        None => Ok(None),
    }
}
