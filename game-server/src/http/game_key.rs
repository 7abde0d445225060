//! The game's code in the address: exactly one `g`, in canonical form. Proxies place a request by it, so that whatever could be
//! read in two ways is refused.

use axum::extract::FromRequestParts;
use http::Uri;
use http::request::Parts;
use protocol::ids::GameCode;

use crate::problem::Refusal;

/// The code in `?g=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GameKey(pub(crate) GameCode);

impl<S: Sync> FromRequestParts<S> for GameKey {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Refusal> {
        of(&parts.uri).map(Self).ok_or_else(Refusal::bad_game_key)
    }
}

/// The code in an address.
pub(crate) fn of(address: &Uri) -> Option<GameCode> {
    parse(address.query().unwrap_or_default())
}

fn parse(query: &str) -> Option<GameCode> {
    let mut codes = query.split('&').filter_map(|pair| match pair.split_once('=') {
        Some(("g", value)) => Some(value),
        None if pair == "g" => Some(""),
        Some(_) | None => None,
    });
    let code = codes.next()?;
    // No percent-decoding: a canonical code has nothing to encode.
    if codes.next().is_some() {
        None
    } else {
        code.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_canonical_code_or_nothing() {
        let code = "K7Q2MX".parse().ok();
        assert_eq!(parse("g=K7Q2MX"), code);
        assert_eq!(parse("utm=x&g=K7Q2MX&v"), code);
        for query in [
            "",
            "g",
            "g=",
            "h=K7Q2MX",
            "g=k7q2mx",
            "g=K7Q2M",
            "g=K7Q2MX&g=K7Q2MX",
            "g=K7Q2MX&g",
            "g=K7Q2%4DX",
        ] {
            assert_eq!(parse(query), None, "{query}");
        }
    }
}
