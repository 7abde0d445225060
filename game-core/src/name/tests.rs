//! Names that must be allowed as typed, names that must be refused, and names that read the same.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

use super::chars::{is_ignorable, is_refused};
use super::{NameError, PlayerName, key};
use crate::limits::{NAME_BYTES_MAX, NAME_GRAPHEMES_MAX, NAME_MARKS_MAX, NAME_TYPED_BYTES_MAX};

const FAMILY: &str = "👨‍👩‍👧‍👦";
const ENGLAND: &str = "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}";
const SCOTLAND: &str = "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}";

fn shown(typed: &str) -> Result<String, NameError> {
    PlayerName::parse(typed).map(|name| name.to_string())
}

fn same(one: &str, other: &str) -> bool {
    let key = |typed| PlayerName::parse(typed).expect("allowed").key().to_owned();
    key(one) == key(other)
}

#[test]
fn names_come_back_as_typed() {
    let names = [
        "10",
        "9",
        "007",
        "Ada",
        "Zoë",
        "Zoe\u{308}",
        "สมชาย",
        "นักเรียน ๑",
        "שָׁלוֹם",
        "مُحَمَّد",
        "علی\u{200C}رضا",
        "क्\u{200D}ष",
        "李小龍",
        "ﬁn",
        "<b>Bob</b>",
        "\"; DROP TABLE",
        "&amp;",
        "{{name}}",
        FAMILY,
        "❤\u{FE0F}",
        "🇩🇪",
        ENGLAND,
        "null",
        "a\u{200F}b",
        "…",
        "\u{301}",
    ];
    for name in names {
        assert_eq!(shown(name).as_deref(), Ok(name));
    }
}

#[test]
fn white_space_is_trimmed_and_collapsed() {
    assert_eq!(shown("  Ada   Lovelace \n").as_deref(), Ok("Ada Lovelace"));
    assert_eq!(
        shown("\tAda\u{A0}\u{3000}Lovelace\u{2028}").as_deref(),
        Ok("Ada Lovelace")
    );
}

#[test]
fn one_to_twenty_graphemes() {
    assert_eq!(shown(""), Err(NameError::Empty));
    assert_eq!(shown(" \u{3000}\n"), Err(NameError::Empty));
    for unit in ["a", "ä", "e\u{301}", "ส", "👍🏽", FAMILY] {
        assert_eq!(shown(&unit.repeat(20)), Ok(unit.repeat(20)), "{unit}");
        assert_eq!(shown(&unit.repeat(21)), Err(NameError::TooLong), "{unit}");
    }
}

#[test]
fn a_grapheme_of_many_joiners_is_bounded_in_bytes() {
    let joiners = (NAME_BYTES_MAX - 2) / 3;
    let longest = format!("aa{}", "\u{200D}".repeat(joiners));
    assert_eq!(longest.len(), NAME_BYTES_MAX);
    assert_eq!(shown(&longest), Ok(longest.clone()));
    assert_eq!(shown(&format!("{longest}\u{200D}")), Err(NameError::TooLong));
}

#[test]
fn accents_do_not_become_towers() {
    let tower = |marks| format!("a{}", "\u{301}".repeat(marks));
    assert_eq!(shown(&tower(NAME_MARKS_MAX)), Ok(tower(NAME_MARKS_MAX)));
    assert_eq!(shown(&tower(NAME_MARKS_MAX + 1)), Err(NameError::TooLong));
    // Nor by way of what nobody sees, above or below, with nothing underneath.
    for tower in [
        "\u{301}\u{34F}".repeat(5),
        "a\u{323}\u{301}\u{323}\u{301}\u{323}".to_owned(),
    ] {
        assert_eq!(shown(&tower), Err(NameError::TooLong), "{tower:?}");
    }
    for name in [
        "Nguyễn".nfd().collect::<String>(),
        "བསྒྲུབས".into(),
        "เพื่อนๆ".into(),
        "בְּרֵאשִׁ֖ית".into(),
    ] {
        assert_eq!(shown(&name).as_deref(), Ok(name.as_str()));
    }
}

#[test]
fn typed_white_space_is_bounded_too() {
    let spaces = " ".repeat(NAME_TYPED_BYTES_MAX - 1);
    assert_eq!(shown(&format!("{spaces}a")).as_deref(), Ok("a"));
    assert_eq!(shown(&format!("{spaces} a")), Err(NameError::TooLong));
}

