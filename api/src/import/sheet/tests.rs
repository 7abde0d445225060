//! References and escapes of the format.

use super::*;

#[test]
fn columns_of_references() {
    for (reference, index) in [
        ("A1", Some(0)),
        ("Z9", Some(25)),
        ("aa10", Some(26)),
        ("XFD1048576", Some(16_383)),
        ("7", None),
        ("", None),
    ] {
        assert_eq!(column(reference), index);
    }
    assert_eq!(column("ZZZZZZZZZZZZ1"), Some(u32::MAX));
    for index in [0, 25, 26, 701, 702, 16_383] {
        assert_eq!(column(&column_letters(index)), Some(index));
    }
}

#[test]
fn escapes_of_the_format() {
    assert_eq!(strings::unescape("a_x000D__x000A_b_x005F_x0041_"), "a\nb_x0041_");
    assert_eq!(
        strings::unescape("_x12_ _xZZZZ_ _xD800_ _x"),
        "_x12_ _xZZZZ_ _xD800_ _x"
    );
}
