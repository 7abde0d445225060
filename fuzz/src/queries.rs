//! The key: what the proxy takes for a game's code is what every other reader of the same query finds, and nothing else.

use crate::key::{self, KeyError};
use crate::query;

/// Reads `data` as a query, of which only what can stand in a request line is kept.
///
/// # Panics
/// When two readers differ.
pub fn check_key(data: &[u8]) {
    let Ok(query) = std::str::from_utf8(data) else {
        return;
    };
    if query.bytes().any(|b| b <= b' ' || b == b'#' || b == 0x7f) {
        return;
    }
    let found = codes(query);
    match key::parse(query) {
        Ok(code) => {
            let code = code.as_str();
            for (reader, codes) in &found {
                assert_eq!(codes, &[code], "{reader} reads another key in {query:?}");
            }
            assert_eq!(
                query::parse(query).as_ref().map(|own| own.as_str()),
                Some(code),
                "the game server reads another key in {query:?}"
            );
            // Only as it is written: nothing had to be decoded to find it.
            assert!(query.split('&').any(|pair| pair == format!("g={code}")));
        }
        Err(KeyError::Missing) => {
            for (reader, codes) in &found {
                assert!(codes.is_empty(), "{reader} finds {codes:?} in {query:?}");
            }
        }
        Err(KeyError::Empty | KeyError::Repeated | KeyError::Malformed) => {
            // No canonical code that everybody agrees on may be turned away.
            let one = |codes: &Vec<String>| codes.len() == 1 && is_code(&codes[0]);
            let agreed = found.iter().all(|(_, codes)| one(codes) && codes == &found[0].1);
            let plain = agreed
                && query
                    .split('&')
                    .any(|pair| pair == format!("g={}", found[0].1[0]));
            assert!(!plain, "{query:?} is refused");
        }
    }
}

fn is_code(text: &str) -> bool {
    text.len() == 6
        && text
            .bytes()
            .all(|b| b"23456789ABCDEFGHJKMNPQRSTVWXYZ".contains(&b))
}

/// What readers of several habits find under `g`.
fn codes(query: &str) -> [(&'static str, Vec<String>); 4] {
    let all = |separators: &[char], decoded: bool| {
        let read = |text: &str| if decoded { decode(text) } else { text.to_owned() };
        query
            .split(separators)
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .filter(|(name, _)| read(name) == "g")
            .map(|(_, value)| read(value))
            .collect()
    };
    [
        ("whoever decodes nothing", all(&['&'], false)),
        ("whoever decodes", all(&['&'], true)),
        ("whoever knows both separators", all(&['&', ';'], false)),
        ("whoever does both", all(&['&', ';'], true)),
    ]
}

/// As forms are decoded: `+` is a space, and what is no number after `%` stays.
fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|b| char::from(*b).to_digit(16));
    let (mut decoded, mut at) = (Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.extend(u8::try_from(high * 16 + low));
                at += 3;
            }
            (b'+', _, _) => {
                decoded.push(b' ');
                at += 1;
            }
            _ => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
