//! Reading the cells of an .xlsx workbook, row by row, from bytes that may be hostile.
//!
//! Owns: the zip package, its bounds, shared strings, number formats, and cells as a person sees them. Leaves what the
//! rows mean to its caller. Nothing is ever laid out as a table: a cell at XFD1048576 costs as much as one at A1.
//!
//! A general spreadsheet library is not used on purpose. The one that was tried (calamine 0.38) reserves memory for as
//! many shared strings as the file claims, clones a font's name for every style, overflows on long cell references,
//! and gives up the whole sheet for one odd cell: each is a small file that stops a server or a teacher.

mod number;
mod package;
mod strings;
mod xml;

use super::ImportError;
use number::Formats;
use package::Package;
use strings::{Strings, TextReader};
use xml::{Event, Name, Xml};

/// Columns read of each row, from A. The template has eight; a table pasted beside it is not looked at.
const COLUMNS_MAX: u32 = 64;
/// Sheets looked at for the question table.
pub(super) const SHEETS_MAX: usize = 20;

/// What a cell holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Text as typed.
    Text(String),
    /// A number as it reads: `10`, `2.5`, `50%`.
    Number(String),
    /// A truth value.
    Bool(bool),
    /// A date or time as it reads: `2025-10-13`, `12:59`.
    Date(String),
    /// A failed formula's mark, such as `#N/A`.
    Error(String),
}

impl Value {
    /// The value as plain text.
    pub(super) fn as_text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Number(text) | Self::Date(text) | Self::Error(text) => text,
            Self::Bool(true) => "True",
            Self::Bool(false) => "False",
        }
    }
}

/// A row with its cells that are not empty.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// Number as the spreadsheet shows it, from 1.
    pub(super) number: u32,
    /// Column, from 0, and value, in file order.
    pub(super) cells: Vec<(u32, Value)>,
}

/// An open workbook.
pub(super) struct Workbook<'b> {
    package: Package<'b>,
    strings: Strings,
    formats: Formats,
    sheets: Vec<Sheet>,
}

struct Sheet {
    name: String,
    path: String,
}

impl<'b> Workbook<'b> {
    /// Opens the package and reads everything but the sheets.
    ///
    /// # Errors
    /// When it is no workbook, is damaged, encrypted, or breaks a bound.
    pub(super) fn open(bytes: &'b [u8]) -> Result<Self, ImportError> {
        let mut package = Package::open(bytes)?;
        let links = match package.part("xl/_rels/workbook.xml.rels")? {
            Some(mut part) => xml::relationships(&mut part)?,
            None => Vec::new(),
        };
        let (sheets, date_1904) = sheets(&mut package, &links)?;
        let linked = |kind: &str, default: &str| {
            let link = links.iter().find(|link| link.kind == kind);
            link.map_or_else(|| default.to_owned(), |link| link.path.clone())
        };
        let strings = match package.part(&linked("sharedStrings", "xl/sharedStrings.xml"))? {
            Some(mut part) => Strings::read(&mut part)?,
            None => Strings::default(),
        };
        let formats = match package.part(&linked("styles", "xl/styles.xml"))? {
            Some(mut part) => Formats::read(&mut part, date_1904)?,
            None => Formats::default(),
        };
        Ok(Self {
            package,
            strings,
            formats,
            sheets,
        })
    }

    /// The sheets' names in order, at most [`SHEETS_MAX`].
    pub(super) fn sheet_names(&self) -> Vec<String> {
        self.sheets.iter().map(|sheet| sheet.name.clone()).collect()
    }

    /// Hands every row of a sheet to `on_row`, in file order.
    ///
    /// # Errors
    /// When the sheet is missing, damaged, or breaks a bound.
    pub(super) fn rows(&mut self, sheet: usize, mut on_row: impl FnMut(&Row)) -> Result<(), ImportError> {
        let Some(sheet) = self.sheets.get(sheet) else {
            return Ok(());
        };
        let Some(mut part) = self.package.part(&sheet.path)? else {
            return Err(ImportError::corrupt("a sheet is missing"));
        };
        let mut cells = Cells {
            strings: &self.strings,
            formats: &self.formats,
            row: Row::default(),
            column: 0,
        };
        while let Some(row) = cells.next_row(&mut part)? {
            on_row(row);
        }
        Ok(())
    }
}

