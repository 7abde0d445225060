//! How titles and what is searched in them are compared: without case, accents, width and invisible characters.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Bytes of a folded title at most: an index of PostgreSQL takes rows of 2,700 bytes, and some characters unfold into eighteen.
const FOLDED_BYTES_MAX: usize = 1_000;
/// Words of a search that are looked at; nobody types more to find a title.
const WORDS_MAX: usize = 8;

/// A text as it is compared.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::new();
    let plain = text.nfkd().filter(|c| !is_combining_mark(*c) && !c.is_control());
    for c in plain.flat_map(char::to_lowercase) {
        if folded.len() + c.len_utf8() > FOLDED_BYTES_MAX {
            break;
        }
        folded.push(c);
    }
    folded
}

/// The words that a title must hold, each anywhere in it.
pub(crate) fn words(search: &str) -> Vec<String> {
    fold(search)
        .split_whitespace()
        .take(WORDS_MAX)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_is_alike() {
        for (text, folded) in [
            ("Étoile", "etoile"),
            ("E\u{301}toile", "etoile"),
            ("ÄPFEL", "apfel"),
            ("Ｗｉｄｅ", "wide"),
            ("a\0b\u{7}", "ab"),
            ("İstanbul", "istanbul"),
            ("漢字", "漢字"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
        assert_eq!(words("  Das  ÉCLAIR "), ["das", "eclair"]);
        assert_eq!(words("a b c d e f g h i j").len(), WORDS_MAX);
    }

    #[test]
    fn a_folded_title_fits_into_an_index() {
        let long = fold(&"\u{fdfa}".repeat(120));
        assert!(
            (FOLDED_BYTES_MAX - 4..=FOLDED_BYTES_MAX).contains(&long.len()),
            "{}",
            long.len()
        );
    }
}
