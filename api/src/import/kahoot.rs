//! The Kahoot spreadsheet template.
//!
//! Owns what header and rows mean; reading cells is `sheet`'s. In Kahoot any one of several correct answers counts,
//! so a row becomes a single-choice question with several correct choices; two answers True and False make it a
//! true/false question. The rows of the first sheet that has the template's header are items, those without
//! question, answers and correct answer excepted: the template comes with a hundred of them.

mod header;
mod row;

use protocol::rest::ImportFormat;

use super::report::Report;
use super::sheet::{Row, Workbook};
use super::{ImportError, OwnTitle, Parser};
use header::Columns;

/// Names that spreadsheet programs give to sheets; no titles.
const SHEET_WORDS: [&str; 10] = [
    "sheet", "tabelle", "feuil", "hoja", "planilha", "foglio", "blad", "table", "arkusz", "kahoot",
];

/// A zip archive that may be the spreadsheet.
pub(super) struct Kahoot<'b> {
    bytes: &'b [u8],
}

impl<'b> Kahoot<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes }
    }
}

impl Parser for Kahoot<'_> {
    fn format(&self) -> ImportFormat {
        ImportFormat::Kahoot
    }

    fn parse(&self, report: &mut Report) -> Result<Option<OwnTitle>, ImportError> {
        let mut workbook = Workbook::open(self.bytes)?;
        for (index, name) in workbook.sheet_names().iter().enumerate() {
            let mut columns: Option<Columns> = None;
            workbook.rows(index, |row: &Row| match &columns {
                None => columns = Columns::find(row),
                Some(columns) => row::import(columns, row, report),
            })?;
            if columns.is_some() {
                // A file is named for its quiz, a sheet seldom.
                let title = OwnTitle {
                    text: name.clone(),
                    outranks_filename: false,
                };
                return Ok(is_title(name).then_some(title));
            }
        }
        Err(ImportError::NoHeader)
    }
}

/// Whether a sheet's name was given by a person: `Sheet1` and `Tabelle 1` were not.
fn is_title(name: &str) -> bool {
    let letters = name
        .trim_end_matches(|c: char| c.is_ascii_digit())
        .trim()
        .to_lowercase();
    !letters.is_empty() && !SHEET_WORDS.contains(&letters.as_str())
}

#[cfg(test)]
mod tests;
