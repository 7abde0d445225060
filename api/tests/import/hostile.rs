//! Bytes that mean harm, or that were harmed: none may panic, take long, or go unanswered.

use std::fmt::Write;
use std::time::Duration;

use api::import::import;
use proptest::prelude::*;

use crate::xlsx::{Book, Cell, bomb, join, zip};

/// Processor time that one file may take, in a build without optimisation: the slowest takes 1.1 to 2.2 s on machines of unlike speed, and
/// one whose work grows with the square of its size would take hours.
const CPU_MAX: Duration = Duration::from_secs(6);

/// Processor time of this thread: unlike a clock's, it does not grow while other tests have the processors.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    // User and system time, fields 14 and 15 of proc(5), in hundredths of a second.
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

/// Imports a file within the time allowed and tells what came of it: an error's code, or the counts.
fn outcome(name: &str, bytes: &[u8]) -> String {
    let before = cpu_time();
    let result = import("x", bytes);
    let spent = cpu_time() - before;
    println!("{spent:?} {name}");
    assert!(spent < CPU_MAX, "{name} took {spent:?}");
    match result {
        Ok(imported) => {
            imported.quiz.validate().unwrap();
            assert!(imported.skipped.len() <= imported.skipped_count + 1);
            format!(
                "{} imported, {} left out",
                imported.quiz.questions.len(),
                imported.skipped_count
            )
        }
        Err(error) => error.code().to_owned(),
    }
}

const MIB: usize = 1024 * 1024;

/// Enough for a quadratic scan to take minutes.
const RUN_BYTES: usize = 64 * 1024;

#[test]
fn a_megabyte_of_one_character_takes_linear_time() {
    for unit in ["{", "~", "::a", "=", "<", "\n"] {
        outcome(
            &format!("1 MiB of {unit:?}"),
            unit.repeat(MIB / unit.len()).as_bytes(),
        );
    }
}

#[test]
fn long_runs_of_anything_take_linear_time() {
    let units = [
        "{",
        "}",
        "~",
        "=",
        "\\",
        ":",
        "::",
        "#",
        "####",
        "%",
        "%5%",
        "&",
        "&#",
        "<",
        "<!--",
        "-->",
        "<b ",
        "<b>",
        "</b>",
        "<b x=\"",
        "<b a=1",
        "<script>",
        "<sup>",
        "<sup>2",
        "[",
        "[html]",
        "::a::",
        "a\n\n",
        "{\n\n",
        "{=a\n\n",
        "{=a ~b}\n",
        "{}\n",
        "}{",
        "\n",
        " ",
        "a ",
        "//\n",
        "$CATEGORY: a/b\n",
        "::t::q{=a\n",
        "=a->b",
        "é",
        "\u{A0}",
        "a{T}\na\n",
    ];
    for unit in units {
        let run = unit.repeat(RUN_BYTES / unit.len());
        for (kind, text) in [
            ("bare", run.clone()),
            ("stem", format!("[html]{run}{{T}}")),
            ("mixed stem", format!("Q{run}\n\nR{{T}}")),
            ("block", format!("::q::a{{{run}}}\n\nR{{T}}")),
            ("answer", format!("::q::[html]a{{=b ~{run}}}\n\nR{{T}}")),
            ("title", format!("::{run}::a{{T}}")),
        ] {
            outcome(&format!("{kind} of {unit:?}"), text.as_bytes());
        }
    }
}

#[test]
fn many_items_are_all_counted() {
    let text: String = (0..50_000).fold(String::new(), |mut text, n| {
        writeln!(text, "::Q{n}::Is it {n}? {{=yes ~no}}\n").unwrap();
        text
    });
    assert_eq!(
        outcome("50,000 questions", text.as_bytes()),
        "200 imported, 49800 left out"
    );
}