/// The workbook's sheets and whether its dates count from 1904.
fn sheets(package: &mut Package<'_>, links: &[xml::Relationship]) -> Result<(Vec<Sheet>, bool), ImportError> {
    let mut sheets = Vec::new();
    let mut date_1904 = false;
    let Some(mut part) = package.part(package::WORKBOOK)? else {
        return Err(ImportError::corrupt("the workbook part is missing"));
    };
    loop {
        match part.next()? {
            Event::End(_) | Event::Text(_) => {}
            Event::Eof => break,
            Event::Start(Name::WorkbookProperties, element) => {
                date_1904 |= element
                    .attribute("date1904")
                    .is_some_and(|v| matches!(&*v, "1" | "true"));
            }
            Event::Start(Name::Sheet, element) if sheets.len() < SHEETS_MAX => {
                let id = element.attribute("id");
                let link = id.and_then(|id| links.iter().find(|link| link.id == id));
                let name = element.attribute("name").unwrap_or_default().into_owned();
                let number = sheets.len() + 1;
                // Charts and macro sheets have no cells.
                if link.is_none_or(|link| link.kind == "worksheet") {
                    let path = link.map(|link| link.path.clone());
                    let path = path.unwrap_or_else(|| format!("xl/worksheets/sheet{number}.xml"));
                    sheets.push(Sheet { name, path });
                }
            }
            Event::Start(..) => {}
        }
    }
    Ok((sheets, date_1904))
}

/// Reads the rows of one sheet.
struct Cells<'w> {
    strings: &'w Strings,
    formats: &'w Formats,
    row: Row,
    /// Column of a cell that does not say its own.
    column: u32,
}

/// A cell's type, number format and place.
struct CellHead {
    column: u32,
    kind: String,
    style: usize,
}

impl Cells<'_> {
    fn next_row(&mut self, part: &mut Xml<'_>) -> Result<Option<&Row>, ImportError> {
        loop {
            let head = match part.next()? {
                Event::Start(Name::Row, element) => {
                    let own = element.attribute("r").and_then(|r| r.parse().ok());
                    self.row.number = own.unwrap_or(self.row.number.saturating_add(1));
                    self.row.cells.clear();
                    self.column = 0;
                    continue;
                }
                Event::Start(Name::Cell, element) => self.head(&element),
                Event::End(Name::Row) => return Ok(Some(&self.row)),
                Event::End(Name::SheetData) | Event::Eof => return Ok(None),
                Event::Start(..) | Event::End(_) | Event::Text(_) => continue,
            };
            self.column = head.column.saturating_add(1);
            let value = self.value(part, &head)?;
            // A row that names a column again and again does not grow.
            let is_free = self.row.cells.iter().all(|(column, _)| *column != head.column);
            if let Some(value) = value.filter(|_| head.column < COLUMNS_MAX && is_free) {
                self.row.cells.push((head.column, value));
            }
        }
    }

    fn head(&self, element: &xml::Element<'_>) -> CellHead {
        let own = element.attribute("r").and_then(|reference| column(&reference));
        CellHead {
            column: own.unwrap_or(self.column),
            kind: element.attribute("t").unwrap_or_default().into_owned(),
            style: element.attribute("s").and_then(|s| s.parse().ok()).unwrap_or(0),
        }
    }

    /// The value of a cell whose start has been read, up to its end. None when it is empty.
    fn value(&self, part: &mut Xml<'_>, head: &CellHead) -> Result<Option<Value>, ImportError> {
        let mut raw = String::new();
        let mut text = TextReader::default();
        let mut in_value = false;
        loop {
            match part.next()? {
                Event::Start(Name::Value, _) => in_value = true,
                Event::End(Name::Value) => in_value = false,
                Event::End(Name::Cell) => break,
                Event::Start(name, _) => text.start(name),
                Event::End(name) => text.end(name),
                Event::Text(content) if in_value => raw.push_str(&content),
                Event::Text(content) => text.push(&content),
                Event::Eof => return Err(ImportError::corrupt("a sheet ends within a cell")),
            }
        }
        let value = match head.kind.as_str() {
            "s" => match raw.trim().parse().ok().and_then(|index| self.strings.get(index)) {
                Some(shared) => {
                    part.budget().spend_cell_bytes(shared.len())?;
                    Value::Text(shared.to_owned())
                }
                None if raw.trim().is_empty() => return Ok(None),
                None => Value::Error("missing shared text".to_owned()),
            },
            "inlineStr" => Value::Text(text.finish()),
            "b" => Value::Bool(matches!(raw.trim(), "1" | "true")),
            "e" => Value::Error(raw),
            "d" => Value::Date(raw),
            "str" => Value::Text(strings::unescape(&raw)),
            _ => self.formats.value(raw, head.style),
        };
        Ok(Some(value).filter(|value| !value.as_text().trim().is_empty()))
    }
}

/// The column of a reference such as `AB12`, from 0. None when it is none or absurdly far.
fn column(reference: &str) -> Option<u32> {
    /// Letters of the last column, XFD.
    const LETTERS_MAX: usize = 3;
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic);
    let mut column = 0_u32;
    for (index, letter) in letters.enumerate() {
        if index == LETTERS_MAX {
            return Some(u32::MAX);
        }
        column = column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1;
    }
    column.checked_sub(1)
}

/// A column's letters, for people: `C` for 2.
pub(super) fn column_letters(column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        let digit = u8::try_from((rest - 1) % 26).unwrap_or(0);
        letters.push(char::from(b'A' + digit));
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests;
