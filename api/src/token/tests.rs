//! Every wrong token is refused, next to a right one that passes.

use jsonwebtoken::EncodingKey;
use protocol::claims::{AUDIENCE_PLAYER, AUDIENCE_SCREEN};
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::clock::Clock;

fn teacher() -> TeacherId {
    TeacherId(Uuid::from_u128(42))
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": AUDIENCE_TEACHER, "sub": teacher(), "exp": Clock::system().now_s() + 60, "players_max": 500,
    })
}

fn with(field: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[field] = value;
    claims
}

fn without(field: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(field);
    claims
}

fn signed(keys: &Keys, claims: &Value) -> String {
    encode(&header(keys), claims, &keys.signing).unwrap()
}

/// Base64 of RFC 4648, section 5, without padding: for tokens that no library would make.
fn base64url(bytes: &[u8]) -> String {
    const SYMBOLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bits: Vec<u8> = bytes
        .iter()
        .flat_map(|b| (0..8).rev().map(move |i| b >> i & 1))
        .collect();
    bits.chunks(6)
        .map(|six| (0..6).fold(0, |n, i| n << 1 | usize::from(six.get(i).copied().unwrap_or(0))))
        .map(|n| char::from(SYMBOLS[n]))
        .collect()
}

#[test]
fn a_right_token_passes() {
    let keys = Keys::generate().unwrap();
    let token = sign_access(&keys, teacher(), 500, Clock::system().now_s()).unwrap();
    let read = verify_access(&keys, &token).unwrap();
    assert_eq!((read.sub, read.players_max), (teacher(), 500));
    assert!(
        verify_access(&keys, &signed(&keys, &claims())).is_ok(),
        "the claims that the table below spoils"
    );
    let barely = with("exp", json!(Clock::system().now_s() - LEEWAY_S + 3));
    assert!(
        verify_access(&keys, &signed(&keys, &barely)).is_ok(),
        "within the leeway"
    );
}

#[test]
fn wrong_claims_are_refused() {
    let keys = Keys::generate().unwrap();
    let now_s = Clock::system().now_s();
    for (claims, error) in [
        (with("exp", json!(now_s - LEEWAY_S - 1)), TokenError::Expired),
        (with("exp", json!("tomorrow")), TokenError::Invalid),
        (without("exp"), TokenError::Invalid),
        (with("aud", json!(AUDIENCE_QUIZ)), TokenError::Invalid),
        (with("aud", json!(AUDIENCE_PLAYER)), TokenError::Invalid),
        (with("aud", json!(AUDIENCE_SCREEN)), TokenError::Invalid),
        (
            with("aud", json!([AUDIENCE_TEACHER, AUDIENCE_QUIZ])),
            TokenError::Invalid,
        ),
        (with("aud", json!(null)), TokenError::Invalid),
        (without("aud"), TokenError::Invalid),
        (with("iss", json!("somebody")), TokenError::Invalid),
        (without("iss"), TokenError::Invalid),
        (with("sub", json!("not an id")), TokenError::Invalid),
        (without("sub"), TokenError::Invalid),
        (without("players_max"), TokenError::Invalid),
    ] {
        assert_eq!(
            verify_access(&keys, &signed(&keys, &claims)),
            Err(error),
            "{claims}"
        );
        // The check demands them, not only the shape that they are read into.
        let by_check = decode::<Value>(signed(&keys, &claims), &keys.verifying, &validation()).is_err();
        let only_shape =
            claims.get("players_max").is_none() || claims["sub"] == "not an id" || claims["aud"].is_array();
        assert_eq!(by_check, !only_shape, "{claims}");
    }
}

#[test]
fn wrong_keys_and_algorithms_are_refused() {
    let keys = Keys::generate().unwrap();
    let others = Keys::generate().unwrap();
    let claims = claims();
    let mut named_ours = header(&others);
    named_ours.kid = Some(keys.kid.clone());
    let mut nameless = header(&keys);
    nameless.kid = None;
    let jwks = serde_json::to_value(keys.jwks()).unwrap();
    let public = jwks["keys"][0]["x"].as_str().unwrap();
    let mut hmac = Header::new(Algorithm::HS256);
    hmac.kid = Some(keys.kid.clone());
    let secret_of = |bytes: &[u8]| encode(&hmac, &claims, &EncodingKey::from_secret(bytes).unwrap()).unwrap();
    let payload = base64url(claims.to_string().as_bytes());
    let none = base64url(
        json!({ "alg": "none", "typ": "JWT", "kid": keys.kid })
            .to_string()
            .as_bytes(),
    );
    let good = signed(&keys, &claims);
    let (head, _) = good.rsplit_once('.').unwrap();
    for (what, token) in [
        (
            "another key under our name",
            encode(&named_ours, &claims, &others.signing).unwrap(),
        ),
        (
            "another key under its name",
            encode(&header(&others), &claims, &others.signing).unwrap(),
        ),
        (
            "our key under another name",
            encode(&header(&others), &claims, &keys.signing).unwrap(),
        ),
        ("no key name", encode(&nameless, &claims, &keys.signing).unwrap()),
        ("HS256 with the public key as text", secret_of(public.as_bytes())),
        (
            "HS256 with the public key's bytes",
            secret_of(keys.verifying.try_get_as_bytes().unwrap()),
        ),
        (
            "HS256 with the game servers' secret",
            secret_of(keys.game_secret()),
        ),
        ("no algorithm, no signature", format!("{none}.{payload}.")),
        (
            "no algorithm, our signature",
            format!("{none}.{payload}.{}", good.rsplit('.').next().unwrap()),
        ),
        ("no signature", format!("{head}.")),
        ("no signature part", head.to_owned()),
        (
            "other claims, our signature",
            good.replacen('.', &format!(".{payload}"), 1),
        ),
        ("not a token", "abc".to_owned()),
        ("nothing", String::new()),
        ("too long", format!("{good}{}", "A".repeat(TOKEN_BYTES_MAX))),
    ] {
        assert_eq!(verify_access(&keys, &token), Err(TokenError::Invalid), "{what}");
    }
    assert!(verify_access(&keys, &good).is_ok());
}

#[test]
fn a_signed_quiz_is_no_access_token() {
    let keys = Keys::generate().unwrap();
    let quiz = QuizDocument {
        title: "Atoms".into(),
        questions: vec![],
    };
    let id = QuizId(Uuid::from_u128(7));
    let token = sign_quiz(&keys, teacher(), id, quiz.clone(), Clock::system().now_s()).unwrap();
    assert_eq!(verify_access(&keys, &token), Err(TokenError::Invalid));
    let mut validation = validation();
    validation.set_audience(&[AUDIENCE_QUIZ]);
    let read = decode::<QuizClaims>(&token, &keys.verifying, &validation)
        .unwrap()
        .claims;
    assert_eq!((read.sub, read.quiz_id, read.quiz), (teacher(), id, quiz));
}
