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

/// A text that no spreadsheet program takes for a formula: one that begins like one gets an apostrophe in front. In CSV there are no
/// types, and quotes do not help.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    // Some programs look past white space and invisible characters, and read the wide signs of East Asian keyboards.
    let first = text
        .chars()
        .find(|c| !c.is_whitespace() && !c.is_control() && !invisible(*c));
    let formula = first.is_some_and(|c| "=+-@＝＋－＠".contains(c)) || text.starts_with(['\t', '\r', '\n']);
    if formula {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

fn invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
