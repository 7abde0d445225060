//! The zip package around a workbook, within bounds.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, Cursor, Read};

use zip::ZipArchive;

use super::xml::Xml;
use crate::import::ImportError;

/// The part that makes a zip archive a workbook.
pub(super) const WORKBOOK: &str = "xl/workbook.xml";
/// Entries of a package. A workbook with a hundred sheets and drawings has some five hundred.
const ENTRIES_MAX: usize = 2_000;
/// Bytes that all parts of a package may declare together. Most of a large honest one are pictures, which are not read.
const DECLARED_BYTES_MAX: u64 = 50 * 1024 * 1024;
/// Bytes that the parts which are read may really inflate to, together: texts, styles and sheets of a template with
/// 5,000 filled rows have 5 MiB.
const READ_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// XML tags and texts read in all. The template with 5,000 filled rows of 27 formatted columns has 600,000; small
/// ones are what makes parsing slow, not bytes.
const EVENTS_MAX: u64 = 1_000_000;
/// Bytes of text that all cells may have together. One long shared text can be named by every cell of a sheet, so
/// what was read says little of what is handed out; the honest file above has 2 MiB.
const CELL_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// An entry of a zip archive's directory begins with it.
const DIRECTORY_ENTRY: [u8; 4] = *b"PK\x01\x02";

/// What may still be read, shared by all parts of a package.
pub(super) struct Budget {
    bytes: Cell<u64>,
    events: Cell<u64>,
    cell_bytes: Cell<u64>,
    exceeded: Cell<bool>,
}

impl Budget {
    fn new() -> Self {
        Self {
            bytes: Cell::new(READ_BYTES_MAX),
            events: Cell::new(EVENTS_MAX),
            cell_bytes: Cell::new(CELL_BYTES_MAX),
            exceeded: Cell::new(false),
        }
    }

    /// Counts one XML event.
    ///
    /// # Errors
    /// When there have been too many.
    pub(super) fn spend_event(&self) -> Result<(), ImportError> {
        spend(&self.events, 1)
    }

    /// Counts the text of a cell.
    ///
    /// # Errors
    /// When there has been too much.
    pub(super) fn spend_cell_bytes(&self, count: usize) -> Result<(), ImportError> {
        spend(&self.cell_bytes, u64::try_from(count).unwrap_or(u64::MAX))
    }

    /// Whether reading failed because the bytes were spent.
    pub(super) fn exceeded(&self) -> bool {
        self.exceeded.get()
    }
}

fn spend(left: &Cell<u64>, count: u64) -> Result<(), ImportError> {
    left.set(left.get().checked_sub(count).ok_or(ImportError::TooLargeInside)?);
    Ok(())
}

/// Counts what an inflating reader really gives; declared sizes can lie.
pub(super) struct Metered<'p, R> {
    inner: R,
    budget: &'p Budget,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buf)?;
        let left = self
            .budget
            .bytes
            .get()
            .checked_sub(u64::try_from(count).unwrap_or(u64::MAX));
        let Some(left) = left else {
            self.budget.exceeded.set(true);
            return Err(io::Error::other("more bytes than allowed"));
        };
        self.budget.bytes.set(left);
        Ok(count)
    }
}

/// A workbook's zip archive.
pub(super) struct Package<'b> {
    archive: ZipArchive<Cursor<&'b [u8]>>,
    /// Entry numbers by path, lower case and with `/`, as readers of the format compare paths.
    paths: HashMap<String, usize>,
    budget: Budget,
}

impl<'b> Package<'b> {
    /// Opens the archive and checks what its directory declares. Nothing is inflated yet.
    ///
    /// # Errors
    /// When it is no workbook, is damaged, encrypted, or breaks a bound.
    pub(super) fn open(bytes: &'b [u8]) -> Result<Self, ImportError> {
        // Before the directory is read into memory, which takes a multiple of its bytes.
        if bytes
            .windows(DIRECTORY_ENTRY.len())
            .filter(|w| *w == DIRECTORY_ENTRY)
            .nth(ENTRIES_MAX)
            .is_some()
        {
            return Err(ImportError::TooLargeInside);
        }
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(ImportError::corrupt)?;
        let mut paths = HashMap::new();
        let mut declared_bytes = 0_u64;
        let mut encrypted = false;
        for index in 0..archive.len() {
            let entry = archive.by_index_data(index).map_err(ImportError::corrupt)?;
            encrypted |= entry.encrypted();
            declared_bytes = declared_bytes.saturating_add(entry.size());
            let path = String::from_utf8_lossy(entry.name_raw())
                .replace('\\', "/")
                .to_ascii_lowercase();
            paths.entry(path).or_insert(index);
        }
        if encrypted {
            return Err(ImportError::Encrypted);
        }
        if !paths.contains_key(WORKBOOK) {
            return Err(other_package(&paths));
        }
        if declared_bytes > DECLARED_BYTES_MAX {
            return Err(ImportError::TooLargeInside);
        }
        Ok(Self {
            archive,
            paths,
            budget: Budget::new(),
        })
    }

    /// Opens a part as XML. None when there is no such part.
    ///
    /// # Errors
    /// When its entry is damaged.
    pub(super) fn part(&mut self, path: &str) -> Result<Option<Xml<'_>>, ImportError> {
        let Some(index) = self.paths.get(&path.to_ascii_lowercase()) else {
            return Ok(None);
        };
        let entry = self.archive.by_index(*index).map_err(ImportError::corrupt)?;
        let metered = Metered {
            inner: entry,
            budget: &self.budget,
        };
        Ok(Some(Xml::new(Box::new(metered), &self.budget)))
    }
}

/// What an archive without a workbook is.
fn other_package(paths: &HashMap<String, usize>) -> ImportError {
    let known = [
        ("xl/workbook.bin", "a binary spreadsheet (.xlsb)"),
        ("word/document.xml", "a Word document"),
        ("ppt/presentation.xml", "a presentation"),
        ("imsmanifest.xml", "a QTI package"),
        ("moodle_backup.xml", "a Moodle backup"),
        ("content.xml", "an OpenDocument file (.ods, .odt)"),
    ];
    let found = known.into_iter().find(|(path, _)| paths.contains_key(*path));
    found.map_or(ImportError::Unknown, |(_, name)| ImportError::Unsupported {
        name,
    })
}
