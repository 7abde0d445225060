//! Signing what a game server shows to the API: a token of its own for every call, so that the shared secret never travels.

use std::time::Duration;

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use protocol::claims::{AUDIENCE_SERVICE, ISSUER, SERVICE_TOKEN_S, ServiceClaims};
use runtime::secret::Secret;

use super::{KeysError, TokenError};
use crate::ambient::Ambient;

/// Signs service tokens in the name of one server.
pub(crate) struct ServiceSigner {
    name: String,
    key: EncodingKey,
}

impl ServiceSigner {
    /// Signs as `name` with the secret that the API shares.
    ///
    /// # Errors
    /// When the library does not take the secret.
    pub(crate) fn new(name: String, secret: &Secret) -> Result<Self, KeysError> {
        let key = EncodingKey::from_secret(secret.bytes()).map_err(KeysError::Unreadable)?;
        Ok(Self { name, key })
    }

    /// A token for a call that starts now.
    pub(crate) fn sign(&self) -> Result<String, TokenError> {
        let claims = ServiceClaims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE_SERVICE.to_owned(),
            sub: self.name.clone(),
            exp: Ambient::machine().expiry_s(Duration::from_secs(SERVICE_TOKEN_S)),
        };
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.key)
            .map_err(|error| TokenError(Some(error)))
    }
}
