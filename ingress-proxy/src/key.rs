//! The key by which a game is placed: the code in `?g=`, in canonical form, exactly once; whatever could be read in two
//! ways is refused and never hashed.

use protocol::ids::{CodeError, GameCode};
use thiserror::Error;

/// Why an address has no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum KeyError {
    /// There is no `g`.
    #[error("The address needs ?g= with a game code; it has none.")]
    Missing,
    /// There is a `g` without a value.
    #[error("The address needs ?g= with a game code; its g is empty.")]
    Empty,
    /// There are several.
    #[error("The address has more than one g; it needs exactly one.")]
    Repeated,
    /// It is no code in canonical form, or is spelt so that servers could read different ones.
    #[error(
        "The g in the address is no game code: six of 23456789ABCDEFGHJKMNPQRSTVWXYZ, in upper case, as they are."
    )]
    Malformed,
}

/// The code in a query.
///
/// # Errors
/// Which way it is none.
pub fn parse(query: &str) -> Result<GameCode, KeyError> {
    // Some servers take `;` for `&`, and most decode names: neither may find another `g` than is found here.
    let mut codes = query.split(['&', ';']).filter_map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        is_g(name).then_some((name, value))
    });
    let (name, value) = codes.next().ok_or(KeyError::Missing)?;
    if codes.next().is_some() {
        return Err(KeyError::Repeated);
    }
    if value.is_empty() {
        return Err(KeyError::Empty);
    }
    let plain = name == "g"
        && query
            .split('&')
            .any(|pair| pair.strip_prefix("g=") == Some(value));
    if !plain {
        return Err(KeyError::Malformed);
    }
    value.parse().map_err(|_: CodeError| KeyError::Malformed)
}

/// Whether a server that decodes names would call it `g`.
fn is_g(name: &str) -> bool {
    name == "g" || name == "%67"
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_canonical_code_or_the_reason() {
        let code = Ok("K7Q2MX".parse().unwrap());
        for query in [
            "g=K7Q2MX",
            "utm=x&g=K7Q2MX&v",
            "x=a;b&g=K7Q2MX",
            "G=1&g=K7Q2MX",
            "gg=K7Q2MY&g=K7Q2MX",
        ] {
            assert_eq!(parse(query), code, "{query}");
        }
        use KeyError::{Empty, Malformed, Missing, Repeated};
        for (query, why) in [
            ("", Missing),
            ("h=K7Q2MX", Missing),
            ("G=K7Q2MX", Missing),
            ("%47=K7Q2MX", Missing),
            ("g", Empty),
            ("g=", Empty),
            ("g=K7Q2MX&g=K7Q2MX", Repeated),
            ("g=K7Q2MX&g", Repeated),
            ("g=K7Q2MX&%67=K7Q2MY", Repeated),
            ("g=K7Q2MX;g=K7Q2MY", Repeated),
            ("a=b;g=K7Q2MY&g=K7Q2MX", Repeated),
            ("g=K7Q2MX;a=b", Malformed),
            ("a=b;g=K7Q2MX", Malformed),
            ("%67=K7Q2MX", Malformed),
            ("g=k7q2mx", Malformed),
            ("g=K7Q2M", Malformed),
            ("g=K7Q2MXX", Malformed),
            ("g=K7Q2%4DX", Malformed),
            ("g=K7Q2MX%00", Malformed),
            ("g=K7Q2M0", Malformed),
            ("g=K7Q2MX+", Malformed),
            ("g==K7Q2MX", Malformed),
        ] {
            assert_eq!(parse(query), Err(why), "{query}");
        }
    }

    proptest! {
        /// A naive reader that decodes names and knows both separators finds the same code, and no other.
        #[test]
        fn nobody_reads_another_code(query in "([gG]|%67|x|=|&|;|K7Q2MX|K7Q2MY|%4B){0,12}") {
            if let Ok(code) = parse(&query) {
                for separators in [&['&'][..], &['&', ';'][..]] {
                    let all: Vec<_> = query
                        .split(separators)
                        .filter_map(|pair| pair.split_once('='))
                        .filter(|(name, _)| name.replace("%67", "g") == "g")
                        .map(|(_, value)| value.replace("%4B", "K"))
                        .collect();
                    prop_assert_eq!(all, vec![code.as_str().to_owned()]);
                }
            }
        }
    }
}
