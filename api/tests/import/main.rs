//! Whole files through the importer: twins of real files, the real ones where they are, round trips, hostile bytes.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it measured"
)]

mod fixtures;
mod hostile;
mod roundtrip;
mod samples;
mod xlsx;

/// `true` for correct, by question and choice.
fn correct(imported: &api::import::Imported) -> Vec<Vec<bool>> {
    let questions = imported.quiz.questions.iter();
    questions
        .map(|question| question.choices.iter().map(|choice| choice.correct).collect())
        .collect()
}

/// The reasons for which items were left out.
fn reasons(imported: &api::import::Imported) -> Vec<&str> {
    imported.skipped.iter().map(|item| item.reason.as_str()).collect()
}
