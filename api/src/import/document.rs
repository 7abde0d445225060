//! Our own quiz document as JSON: what the export writes, nothing lost.

use protocol::quiz::QuizDocument;
use protocol::rest::ImportFormat;

use super::report::Report;
use super::{ImportError, OwnTitle, Parser};

/// A file that is such a document.
pub(super) struct Document(QuizDocument);

impl Document {
    /// The document, if the text is one.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }
}

impl Parser for Document {
    fn format(&self) -> ImportFormat {
        ImportFormat::Json
    }

    fn parse(&self, report: &mut Report) -> Result<Option<OwnTitle>, ImportError> {
        for (question, number) in self.0.questions.iter().zip(1_u32..) {
            report.take(
                &question.text,
                format_args!("question {number}"),
                question.clone(),
            );
        }
        Ok(Some(OwnTitle {
            text: self.0.title.clone(),
            outranks_filename: true,
        }))
    }
}
