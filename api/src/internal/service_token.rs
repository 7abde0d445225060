//! Checking the token that a game server signs for every internal call.
//!
//! HS256 with a shared secret, good for a minute: the secret itself never travels, and a token that leaks into a log opens
//! nothing later. The library compares signatures in constant time.

use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use protocol::claims::{AUDIENCE_SERVICE, ISSUER, LEEWAY_S, ServiceClaims};
use runtime::secret::Secret;

/// Bytes of a service token at most; ours have 0.3 kB.
const TOKEN_BYTES_MAX: usize = 1024;

/// The secrets that may sign.
pub(super) struct ServiceKeys {
    accepted: Vec<DecodingKey>,
    validation: Validation,
}

impl ServiceKeys {
    pub(super) fn new(secrets: &[Secret]) -> Self {
        let mut validation = Validation::new(Algorithm::HS256);
        // By default the library accepts a token that lacks `aud` and `iss`.
        validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        validation.set_audience(&[AUDIENCE_SERVICE]);
        validation.set_issuer(&[ISSUER]);
        validation.leeway = LEEWAY_S;
        Self {
            // A secret that the library does not take accepts nobody; `Secret` is never empty.
            accepted: secrets
                .iter()
                .filter_map(|secret| DecodingKey::from_secret(secret.bytes()).ok())
                .collect(),
            validation,
        }
    }

    /// The name of the caller, if the token is good.
    pub(super) fn verify(&self, token: &str) -> Option<String> {
        if token.len() > TOKEN_BYTES_MAX {
            return None;
        }
        self.accepted
            .iter()
            .find_map(|key| decode::<ServiceClaims>(token, key, &self.validation).ok())
            .map(|data| data.claims.sub)
    }
}
