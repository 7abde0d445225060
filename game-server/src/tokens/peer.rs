//! How game servers know each other: a token signed with a secret that all of them have.
//!
//! It has no expiry, so that a server whose clock was set wrong can still be asked what it holds; the secret is changed instead.

use std::fmt;

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use protocol::claims::{AUDIENCE_PEER, ISSUER};
use runtime::secret::Secret;
use serde::{Deserialize, Serialize};

use super::{KeysError, TOKEN_BYTES_MAX};

/// What a server shows to others, and what it accepts of them. `Debug` prints nothing of it.
pub(crate) struct PeerKeys {
    token: String,
    accepted: Vec<DecodingKey>,
}

#[derive(Serialize, Deserialize)]
struct PeerClaims {
    iss: String,
    aud: String,
}

impl PeerKeys {
    /// Signs with the first of `secrets` and accepts all of them, so that they can be changed one after another.
    ///
    /// # Errors
    /// When there is none, or the library does not take it.
    pub(crate) fn new(secrets: &[Secret]) -> Result<Self, KeysError> {
        let first = secrets.first().ok_or(KeysError::ShortSecret { bytes: 0 })?;
        let claims = PeerClaims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE_PEER.to_owned(),
        };
        let key = EncodingKey::from_secret(first.bytes()).map_err(KeysError::Unreadable)?;
        let token = jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &key)
            .map_err(KeysError::Unreadable)?;
        let accepted = secrets
            .iter()
            .map(|secret| DecodingKey::from_secret(secret.bytes()).map_err(KeysError::Unreadable))
            .collect::<Result<_, _>>()?;
        Ok(Self { token, accepted })
    }

    /// What this server shows.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Whether another server showed this.
    pub(crate) fn accepts(&self, token: &str) -> bool {
        if token.len() > TOKEN_BYTES_MAX {
            return false;
        }
        let mut validation = Validation::new(Algorithm::HS256);
        validation.validate_exp = false;
        validation.set_audience(&[AUDIENCE_PEER]);
        validation.set_issuer(&[ISSUER]);
        validation.set_required_spec_claims(&["aud", "iss"]);
        self.accepted
            .iter()
            .any(|key| jsonwebtoken::decode::<PeerClaims>(token, key, &validation).is_ok())
    }
}

impl fmt::Debug for PeerKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerKeys").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn secret(text: &str) -> Secret {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        Secret::read(file.path()).unwrap()
    }

    #[test]
    fn servers_with_a_common_secret_know_each_other() {
        let [old, new] = [
            "an old secret of 32 bytes or more.",
            "a new secret of 32 bytes or more..",
        ]
        .map(secret);
        let both = PeerKeys::new(&[new.clone(), old.clone()]).unwrap();
        let [only_old, only_new] = [old, new].map(|secret| PeerKeys::new(&[secret]).unwrap());
        assert!(both.accepts(only_old.token()) && both.accepts(both.token()));
        assert!(only_new.accepts(both.token()));
        assert!(!only_old.accepts(both.token()));
    }

    #[test]
    fn other_tokens_open_nothing() {
        let secret = secret(std::str::from_utf8(crate::testing::SECRET).unwrap());
        let peers = PeerKeys::new(&[secret]).unwrap();
        let game = protocol::ids::GameId(uuid::Uuid::from_u128(1));
        let ticket = crate::testing::keys().sign_screen(
            game,
            &crate::StoreId::default(),
            crate::ambient::unix_ms() / 1_000 + 60,
        );
        assert!(
            !peers.accepts(&ticket.unwrap()),
            "signed with the same secret, for another purpose"
        );
        assert!(!peers.accepts(""));
        assert!(PeerKeys::new(&[]).is_err());
    }
}
