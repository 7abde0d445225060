//! Refresh tokens: one chain per signed-in browser, replaced at every use.
//!
//! A token is the session's id and a secret; only its hash is stored. Its successor is derived from it by HMAC, so two
//! tabs that refresh at the same moment, or a reload that drops the first answer, get the SAME successor instead of forking
//! the chain. A token that was replaced longer ago than the grace period is stolen or copied: it ends the session.
//! A token that was issued by a refresh within the grace period is handed back as it is; so at most one replacement
//! falls into any grace period, and "replaced just now" always means the direct predecessor.

use jsonwebtoken::Algorithm;
use jsonwebtoken::errors::Error as SignError;
use protocol::ids::TeacherId;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::config::REFRESH_GRACE_MS;
use crate::keys::Keys;

/// Bytes of a token at most: an id of 32 hexadecimal digits, a dot, 43 symbols.
const TOKEN_BYTES: usize = 32 + 1 + 43;

/// SHA-256 of a token; a database that leaks signs nobody in.
pub(crate) type TokenHash = [u8; 32];

/// A refresh token as the browser holds it. Not `Debug`: it must not reach a log.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct RefreshToken {
    session: Uuid,
    text: String,
}

impl RefreshToken {
    /// The first token of a session, from 256 random bits.
    pub(crate) fn first(keys: &Keys, session: Uuid, random: [u8; 32]) -> Result<Self, SignError> {
        Self::derive(keys, session, &random)
    }

    /// The token that replaces this one.
    pub(crate) fn successor(&self, keys: &Keys) -> Result<Self, SignError> {
        Self::derive(keys, self.session, self.text.as_bytes())
    }

    fn derive(keys: &Keys, session: Uuid, from: &[u8]) -> Result<Self, SignError> {
        let secret = jsonwebtoken::crypto::sign(from, &keys.refresh, Algorithm::HS256)?;
        Ok(Self {
            session,
            text: format!("{}.{secret}", session.simple()),
        })
    }

    /// Reads a cookie's value; none when it cannot be a token.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() != TOKEN_BYTES {
            return None;
        }
        let (session, secret) = text.split_once('.')?;
        let session = Uuid::try_parse(session).ok()?;
        let fine = secret
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        fine.then(|| Self {
            session,
            text: text.to_owned(),
        })
    }

    pub(crate) fn session(&self) -> Uuid {
        self.session
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn hash(&self) -> TokenHash {
        Sha256::digest(self.text.as_bytes()).into()
    }
}

/// A session as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The session.
    pub id: Uuid,
    /// Whose it is.
    pub teacher: TeacherId,
    /// Hash of the token that is good now.
    pub current: [u8; 32],
    /// Hash of the one before; none until the first refresh.
    pub previous: Option<[u8; 32]>,
    /// When the current token was issued, Unix milliseconds.
    pub issued_ms: u64,
    /// When the session ends unless it is refreshed, Unix milliseconds.
    pub expires_ms: u64,
}

/// What a presented token is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presented {
    /// The current one: replace it.
    Current,
    /// The current one, issued by a refresh a moment ago: hand it back.
    Fresh,
    /// The one before, replaced a moment ago: hand out its successor, which is the current one.
    Grace,
    /// Replaced long ago, or never issued: end the session.
    Reused,
    /// The session is over.
    Expired,
}

impl Session {
    pub(crate) fn judge(&self, hash: &TokenHash, now_ms: u64) -> Presented {
        let just_now = now_ms.saturating_sub(self.issued_ms) <= REFRESH_GRACE_MS;
        if now_ms >= self.expires_ms {
            Presented::Expired
        } else if self.current == *hash {
            if just_now && self.previous.is_some() {
                Presented::Fresh
            } else {
                Presented::Current
            }
        } else if just_now && self.previous.as_ref() == Some(hash) {
            Presented::Grace
        } else {
            Presented::Reused
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(current: TokenHash, previous: Option<TokenHash>) -> Session {
        let teacher = TeacherId(Uuid::nil());
        Session {
            id: Uuid::nil(),
            teacher,
            current,
            previous,
            issued_ms: 1_000_000,
            expires_ms: 9_000_000,
        }
    }

    #[test]
    fn a_token_reads_back_and_has_one_successor() {
        let keys = Keys::generate().unwrap();
        let first = RefreshToken::first(&keys, Uuid::from_u128(7), [3; 32]).unwrap();
        let read = RefreshToken::parse(first.as_str()).unwrap();
        assert!(read == first && read.session() == Uuid::from_u128(7));
        let next = first.successor(&keys).unwrap();
        assert!(next == read.successor(&keys).unwrap() && next != first);
        assert!(
            next != first.successor(&Keys::generate().unwrap()).unwrap(),
            "only these keys derive it"
        );
    }

    #[test]
    fn what_is_no_token_is_no_token() {
        let keys = Keys::generate().unwrap();
        let token = RefreshToken::first(&keys, Uuid::from_u128(7), [3; 32]).unwrap();
        let text = token.as_str();
        for bad in [
            "",
            "x",
            &text[1..],
            &format!("{text}a"),
            &text.replace('.', "-"),
            &format!("g{}", &text[1..]),
        ] {
            assert!(RefreshToken::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn every_token_of_a_chain_has_its_worth() {
        let (old, before, now) = ([0; 32], [1; 32], [2; 32]);
        let first = session(now, None);
        let later = session(now, Some(before));
        for (session, token, at_ms, worth) in [
            (&first, &now, 1_000_001, Presented::Current),
            (&first, &before, 1_000_001, Presented::Reused),
            (&later, &now, 1_010_000, Presented::Fresh),
            (&later, &now, 1_010_001, Presented::Current),
            (&later, &before, 1_010_000, Presented::Grace),
            (&later, &before, 1_010_001, Presented::Reused),
            (&later, &old, 1_000_001, Presented::Reused),
            (&later, &now, 9_000_000, Presented::Expired),
        ] {
            assert_eq!(session.judge(token, at_ms), worth, "{token:?} at {at_ms}");
        }
    }
}
