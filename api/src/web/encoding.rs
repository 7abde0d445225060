//! Choosing a content coding from `Accept-Encoding` (RFC 9110, section 12.5.3).

/// How a stored file is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Brotli,
    Gzip,
    Identity,
}

impl Encoding {
    /// Ending of the file that the build wrote in this coding.
    pub(super) fn suffix(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some(".br"),
            Self::Gzip => Some(".gz"),
            Self::Identity => None,
        }
    }

    /// Value of `Content-Encoding`.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gzip"),
            Self::Identity => None,
        }
    }
}

/// The codings that are accepted, smallest first. Plain is always the last resort: a client that forbids it and takes nothing
/// else is better served than refused.
pub(super) fn preferred<'a>(accepted: impl Iterator<Item = &'a str>) -> Vec<Encoding> {
    let (mut brotli, mut gzip, mut any) = (None, None, None);
    for item in accepted.flat_map(|value| value.split(',')) {
        let (coding, parameters) = item.split_once(';').unwrap_or((item, ""));
        let wanted = Some(!is_zero_weight(parameters));
        match coding.trim().to_ascii_lowercase().as_str() {
            "br" => brotli = wanted,
            "gzip" | "x-gzip" => gzip = wanted,
            "*" => any = wanted,
            _ => {}
        }
    }
    [(Encoding::Brotli, brotli), (Encoding::Gzip, gzip)]
        .into_iter()
        .filter(|(_, wanted)| wanted.or(any).unwrap_or(false))
        .map(|(encoding, _)| encoding)
        .collect()
}

fn is_zero_weight(parameters: &str) -> bool {
    parameters
        .split(';')
        .filter_map(|parameter| parameter.trim().strip_prefix("q="))
        .any(|weight| weight.trim().parse::<f32>().is_ok_and(|weight| weight <= 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_accepted_coding_wins() {
        use Encoding::{Brotli, Gzip};
        for (accepted, codings) in [
            ("", vec![]),
            ("gzip, deflate", vec![Gzip]),
            ("gzip;q=1.0, br;q=0.1", vec![Brotli, Gzip]),
            ("br;q=0, gzip", vec![Gzip]),
            ("BR", vec![Brotli]),
            ("*", vec![Brotli, Gzip]),
            ("*;q=0, gzip", vec![Gzip]),
            ("identity", vec![]),
            ("brotli, gzipped", vec![]),
        ] {
            assert_eq!(preferred([accepted].into_iter()), codings, "{accepted}");
        }
        assert_eq!(
            preferred(["gzip", "br"].into_iter()),
            [Brotli, Gzip],
            "two header lines"
        );
    }
}