fn good_rows() -> [[Cell<'static>; 7]; 2] {
    let row = [
        Cell::Shared("Q"),
        Cell::Shared("a"),
        Cell::Inline("b"),
        Cell::Empty,
        Cell::Empty,
        Cell::Number("20"),
        Cell::Number("1"),
    ];
    [row, row]
}

/// The good workbook with one part changed.
fn with_part(path: &str, change: impl Fn(&str) -> String) -> Vec<u8> {
    let rows = good_rows();
    let mut parts = Book::template(&rows).parts();
    for (name, part) in &mut parts {
        if *name == path {
            *part = change(part);
        }
    }
    let parts: Vec<(&str, &[u8])> = parts
        .iter()
        .map(|(path, part)| (*path, part.as_bytes()))
        .collect();
    zip(&parts)
}

const SHEET: &str = "xl/worksheets/sheet1.xml";
const STRINGS: &str = "xl/sharedStrings.xml";
const STYLES: &str = "xl/styles.xml";

/// A workbook of which one part, given by the path and its beginning, goes on with `unit` for `bytes`.
fn bomb_book(path: &str, head: &str, unit: &str, bytes: usize, declared_bytes: u32) -> Vec<u8> {
    let rows = good_rows();
    let parts = Book::template(&rows).parts();
    let others = parts.iter().filter(|(name, _)| *name != path);
    let mut archives: Vec<Vec<u8>> = others
        .map(|(name, part)| zip(&[(name, part.as_bytes())]))
        .collect();
    archives.push(bomb(path, head, unit, bytes, declared_bytes));
    join(&archives)
}

const BOMBS: [(&str, &str, &str); 12] = [
    (SHEET, "<worksheet><sheetData><row>", " "),
    (SHEET, "<worksheet><sheetData><row>", "<a/>"),
    (SHEET, "<worksheet><sheetData><row>", "<c/>"),
    (SHEET, "<worksheet><sheetData>", "<row/>"),
    (SHEET, "<worksheet><sheetData><row><c t=\"str\"><v>", "a"),
    (SHEET, "<worksheet><sheetData><row>", "<a>"),
    (STRINGS, "<sst>", "<si/>"),
    (STRINGS, "<sst><si><t>", "&amp;"),
    (STRINGS, "<sst><si><t>", "a"),
    (STYLES, "<styleSheet><cellXfs>", "<xf/>"),
    (STYLES, "<styleSheet", " a=\"\""),
    ("xl/workbook.xml", "<workbook><sheets>", "<sheet/>"),
];

#[test]
fn zip_bombs_are_refused() {
    for (path, head, unit) in BOMBS {
        // The declared size is above the bound; it is below, but what is read is not; it is a lie.
        let too_large = bomb_book(path, head, unit, 60 * MIB, 60 * 1024 * 1024);
        assert!(too_large.len() < MIB, "{}", too_large.len());
        assert_eq!(
            outcome("large declared size", &too_large),
            "import-too-large-inside"
        );
        let honest = bomb_book(path, head, unit, 30 * MIB, 30 * 1024 * 1024);
        let name = format!("bomb of {unit:?} in {path}");
        assert_eq!(outcome(&name, &honest), "import-too-large-inside", "{name}");
        let lying = bomb_book(path, head, unit, 60 * MIB, 1_000);
        let answer = outcome(&format!("lying {name}"), &lying);
        assert!(
            answer == "import-too-large-inside" || answer == "import-corrupt",
            "{name}: {answer}"
        );
    }
}

#[test]
fn a_part_that_is_not_read_may_be_anything() {
    let bomb = bomb_book("xl/media/picture.png", "", "a", 60 * MIB, 1_000);
    assert_eq!(outcome("bomb beside the sheet", &bomb), "2 imported, 0 left out");
}

#[test]
fn archives_of_many_or_nested_entries_are_refused() {
    let parts: Vec<Vec<u8>> = (0..20_000)
        .map(|n| bomb(&format!("xl/{n}"), "", "a", 1, 1))
        .collect();
    assert_eq!(
        outcome("20,000 entries", &join(&parts)),
        "import-too-large-inside"
    );
    let inner = bomb("bomb", "", "a", 60 * MIB, 1_000);
    let nested: Vec<(&str, &[u8])> = vec![("a.xlsx", &inner), ("b.xlsx", &inner), ("c.xlsx", &inner)];
    assert_eq!(outcome("nested archives", &zip(&nested)), "import-unknown-format");
}

#[test]
fn cells_far_away_cost_nothing() {
    let far = "<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row><row r=\"99999999999\">\
               <c r=\"ZZZZZZZZZZZZ99999999999\"><v>1</v></c></row></sheetData>";
    let book = with_part(SHEET, |sheet| sheet.replace("</sheetData>", far));
    assert_eq!(outcome("far cells", &book), "2 imported, 0 left out");
    let claim = with_part(SHEET, |sheet| sheet.replace("A1:H9", "XFD1048576:A1"));
    assert_eq!(outcome("claimed dimension", &claim), "2 imported, 0 left out");
}

#[test]
fn claims_and_odd_values_are_not_trusted() {
    let count = with_part(STRINGS, |part| {
        part.replace("<sst>", "<sst uniqueCount=\"99999999999999\">")
    });
    assert_eq!(outcome("claimed count", &count), "2 imported, 0 left out");
    let font = format!(
        "<fonts><font><name val=\"{}\"/></font></fonts>",
        "a".repeat(200_000)
    );
    let styles = with_part(STYLES, |part| {
        part.replace(
            "<cellXfs>",
            &format!("{font}<cellXfs>{}", "<xf fontId=\"0\"/>".repeat(20_000)),
        )
    });
    assert_eq!(outcome("cloned fonts", &styles), "2 imported, 0 left out");
    // One odd cell costs its own row, not the sheet.
    let odd = with_part(SHEET, |sheet| {
        sheet.replacen("r=\"B9\" t=\"s\"><v>", "r=\"B9\" t=\"s\"><v>99", 1)
    });
    assert_eq!(outcome("missing shared text", &odd), "1 imported, 1 left out");
    let entity = with_part(STRINGS, |part| {
        format!(
            "<!DOCTYPE s [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]>{}",
            part.replace(">Q<", ">&b;<")
        )
    });
    assert_eq!(outcome("defined entity", &entity), "2 imported, 0 left out");
    let attributes: String = (0..100_000).map(|n| format!(" a{n}=\"\"")).collect();
    let many = with_part(SHEET, |sheet| {
        sheet.replace("<sheetData>", &format!("<sheetData{attributes}>"))
    });
    assert_eq!(outcome("many attributes", &many), "2 imported, 0 left out");
}

#[test]
fn huge_tables_are_bounded() {
    let strings = with_part(STRINGS, |part| {
        part.replace(
            "</sst>",
            &format!("{}</sst>", "<si><t>x</t></si>".repeat(100_000)),
        )
    });
    assert_eq!(
        outcome("100,000 shared texts", &strings),
        "2 imported, 0 left out"
    );
    let rows = with_part(SHEET, |sheet| {
        let empty = format!("<row>{}</row>", "<c s=\"0\"/>".repeat(27));
        sheet.replace("</sheetData>", &format!("{}</sheetData>", empty.repeat(10_000)))
    });
    assert_eq!(outcome("10,000 formatted rows", &rows), "2 imported, 0 left out");
}

#[test]
fn one_long_text_in_every_cell_is_bounded() {
    let long = |cells: &str, rows: usize| {
        let rows_good = good_rows();
        let mut parts = Book::template(&rows_good).parts();
        for (path, part) in &mut parts {
            if *path == STRINGS {
                *part = part.replacen(
                    "<t xml:space=\"preserve\">Q<",
                    &format!("<t>{}<", "Q".repeat(MIB)),
                    1,
                );
            } else if *path == SHEET {
                let sheet = part.replace("</sheetData>", &format!("{}</sheetData>", cells.repeat(rows)));
                *part = sheet;
            }
        }
        let parts: Vec<(&str, &[u8])> = parts
            .iter()
            .map(|(path, part)| (*path, part.as_bytes()))
            .collect();
        zip(&parts)
    };
    // The shared text's number: the title and the header's seven come first.
    let one = "<c t=\"s\"><v>8</v></c>";
    let again = "<c r=\"A1\" t=\"s\"><v>8</v></c>";
    for (cells, rows) in [
        (format!("<row>{one}</row>"), 1_000),
        (one.to_owned(), 1_000),
        (again.to_owned(), 1_000),
    ] {
        assert_eq!(outcome(&cells, &long(&cells, rows)), "import-too-large-inside");
    }
    assert_eq!(outcome("long text once", &long("", 0)), "1 imported, 1 left out");
}

#[test]
fn an_encrypted_entry_is_named() {
    let mut book = Book::template(&good_rows()).zip();
    for (magic, offset) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let at = book.windows(4).position(|window| window == magic).unwrap();
        book[at + offset] |= 1;
    }
    assert_eq!(outcome("encrypted", &book), "import-encrypted");
}

