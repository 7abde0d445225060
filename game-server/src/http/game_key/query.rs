//! The code in a query. Needs nothing of the server, so that the fuzz targets can hold it against the proxy's reader.

use protocol::ids::GameCode;

/// The code, if there is exactly one `g` and it is a code in canonical form.
pub(crate) fn parse(query: &str) -> Option<GameCode> {
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
