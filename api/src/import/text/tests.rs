//! Encodings, line ends and white space.

use super::*;

const SAMPLE: &str = "Größe “42” – čaj 漢 👩‍🏫";

fn utf16(bom: [u8; 2], unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    bom.into_iter()
        .chain(SAMPLE.encode_utf16().flat_map(unit))
        .collect()
}

#[test]
fn every_unicode_encoding_reads_the_same() {
    assert_eq!(decode(SAMPLE.as_bytes()).unwrap(), SAMPLE);
    assert_eq!(
        decode(&[b"\xEF\xBB\xBF", SAMPLE.as_bytes()].concat()).unwrap(),
        SAMPLE
    );
    assert_eq!(decode(&utf16([0xFF, 0xFE], u16::to_le_bytes)).unwrap(), SAMPLE);
    assert_eq!(decode(&utf16([0xFE, 0xFF], u16::to_be_bytes)).unwrap(), SAMPLE);
}

#[test]
fn invalid_utf8_is_windows_1252() {
    assert_eq!(
        decode(b"Stra\xDFe \x93gut\x94 \x80 5").unwrap(),
        "Straße “gut” € 5"
    );
}

#[test]
fn a_stray_byte_does_not_spoil_a_utf8_file() {
    let bytes = [SAMPLE.as_bytes(), b" \xE4 ", SAMPLE.as_bytes(), b"\xE6\xBC"].concat();
    let text = decode(&bytes).unwrap();
    assert_eq!(text.matches(SAMPLE).count(), 2);
    assert!(text.contains(" ä "));
}

#[test]
fn binary_bytes_are_no_text() {
    assert_eq!(decode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), None);
    assert_eq!(decode(&[1, 2, 3, 4, 5, 6, 7, 8]), None);
    assert!(decode(b"a form feed\x0C is fine").is_some());
}

#[test]
fn line_ends_of_all_kinds_become_one() {
    assert_eq!(decode(b"a\r\nb\rc\nd\r\r\n\n").unwrap(), "a\nb\nc\nd\n\n\n");
}

#[test]
fn tidy_keeps_what_was_typed() {
    assert_eq!(
        tidy("  a  b \t\n\n\n\n    indented\u{7}\n"),
        "a  b\n\n    indented"
    );
    assert_eq!(tidy("\n \u{A0}\n"), "");
    assert_eq!(tidy("\tx\t"), "x");
}

#[test]
fn clip_counts_characters() {
    assert_eq!(clip("äöü", 3), "äöü");
    assert_eq!(clip("äöüß", 3), "äö…");
    assert_eq!(clip("a bcd", 3), "a…");
}

#[test]
fn only_known_extensions_are_cut() {
    assert_eq!(without_extensions("a.b.gift.txt"), "a.b");
    assert_eq!(without_extensions("Version 2.5"), "Version 2.5");
    assert_eq!(without_extensions("Kahoot.XLSX"), "Kahoot");
}