#[test]
fn other_archives_are_named() {
    assert_eq!(
        outcome("Word", &zip(&[("word/document.xml", b"")])),
        "import-unsupported-format"
    );
    assert_eq!(outcome("empty archive", &zip(&[])), "import-unknown-format");
}

#[test]
fn truncated_files_are_answered() {
    let book = Book::template(&good_rows()).zip();
    let gift = include_bytes!("../fixtures/gift/separators.gift");
    for twentieth in 0..20 {
        let cut = &book[..book.len() * twentieth / 20];
        let expected = if twentieth == 0 {
            "import-empty"
        } else {
            "import-corrupt"
        };
        assert_eq!(outcome("truncated spreadsheet", cut), expected, "{twentieth}/20");
        outcome("truncated text", &gift[..gift.len() * twentieth / 20]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        outcome("bytes", &bytes);
        outcome("archive", &[b"PK\x03\x04", bytes.as_slice()].concat());
    }

    #[test]
    fn arbitrary_syntax_is_answered(text in "([{}~=#:%\\\\<>&;/$a\n \\[\\]-]|::|->|####|<b>|</b>|&lt;|\\[html\\]|\n\n){0,200}") {
        outcome("syntax", text.as_bytes());
        outcome("item", format!("::t::q {{{text}}}").as_bytes());
    }

    #[test]
    fn damaged_files_are_answered(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        from in 0_usize..3,
    ) {
        let book = Book::template(&good_rows()).zip();
        let mut bytes = match from {
            0 => book,
            1 => include_bytes!("../fixtures/gift/types.gift").to_vec(),
            _ => include_bytes!("../fixtures/gift/markup.gift").to_vec(),
        };
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        outcome("damaged", &bytes);
    }

    #[test]
    fn damaged_parts_are_answered(
        part in 0_usize..5,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), "[<>/\"=&;a-z0-9 ]{0,4}"), 1..5),
    ) {
        let rows = good_rows();
        let mut parts = Book::template(&rows).parts();
        for (index, insert) in changes {
            let text = &mut parts[part].1;
            let mut at = index.index(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            text.insert_str(at, &insert);
        }
        let parts: Vec<(&str, &[u8])> = parts.iter().map(|(path, part)| (*path, part.as_bytes())).collect();
        outcome("damaged part", &zip(&parts));
    }
}
