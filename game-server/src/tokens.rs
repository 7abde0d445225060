//! Verifying what clients show and signing what players keep. Each kind of token has one algorithm, one audience and one
//! key; `exp`, `aud` and `iss` must be there.
//!
//! Teachers' tokens and quiz documents are signed by the API, whose public keys come as a JWK set. Resume tokens and screen
//! tickets are the game servers' own, so they share one secret.

use std::collections::HashMap;
use std::fmt;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, JwkSet, KeyAlgorithm};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use protocol::claims::{
    AUDIENCE_PLAYER, AUDIENCE_QUIZ, AUDIENCE_SCREEN, AUDIENCE_TEACHER, ISSUER, LEEWAY_S, PlayerClaims,
    QuizClaims, ScreenClaims, TYPE_QUIZ, TeacherClaims,
};
use protocol::ids::{GameId, PlayerId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::journal::StoreId;

mod peer;
mod service;

pub(crate) use peer::PeerKeys;
pub(crate) use service::ServiceSigner;

/// Shortest secret, in bytes: the output of SHA-256; a shorter one weakens HS256.
pub const SECRET_BYTES_MIN: usize = 32;

/// Bytes of an access token, a resume token or a ticket at most; ours have 0.4 kB. Longer ones are refused before anything is decoded.
const TOKEN_BYTES_MAX: usize = 4 * 1024;
/// The same for a signed quiz: what a create's body may have, which is never more than this.
pub(crate) const SIGNED_QUIZ_BYTES_MAX: usize = 3 * 1024 * 1024;

/// The keys of a game server. `Debug` prints none of them.
pub struct Keys {
    teachers: HashMap<String, DecodingKey>,
    sign: EncodingKey,
    verify: DecodingKey,
}

/// Why keys cannot be used.
#[derive(Debug, Error)]
pub enum KeysError {
    /// A key of the set is not an Ed25519 public key for EdDSA.
    #[error("key {index} of the key set is not an Ed25519 key for EdDSA")]
    NotEd25519 {
        /// Position in the set, from 0.
        index: usize,
    },
    /// A key of the set has no `kid`.
    #[error("key {index} of the key set has no kid")]
    NoKid {
        /// Position in the set, from 0.
        index: usize,
    },
    /// The secret is too short.
    #[error("the secret has {bytes} bytes; at least {SECRET_BYTES_MIN} are needed")]
    ShortSecret {
        /// Bytes found.
        bytes: usize,
    },
    /// A key could not be read.
    #[error("a key could not be read")]
    Unreadable(#[source] jsonwebtoken::errors::Error),
}

/// What a resume token tells of its player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pass {
    pub(crate) player: PlayerId,
    /// When it joined, by the game's own time.
    pub(crate) joined_at: u64,
    /// The owner's epoch when the token was signed.
    pub(crate) epoch: u32,
}

/// That there was a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proof {
    pub(crate) game: GameId,
    /// The mark of the store's run that had it.
    pub(crate) store: String,
}

