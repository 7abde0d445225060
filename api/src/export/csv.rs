//! A table as CSV that spreadsheet programs open by a double click: accents intact, and nothing in it a formula.

use std::borrow::Cow;

use super::results::{Cell, Table};

/// By this, spreadsheet programs know UTF-8.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Writes the table, RFC 4180.
pub(super) fn write(table: &Table) -> String {
    let mut out = String::from(BYTE_ORDER_MARK);
    line(&mut out, table.header.iter().map(|name| quoted(name)));
    for row in &table.rows {
        line(&mut out, row.iter().map(cell));
    }
    out
}

fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.push(',');
        }
        out.push_str(&cell);
    }
    out.push_str("\r\n");
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => quoted(text),
        Cell::Number(number) => number.to_string(),
        Cell::Empty => String::new(),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", harmless(text).replace('"', "\"\""))
}

/// Where some programs end a cell: semicolons where the comma is the decimal sign, tabs where somebody chose them, and then also the
/// ends of lines, for a quote that is not the first sign of their cell quotes nothing.
const OTHER_ENDS: [char; 4] = [';', '\t', '\r', '\n'];

/// A text that no spreadsheet program takes for a formula: what begins like one, the text itself or what another program would take for
/// a cell of its own, gets an apostrophe in front. In CSV there are no types, and quotes do not help. Nothing else is changed, so that
/// whoever reads the file by its rules loses nothing but these apostrophes.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    let guarded = |n: usize, part: &str| match n {
        0 => is_formula(part) || text.starts_with(['\t', '\r', '\n']),
        _ => is_formula(part) && !is_wink(part),
    };
    let parts = || text.split_inclusive(OTHER_ENDS).enumerate();
    if !parts().any(|(n, part)| guarded(n, part)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 2);
    for (n, part) in parts() {
        if guarded(n, part) {
            out.push('\'');
        }
        out.push_str(part);
    }
    Cow::Owned(out)
}

/// Whether a cell that begins so may be calculated. Some programs look past white space, invisible characters and quotes, and read the wide
/// signs of East Asian keyboards.
fn is_formula(cell: &str) -> bool {
    let first = cell
        .chars()
        .find(|c| !c.is_whitespace() && !c.is_control() && !invisible(*c) && *c != '"');
    first.is_some_and(|c| "=+-@＝＋－＠".contains(c))
}

/// Whether what stands behind a semicolon is the rest of a wink, which names and answers are full of. No formula begins so.
fn is_wink(part: &str) -> bool {
    part.starts_with("-)") || part.starts_with("=)")
}

fn invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
