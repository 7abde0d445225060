//! Text frames of a game's socket: a frame that is understood says what it is exactly once, and comes to the same when it is
//! written and read again.

use std::fmt::{Debug, Formatter, Result as Said};

use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::parse::{self, First, Parsed};

/// `data` is a frame's text.
///
/// # Panics
/// When it is understood in a way in which another reader does not.
pub fn check_frame(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (player, host, first) = (parse::player(text), parse::host(text), parse::first(text));
    check(text, &player, parse::player);
    check(text, &host, parse::host);
    match (&player, &host) {
        // A type that both send may carry other fields for each.
        (Parsed::NotAllowed, Parsed::NotAllowed) => panic!("{text:?} is the other role's for both"),
        (Parsed::Unknown, other) => assert_eq!(other, &Parsed::Unknown, "{text:?}"),
        (Parsed::Frame(_) | Parsed::NotAllowed | Parsed::Malformed, _) => {}
    }
    let t = type_of(text);
    match first {
        Some(First::Join { .. }) => assert_eq!(t.as_deref(), Some("join")),
        Some(First::Resume { .. }) => assert_eq!(t.as_deref(), Some("resume")),
        Some(First::Host { .. }) => assert_eq!(t.as_deref(), Some("host")),
        Some(First::Screen { .. }) => assert_eq!(t.as_deref(), Some("screen")),
        None => {}
    }
}

fn check<T>(text: &str, parsed: &Parsed<T>, again: impl Fn(&str) -> Parsed<T>)
where
    T: Debug + PartialEq + Serialize + DeserializeOwned,
{
    let Parsed::Frame(frame) = parsed else {
        return;
    };
    let t = type_of(text);
    assert!(
        t.is_some(),
        "{text:?} has several types, or none, and is taken for {frame:?}"
    );
    let written = serde_json::to_string(frame).unwrap_or_default();
    assert_eq!(type_of(&written), t, "{text:?} is taken for {frame:?}");
    assert_eq!(&again(&written), parsed, "{text:?} is written as {written:?}");
}

/// The one `t` of an object, as a reader finds it that takes whatever is JSON.
fn type_of(text: &str) -> Option<String> {
    let Pairs(types) = serde_json::from_str(text).ok()?;
    match <[Value; 1]>::try_from(types) {
        Ok([Value::String(one)]) => Some(one),
        Ok(_) | Err(_) => None,
    }
}

/// The values of all `t` of an object, of which JSON allows any number.
struct Pairs(Vec<Value>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Pairs;

            fn expecting(&self, f: &mut Formatter<'_>) -> Said {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut types = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "t" {
                        types.push(map.next_value()?);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Pairs(types))
            }
        }
        deserializer.deserialize_map(All)
    }
}