#[test]
fn control_characters_are_refused_inside() {
    let refused = [
        '\0', '\u{7}', '\t', '\n', '\r', '\u{1B}', '\u{7F}', '\u{80}', '\u{85}', '\u{9F}', '\u{2028}',
        '\u{2029}', '\u{202A}', '\u{202B}', '\u{202C}', '\u{202D}', '\u{202E}', '\u{2066}', '\u{2067}',
        '\u{2068}', '\u{2069}',
    ];
    for c in refused {
        assert_eq!(
            shown(&format!("Ad{c}a")),
            Err(NameError::Control),
            "{}",
            c.escape_unicode()
        );
    }
    for c in ['\0', '\u{1B}', '\u{202E}', '\u{2066}'] {
        assert_eq!(
            shown(&format!("Ada{c}")),
            Err(NameError::Control),
            "{}",
            c.escape_unicode()
        );
    }
}

#[test]
fn nothing_to_see_is_no_name() {
    let invisible = [
        "\u{200B}",
        "\u{200D}\u{200C}",
        "\u{FEFF}",
        "\u{2060} \u{AD}",
        "\u{3164}",
        "\u{FFA0}",
        "\u{115F}\u{1160}",
        "\u{2800}",
        "\u{FE0F}",
        "\u{E0041}",
        "\u{34F}",
        "\u{FFF9}",
        "\u{200E}\u{200F}",
        "\u{180E}",
    ];
    for name in invisible {
        assert_eq!(shown(name), Err(NameError::Empty), "{}", name.escape_unicode());
    }
}

#[test]
fn names_that_read_the_same() {
    let pairs = [
        ("Ada", "ADA"),
        ("Zoë", "ZOE\u{308}"),
        ("straße", "STRASSE"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("ﬁn", "FIN"),
        ("Ａｄａ", "ada"),
        ("Ada Lovelace", " ada\u{3000}\u{A0}lovelace"),
        ("Ada", "A\u{200B}d\u{AD}a\u{FEFF}"),
        ("Ada", "Ada\u{E0041}"),
        ("❤", "❤\u{FE0F}"),
        ("①", "1"),
        ("\u{212B}", "å"),
    ];
    for (one, other) in pairs {
        assert!(same(one, other), "{one} and {other}");
    }
}

#[test]
fn names_that_read_differently() {
    let pairs = [
        ("10", "9"),
        ("007", "7"),
        ("Ada L", "AdaL"),
        ("Zoe", "Zoë"),
        ("ก", "ข"),
        ("👍", "👍🏽"),
        (ENGLAND, SCOTLAND),
    ];
    for (one, other) in pairs {
        assert!(!same(one, other), "{one} and {other}");
    }
}

#[test]
fn the_key_of_every_character_is_its_own_key() {
    // Every plane with assigned characters but the private ones, which have no case and no decomposition.
    let unstable = (' '..='\u{33FFF}').chain('\u{E0000}'..='\u{E0FFF}').filter(|c| {
        let once = key(&c.to_string());
        key(&once) != once
    });
    assert_eq!(unstable.collect::<String>(), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_is_typed_is_refused_or_within_bounds(typed in typed()) {
        if let Ok(name) = PlayerName::parse(&typed) {
            let shown = name.as_str();
            prop_assert!(shown.len() <= NAME_BYTES_MAX);
            prop_assert!((1..=NAME_GRAPHEMES_MAX).contains(&shown.graphemes(true).count()));
            prop_assert!(!shown.chars().any(is_refused));
            prop_assert!(!shown.chars().all(|c| is_ignorable(c) || c.is_whitespace()));
            prop_assert_eq!(shown.split_whitespace().collect::<Vec<_>>().join(" "), shown);
            prop_assert!(!name.key().is_empty());
            let again = PlayerName::parse(shown);
            prop_assert_eq!(again.as_ref(), Ok(&name), "a shown name can be typed again");
        }
    }

    #[test]
    fn case_space_and_hidden_characters_make_no_other_name(words in "[a-zäöüßéñа-яά-ώ]{1,4}( [a-z]{1,4})?") {
        let wide = words.replace(' ', " \u{2003}\u{3000}");
        let padded = format!("\u{200B}{words}\u{2060}");
        for other in [words.to_uppercase(), wide, padded] {
            prop_assert!(same(&words, &other), "{} and {}", words, other);
        }
    }
}

/// Any text, and text made mostly of what has a rule here.
fn typed() -> impl Strategy<Value = String> {
    let peculiar = prop::sample::select(vec![
        " ",
        "\u{A0}",
        "\n",
        "\u{200D}",
        "\u{200B}",
        "\u{FE0F}",
        "\u{202E}",
        "a",
        "Z",
        "ß",
        "\u{301}",
        "👩",
        "🏽",
        "ส",
        "ﷺ",
        "\u{3164}",
        "\u{E0041}",
        "🏴",
        "🇩",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(peculiar, 0..30).prop_map(|parts| parts.concat()),
    ]
}
