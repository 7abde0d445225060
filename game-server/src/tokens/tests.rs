//! What keys are taken; forged tokens are tried over real sockets in `tests/sockets`.

use jsonwebtoken::jwk::{Jwk, JwkSet};
use protocol::ids::PlayerId;
use uuid::Uuid;

use super::*;
use crate::testing;

fn ed25519() -> Jwk {
    serde_json::from_value(serde_json::json!({
        "kty": "OKP", "crv": "Ed25519", "kid": "a", "alg": "EdDSA",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    }))
    .unwrap()
}

#[test]
fn only_ed25519_keys_with_a_name_are_taken() {
    let set = |jwk: Jwk| JwkSet { keys: vec![jwk] };
    assert!(Keys::new(&set(ed25519()), testing::SECRET).is_ok());
    let mut nameless = ed25519();
    nameless.common.key_id = None;
    assert!(matches!(
        Keys::new(&set(nameless), testing::SECRET),
        Err(KeysError::NoKid { index: 0 })
    ));
    let mut other = ed25519();
    other.common.key_algorithm = Some(KeyAlgorithm::RS256);
    assert!(matches!(
        Keys::new(&set(other), testing::SECRET),
        Err(KeysError::NotEd25519 { index: 0 })
    ));
    let secret: Jwk =
        serde_json::from_value(serde_json::json!({ "kty": "oct", "k": "c2VjcmV0", "kid": "a" })).unwrap();
    assert!(matches!(
        Keys::new(&set(secret), testing::SECRET),
        Err(KeysError::NotEd25519 { index: 0 })
    ));
    assert!(matches!(
        Keys::new(&set(ed25519()), &[7; 31]),
        Err(KeysError::ShortSecret { bytes: 31 })
    ));
}

#[test]
fn own_tokens_are_bound_to_their_game_and_kind() {
    let keys = testing::keys();
    let (game, other) = (GameId(Uuid::from_u128(1)), GameId(Uuid::from_u128(2)));
    let exp = crate::ambient::unix_ms() / 1_000 + 60;
    let pass = Pass {
        player: PlayerId(3),
        joined_at: 1_234,
        epoch: 2,
    };
    let store = StoreId::new("a run of a store");
    let token = keys.sign_player(game, pass, &store, exp).unwrap();
    assert_eq!(keys.player(&token, game).unwrap(), pass);
    assert!(keys.player(&token, other).is_err());
    assert!(keys.screen(&token, game).is_err());
    let ticket = keys.sign_screen(game, &store, exp).unwrap();
    assert!(keys.screen(&ticket, game).is_ok());
    assert!(keys.screen(&ticket, other).is_err());
    assert!(keys.player(&ticket, game).is_err());
    // To a game that is nowhere they tell which one it was, and which run of the store had it.
    let proof = Some(Proof {
        game,
        store: store.mark(),
    });
    assert_eq!(
        (keys.played(&token), keys.watched(&ticket)),
        (proof.clone(), proof)
    );
    assert_eq!((keys.played(&ticket), keys.watched(&token)), (None, None));
    assert!(!format!("{keys:?}").contains("secret of the tests"));
    // The wall clock was set: a player's game is still the same, a ticket's time is over.
    let token = keys.sign_player(game, pass, &store, 1).unwrap();
    assert_eq!(keys.player(&token, game).unwrap(), pass);
    let ticket = keys.sign_screen(game, &store, 1).unwrap();
    assert!(keys.screen(&ticket, game).is_err());
}
