//! Quizzes and results as files for other programs.
//!
//! What a quiz's file holds is read back by [`import`](crate::import), which the tests of both hold against each other.

mod csv;
mod gift;
mod results;
mod xlsx;

use protocol::quiz::QuizDocument;
use protocol::rest::ReportResponse;
use rust_xlsxwriter::XlsxError;
use thiserror::Error;

pub(crate) use gift::write as quiz_as_gift;

/// Why a quiz cannot be written in a format; the text is one sentence for the teacher. Questions count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ExportError {
    /// GIFT takes right answers alone for a question in which one types.
    #[error(
        "question {question} has no wrong answer, which GIFT cannot say of a choice; export the quiz as JSON"
    )]
    AllRight {
        /// Which one.
        question: usize,
    },
}

/// The quiz as a document that nothing is lost in.
///
/// # Errors
/// When it cannot be written, which no quiz makes happen.
pub(crate) fn quiz_as_json(quiz: &QuizDocument) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = serde_json::to_vec_pretty(quiz)?;
    text.push(b'\n');
    Ok(text)
}

/// A game's students and their answers, as CSV.
pub(crate) fn results_as_csv(report: &ReportResponse) -> String {
    csv::write(&results::students(report))
}

/// A game's students, their answers, and its questions, as a workbook.
///
/// # Errors
/// When it cannot be written, which no result makes happen.
pub(crate) fn results_as_xlsx(report: &ReportResponse) -> Result<Vec<u8>, XlsxError> {
    xlsx::write(&[results::students(report), results::questions(report)])
}

#[cfg(test)]
mod tests;
