//! Game codes, at their edges.

use proptest::prelude::*;

use super::*;

#[test]
fn only_the_canonical_form_is_a_code() {
    assert_eq!("K7Q2MX".parse::<GameCode>().unwrap().as_str(), "K7Q2MX");
    for (bad, why) in [
        ("", CodeError::Length),
        ("K7Q2M", CodeError::Length),
        ("K7Q2MXX", CodeError::Length),
        ("k7q2mx", CodeError::Symbol),
        ("K7Q2M ", CodeError::Symbol),
        ("K7Q2M0", CodeError::Symbol),
        ("K7Q2MI", CodeError::Symbol),
        ("K7Q2MU", CodeError::Symbol),
        ("K7Q2é", CodeError::Symbol),
        ("K7Q2éX", CodeError::Length),
    ] {
        assert_eq!(bad.parse::<GameCode>(), Err(why), "{bad:?}");
    }
}

#[test]
fn what_people_type_becomes_a_code() {
    for typed in ["k7q2mx", " K7Q 2MX ", "k7q-2mx", "K7Q\u{a0}2MX"] {
        assert_eq!(
            GameCode::from_typed(typed).unwrap().as_str(),
            "K7Q2MX",
            "{typed:?}"
        );
    }
    assert_eq!(GameCode::from_typed("k7q2m"), Err(CodeError::Length));
}

#[test]
fn the_alphabet_has_no_look_alikes() {
    for symbol in b"0O1ILU" {
        assert!(!CODE_ALPHABET.contains(symbol), "{}", char::from(*symbol));
    }
    let mut symbols = CODE_ALPHABET.to_vec();
    symbols.dedup();
    assert_eq!(symbols.len(), CODE_ALPHABET.len());
}

proptest! {
    #[test]
    fn every_draw_is_a_code_that_survives_json(positions: [u8; CODE_LEN]) {
        let code = GameCode::from_positions(positions);
        let json = serde_json::to_string(&code).unwrap();
        prop_assert_eq!(serde_json::from_str::<GameCode>(&json).unwrap(), code);
        prop_assert_eq!(code.to_string().parse::<GameCode>(), Ok(code));
    }

    #[test]
    fn nothing_typed_panics(typed in ".{0,40}") {
        if let Ok(code) = GameCode::from_typed(&typed) {
            prop_assert_eq!(code.as_str().parse::<GameCode>(), Ok(code));
        }
    }
}
