//! Tokens that the API issues and reads: a teacher's access token and the signed quiz document, both EdDSA.

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header, encode};
use protocol::claims::{
    ACCESS_TOKEN_S, AUDIENCE_QUIZ, AUDIENCE_TEACHER, ISSUER, LEEWAY_S, QuizClaims, SIGNED_QUIZ_S, TYPE_QUIZ,
    TeacherClaims,
};
use protocol::ids::{QuizId, TeacherId};
use protocol::quiz::QuizDocument;
use quick_cache::sync::Cache;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::keys::Keys;

/// Bytes of an access token at most; ours have 0.4 kB. Longer ones are refused before anything is decoded.
const TOKEN_BYTES_MAX: usize = 4 * 1024;

/// Checked tokens remembered, 150 bytes each: teachers of a quarter of an hour.
const VERIFIED_MAX: usize = 50_000;

/// Why a token does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum TokenError {
    /// It was ours, and its time is over: refresh.
    #[error("the access token has expired")]
    Expired,
    /// It never was ours.
    #[error("the access token is not valid")]
    Invalid,
}

/// Signs an access token.
pub(crate) fn sign_access(
    keys: &Keys,
    teacher: TeacherId,
    players_max: u32,
    now_s: u64,
) -> Result<String, jsonwebtoken::errors::Error> {
    let claims = TeacherClaims {
        iss: ISSUER.to_owned(),
        aud: AUDIENCE_TEACHER.to_owned(),
        sub: teacher,
        exp: now_s.saturating_add(ACCESS_TOKEN_S),
        players_max,
    };
    encode(&header(keys), &claims, &keys.signing)
}

/// Signs a quiz document for its teacher.
pub(crate) fn sign_quiz(
    keys: &Keys,
    teacher: TeacherId,
    quiz_id: QuizId,
    quiz: QuizDocument,
    now_s: u64,
) -> Result<String, jsonwebtoken::errors::Error> {
    let claims = QuizClaims {
        iss: ISSUER.to_owned(),
        aud: AUDIENCE_QUIZ.to_owned(),
        sub: teacher,
        exp: now_s.saturating_add(SIGNED_QUIZ_S),
        quiz_id,
        quiz,
    };
    let mut header = header(keys);
    header.typ = Some(TYPE_QUIZ.to_owned());
    encode(&header, &claims, &keys.signing)
}

/// Checks an access token.
pub(crate) fn verify_access(keys: &Keys, token: &str) -> Result<TeacherClaims, TokenError> {
    if token.len() > TOKEN_BYTES_MAX {
        return Err(TokenError::Invalid);
    }
    let header = decode_header(token).map_err(|_| TokenError::Invalid)?;
    if header.kid.as_deref() != Some(keys.kid.as_str()) {
        return Err(TokenError::Invalid);
    }
    decode::<TeacherClaims>(token, &keys.verifying, &validation())
        .map(|data| data.claims)
        .map_err(|error| {
            if *error.kind() == ErrorKind::ExpiredSignature {
                TokenError::Expired
            } else {
                TokenError::Invalid
            }
        })
}

/// Tokens that were checked before: the signature costs more than everything else about a small answer.
pub(crate) struct VerifiedTokens(Cache<[u8; 32], TeacherClaims>);

impl VerifiedTokens {
    pub(crate) fn new() -> Self {
        Self(Cache::new(VERIFIED_MAX))
    }

    /// As [`verify_access`]; what is kept goes by a hash, so that no token stays in memory.
    pub(crate) fn verify(&self, keys: &Keys, token: &str, now_s: u64) -> Result<TeacherClaims, TokenError> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(TokenError::Invalid);
        }
        let hash = Sha256::digest(token.as_bytes()).into();
        if let Some(claims) = self.0.get(&hash) {
            if now_s <= claims.exp.saturating_add(LEEWAY_S) {
                return Ok(claims);
            }
            return Err(TokenError::Expired);
        }
        let claims = verify_access(keys, token)?;
        self.0.insert(hash, claims.clone());
        Ok(claims)
    }
}

fn header(keys: &Keys) -> Header {
    let mut header = Header::new(Algorithm::EdDSA);
    header.kid = Some(keys.kid.clone());
    header
}

/// One algorithm, and every claim required: by default the library accepts a token that lacks `aud` and `iss`.
fn validation() -> Validation {
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
    validation.set_audience(&[AUDIENCE_TEACHER]);
    validation.set_issuer(&[ISSUER]);
    validation.leeway = LEEWAY_S;
    validation
}

#[cfg(test)]
mod tests;