/// A token was refused. Why is not told to the client; `source` is for a log.
#[derive(Debug, Error)]
#[error("the token is not valid")]
pub(crate) struct TokenError(#[source] Option<jsonwebtoken::errors::Error>);

impl Keys {
    /// Takes the API's public keys and the secret of resume tokens and screen tickets.
    ///
    /// # Errors
    /// When a key is not Ed25519, has no `kid`, or the secret is shorter than [`SECRET_BYTES_MIN`].
    pub fn new(teachers: &JwkSet, secret: &[u8]) -> Result<Self, KeysError> {
        if secret.len() < SECRET_BYTES_MIN {
            return Err(KeysError::ShortSecret { bytes: secret.len() });
        }
        let mut keys = HashMap::with_capacity(teachers.keys.len());
        for (index, jwk) in teachers.keys.iter().enumerate() {
            let is_ed25519 = matches!(
                &jwk.algorithm,
                AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519
            );
            let for_eddsa = matches!(jwk.common.key_algorithm, None | Some(KeyAlgorithm::EdDSA));
            if !is_ed25519 || !for_eddsa {
                return Err(KeysError::NotEd25519 { index });
            }
            let kid = jwk.common.key_id.clone().ok_or(KeysError::NoKid { index })?;
            keys.insert(kid, DecodingKey::from_jwk(jwk).map_err(KeysError::Unreadable)?);
        }
        Ok(Self {
            teachers: keys,
            sign: EncodingKey::from_secret(secret).map_err(KeysError::Unreadable)?,
            verify: DecodingKey::from_secret(secret).map_err(KeysError::Unreadable)?,
        })
    }

    /// Verifies a teacher's access token.
    pub(crate) fn teacher(&self, token: &str) -> Result<TeacherClaims, TokenError> {
        self.signed_by_api(token, AUDIENCE_TEACHER, TOKEN_BYTES_MAX)
            .map(|(_, claims)| claims)
    }

    /// Verifies a quiz document signed by the API.
    pub(crate) fn quiz(&self, token: &str) -> Result<QuizClaims, TokenError> {
        let (header, claims) = self.signed_by_api(token, AUDIENCE_QUIZ, SIGNED_QUIZ_BYTES_MAX)?;
        if header.typ.as_deref() == Some(TYPE_QUIZ) {
            Ok(claims)
        } else {
            Err(TokenError(None))
        }
    }

    /// Verifies a resume token of `game`. Whether its player is still the same one is the game's to say.
    pub(crate) fn player(&self, token: &str, game: GameId) -> Result<Pass, TokenError> {
        let claims: PlayerClaims = self.lasting(token, AUDIENCE_PLAYER)?;
        if claims.g == game {
            Ok(Pass {
                player: claims.p,
                joined_at: claims.j,
                epoch: claims.e,
            })
        } else {
            Err(TokenError(None))
        }
    }

    /// Verifies a screen ticket of `game`.
    pub(crate) fn screen(&self, ticket: &str, game: GameId) -> Result<(), TokenError> {
        let claims: ScreenClaims = self.own(ticket, AUDIENCE_SCREEN)?;
        if claims.g == game {
            Ok(())
        } else {
            Err(TokenError(None))
        }
    }

    /// What a resume token says of a game that is nowhere.
    pub(crate) fn played(&self, token: &str) -> Option<Proof> {
        let claims: PlayerClaims = self.own(token, AUDIENCE_PLAYER).ok()?;
        Some(Proof {
            game: claims.g,
            store: claims.s,
        })
    }

    /// What a screen ticket says of a game that is nowhere.
    pub(crate) fn watched(&self, ticket: &str) -> Option<Proof> {
        let claims: ScreenClaims = self.own(ticket, AUDIENCE_SCREEN).ok()?;
        Some(Proof {
            game: claims.g,
            store: claims.s,
        })
    }

    /// Signs a resume token that expires at `exp`, Unix seconds, of a game that `store` has.
    pub(crate) fn sign_player(
        &self,
        game: GameId,
        pass: Pass,
        store: &StoreId,
        exp: u64,
    ) -> Result<String, TokenError> {
        self.issue(&PlayerClaims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE_PLAYER.to_owned(),
            g: game,
            p: pass.player,
            j: pass.joined_at,
            e: pass.epoch,
            s: store.mark(),
            exp,
        })
    }

    /// Signs a screen ticket that expires at `exp`, Unix seconds, of a game that `store` has.
    pub(crate) fn sign_screen(&self, game: GameId, store: &StoreId, exp: u64) -> Result<String, TokenError> {
        self.issue(&ScreenClaims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE_SCREEN.to_owned(),
            g: game,
            s: store.mark(),
            exp,
        })
    }

    fn issue<T: Serialize>(&self, claims: &T) -> Result<String, TokenError> {
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &self.sign)
            .map_err(|e| TokenError(Some(e)))
    }

    fn own<T: DeserializeOwned>(&self, token: &str, audience: &str) -> Result<T, TokenError> {
        check_length(token, TOKEN_BYTES_MAX)?;
        decode(token, &self.verify, Algorithm::HS256, audience)
    }

    /// One of our own that is good for as long as its game lives, whatever its `exp`: the wall clock of a machine that learns the time
    /// during a lesson would lose the class.
    fn lasting<T: DeserializeOwned>(&self, token: &str, audience: &str) -> Result<T, TokenError> {
        check_length(token, TOKEN_BYTES_MAX)?;
        let mut validation = validation(Algorithm::HS256, audience);
        validation.validate_exp = false;
        decode_by(token, &self.verify, &validation)
    }

    fn signed_by_api<T: DeserializeOwned>(
        &self,
        token: &str,
        audience: &str,
        bytes_max: usize,
    ) -> Result<(Header, T), TokenError> {
        check_length(token, bytes_max)?;
        let header = jsonwebtoken::decode_header(token).map_err(|e| TokenError(Some(e)))?;
        let key = header
            .kid
            .as_ref()
            .and_then(|kid| self.teachers.get(kid))
            .ok_or(TokenError(None))?;
        let claims = decode(token, key, Algorithm::EdDSA, audience)?;
        Ok((header, claims))
    }
}

/// Before anything of it is decoded.
fn check_length(token: &str, bytes_max: usize) -> Result<(), TokenError> {
    if token.len() > bytes_max {
        Err(TokenError(None))
    } else {
        Ok(())
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys")
            .field("teachers", &self.teachers.len())
            .finish_non_exhaustive()
    }
}

fn decode<T: DeserializeOwned>(
    token: &str,
    key: &DecodingKey,
    algorithm: Algorithm,
    audience: &str,
) -> Result<T, TokenError> {
    decode_by(token, key, &validation(algorithm, audience))
}

fn validation(algorithm: Algorithm, audience: &str) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.leeway = LEEWAY_S;
    validation.set_audience(&[audience]);
    validation.set_issuer(&[ISSUER]);
    // Without this, a token that lacks aud or iss would pass the two checks above.
    validation.set_required_spec_claims(&["exp", "aud", "iss"]);
    validation
}

fn decode_by<T: DeserializeOwned>(
    token: &str,
    key: &DecodingKey,
    validation: &Validation,
) -> Result<T, TokenError> {
    let data = jsonwebtoken::decode::<T>(token, key, validation).map_err(|e| TokenError(Some(e)))?;
    Ok(data.claims)
}

#[cfg(test)]
mod tests;
