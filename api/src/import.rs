//! Files of other quiz tools, turned into our quiz document.
//!
//! Owns: telling a file's format by its content, one parser per format behind the trait `Parser`, and the account of
//! every item: imported, or left out with name, place and reason. Leaves to the caller: the upload itself, running
//! this work away from the async threads (it is CPU-bound, up to a second for the largest files), and storing.
//!
//! Every parser takes linear time and bounded memory, whatever the bytes are.

mod detect;
mod document;
mod error;
mod gift;
mod html;
mod kahoot;
mod report;
mod sheet;
mod text;

pub use error::ImportError;

use protocol::quiz::{QuizDocument, TITLE_CHARS_MAX};
use protocol::rest::{ImportFormat, SkippedItem};

use report::Report;

/// Largest file taken, in bytes. The largest real one known, 5,000 questions as text, has 2 MiB.
pub const FILE_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Most items listed by name in [`Imported::skipped`] and in [`Imported::notes`], so that an answer stays below about
/// 200 KiB; one more line tells how many are not listed.
pub const LISTED_MAX: usize = 1_000;

/// Title of a quiz when neither the file nor its name has one.
const TITLE_DEFAULT: &str = "Imported quiz";

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Format found.
    pub format: ImportFormat,
    /// The quiz; within the bounds of `protocol::quiz`, without questions when every item was left out.
    pub quiz: QuizDocument,
    /// Items left out, in file order, at most [`LISTED_MAX`] and one line that sums up the others.
    pub skipped: Vec<SkippedItem>,
    /// How many items were left out, exactly.
    pub skipped_count: usize,
    /// Things that were changed to fit, in file order, bounded like `skipped`.
    pub notes: Vec<SkippedItem>,
}

/// A file format's parser, bound to a file.
trait Parser {
    /// The format.
    fn format(&self) -> ImportFormat;

    /// Reads the file and reports every item. Returns the title that the file has inside, if any.
    ///
    /// # Errors
    /// Only what makes the whole file unreadable; trouble with one item is reported as that item's.
    fn parse(&self, report: &mut Report) -> Result<Option<OwnTitle>, ImportError>;
}

/// A title found inside of a file.
struct OwnTitle {
    text: String,
    /// Whether it says more than the file's name.
    outranks_filename: bool,
}

/// Imports a file. `filename` serves as title where the file has none; it never decides the format.
///
/// # Errors
/// When the file as a whole cannot be read or holds no item at all; each error is one sentence for the teacher.
pub fn import(filename: &str, bytes: &[u8]) -> Result<Imported, ImportError> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(ImportError::FileTooLarge);
    }
    let parser = detect::detect(bytes)?;
    let mut report = Report::default();
    let own_title = parser.parse(&mut report)?;
    if report.is_empty() {
        return Err(ImportError::NoQuestions);
    }
    let title = title(own_title.as_ref(), filename, &mut report);
    let account = report.finish();
    Ok(Imported {
        format: parser.format(),
        quiz: QuizDocument {
            title,
            questions: account.questions,
        },
        skipped: account.skipped,
        skipped_count: account.skipped_count,
        notes: account.notes,
    })
}

/// A title that is not empty: the file's own or its name without folder and extensions.
fn title(own: Option<&OwnTitle>, filename: &str, report: &mut Report) -> String {
    let base = filename.rsplit(['/', '\\']).next().unwrap_or(filename);
    let own_text = |outranking| {
        own.filter(|own| own.outranks_filename == outranking)
            .map_or("", |own| own.text.as_str())
    };
    let title = [own_text(true), text::without_extensions(base), own_text(false)]
        .into_iter()
        .map(text::one_line)
        .find(|title| !title.is_empty())
        .unwrap_or_else(|| TITLE_DEFAULT.to_owned());
    let short = text::clip(&title, TITLE_CHARS_MAX);
    if short != title {
        report.note("Title", "file", "The title was too long and has been shortened.");
    }
    short
}

#[cfg(test)]
mod tests;
