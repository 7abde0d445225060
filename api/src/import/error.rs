//! Why a file as a whole could not be imported.

use std::error::Error;

use thiserror::Error;

/// Why a file could not be imported; the text is one sentence for the teacher.
#[derive(Debug, Error)]
pub enum ImportError {
    /// No bytes, or nothing but white space.
    #[error("The file is empty.")]
    Empty,
    /// Above [`FILE_BYTES_MAX`](super::FILE_BYTES_MAX).
    #[error("The file is larger than the {} MiB that can be imported.", super::FILE_BYTES_MAX / (1024 * 1024))]
    FileTooLarge,
    /// A spreadsheet whose parts inflate or expand beyond the bounds of the spreadsheet reader.
    #[error(
        "The spreadsheet unpacks to more than can be imported; keep only the question sheet and save it again."
    )]
    TooLargeInside,
    /// A zip archive that is cut off, or parts that are no valid XML.
    #[error("The spreadsheet is damaged or incomplete; open it, save it again and import the new file.")]
    Corrupt {
        /// What the reader said.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// Protected by a password.
    #[error("The spreadsheet is protected by a password; save it without one and import it again.")]
    Encrypted,
    /// A format that is known by name but not imported yet.
    #[error("This is {name}, which cannot be imported yet; GIFT text and the Kahoot spreadsheet can.")]
    Unsupported {
        /// The format's name, with its article.
        name: &'static str,
    },
    /// Nothing that is known.
    #[error("The file is neither GIFT text nor a Kahoot spreadsheet (.xlsx), so it cannot be imported.")]
    Unknown,
    /// A spreadsheet without the template's header row.
    #[error(
        "The spreadsheet has no header row of the Kahoot template (Question, Answer 1, Answer 2, …, Correct answer)."
    )]
    NoHeader,
    /// A known format that holds no item.
    #[error("The file has no questions.")]
    NoQuestions,
}

impl ImportError {
    /// Stable code, kebab-case, by which clients choose words.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "import-empty",
            Self::FileTooLarge => "import-file-too-large",
            Self::TooLargeInside => "import-too-large-inside",
            Self::Corrupt { .. } => "import-corrupt",
            Self::Encrypted => "import-encrypted",
            Self::Unsupported { .. } => "import-unsupported-format",
            Self::Unknown => "import-unknown-format",
            Self::NoHeader => "import-no-header",
            Self::NoQuestions => "import-no-questions",
        }
    }

    /// A damaged file, with what the reader said of it.
    pub(super) fn corrupt(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Corrupt {
            source: source.into(),
        }
    }
}
