//! Memory that hostile files take, in a process of its own: the peak counts for the whole process.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "import/xlsx.rs"]
#[expect(dead_code, reason = "shared with the other import tests, which use all of it")]
mod xlsx;

use api::import::{FILE_BYTES_MAX, import};
use xlsx::{Book, Cell, bomb, join, zip};

const MIB: usize = 1024 * 1024;
/// Peak above the start, in KiB. The bound is ten times the largest file, which leaves room for the decoded text, the
/// text of one part of a spreadsheet, and the texts of all questions at once.
const PEAK_KIB_MAX: u64 = 100 * 1024;

/// A field of `/proc/self/status`, in KiB.
fn status_kib(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim_start_matches(':')
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}

/// A template whose part at `path` is `head` and then `unit` without end.
fn endless(path: &str, head: &str, unit: &str) -> Vec<u8> {
    let row = [Cell::Shared("Q"); 7];
    let rows = [row];
    let parts = Book::template(&rows).parts();
    let others = parts.iter().filter(|(name, _)| *name != path);
    let mut archives: Vec<Vec<u8>> = others
        .map(|(name, part)| zip(&[(name, part.as_bytes())]))
        .collect();
    archives.push(bomb(path, head, unit, 45 * MIB, 45 * 1024 * 1024));
    join(&archives)
}

#[test]
fn no_file_takes_more_than_a_fixed_amount() {
    const SHEET: &str = "xl/worksheets/sheet1.xml";
    const STRINGS: &str = "xl/sharedStrings.xml";
    let before_kib = status_kib("VmRSS");
    let mut files = vec![
        (
            "text of one cell",
            endless(SHEET, "<worksheet><sheetData><row><c t=\"str\"><v>", "a"),
        ),
        (
            "cells of one row",
            endless(SHEET, "<worksheet><sheetData><row>", "<c/>"),
        ),
        ("nested elements", endless(SHEET, "<worksheet><sheetData>", "<a>")),
        ("shared texts", endless(STRINGS, "<sst>", "<si/>")),
        ("one shared text", endless(STRINGS, "<sst><si><t>", "a")),
        (
            "styles",
            endless("xl/styles.xml", "<styleSheet><cellXfs>", "<xf/>"),
        ),
        (
            "sheets",
            endless("xl/workbook.xml", "<workbook><sheets>", "<sheet/>"),
        ),
        (
            "links",
            endless("xl/_rels/workbook.xml.rels", "<Relationships>", "<b/>"),
        ),
        (
            "entries",
            join(&vec![bomb("xl/workbook.xml", "", "a", 1, 1); 60_000]),
        ),
    ];
    for unit in ["{", "a\n\n", "::t::a {=b ~c}\n", "<b>", "&"] {
        files.push((unit, unit.repeat(FILE_BYTES_MAX / unit.len() / 4).into_bytes()));
    }
    for (name, bytes) in &files {
        // Whatever the answer is, it must come.
        println!(
            "{name}: {:?}",
            import("x", bytes)
                .map(|imported| imported.skipped_count)
                .map_err(|e| e.code())
        );
        let peak_kib = status_kib("VmHWM") - before_kib;
        println!("{peak_kib} KiB");
        assert!(peak_kib < PEAK_KIB_MAX, "{name}: {peak_kib} KiB");
    }
}
