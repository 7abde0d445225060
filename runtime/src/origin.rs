//! Web origins in the configuration, in the form in which browsers send them.

use thiserror::Error;
use url::Url;

/// The text is no origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("must be http:// or https:// with a host and nothing after it")]
pub struct NoOrigin;

/// The origin of an address that is nothing but an origin, as browsers write it: default ports dropped, host in lower
/// case. Fits clap as a value parser.
///
/// # Errors
/// When it is something else.
pub fn parse(value: &str) -> Result<String, NoOrigin> {
    let url = Url::parse(value).map_err(|_| NoOrigin)?;
    let bare = matches!(url.path(), "" | "/") && url.query().is_none() && url.fragment().is_none();
    let anonymous = url.username().is_empty() && url.password().is_none();
    let web = matches!(url.scheme(), "http" | "https") && url.has_host();
    if bare && anonymous && web {
        Ok(url.origin().ascii_serialization())
    } else {
        Err(NoOrigin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_canonical_or_refused() {
        for (given, canonical) in [
            ("HTTPS://Quiz.School.example:443/", "https://quiz.school.example"),
            ("http://10.1.2.3:8080", "http://10.1.2.3:8080"),
            ("http://[::1]:80", "http://[::1]"),
        ] {
            assert_eq!(parse(given).as_deref(), Ok(canonical));
        }
        for bad in [
            "quiz.school.example",
            "ftp://x",
            "https://x/path",
            "https://u:p@x",
            "https://x?a=1",
            "https://x#a",
            "",
        ] {
            assert_eq!(parse(bad), Err(NoOrigin), "{bad:?}");
        }
    }
}
