//! The account of an import: what was taken, what was left out, what was changed.
//!
//! Holds the bounds of the quiz document, so no parser can go beyond them.

use std::fmt::Display;

use protocol::quiz::{
    CHOICE_CHARS_MAX, CHOICES_MAX, CHOICES_MIN, QUESTIONS_MAX, Question, QuizError, TEXT_CHARS_MAX,
};
use protocol::rest::SkippedItem;

use super::LISTED_MAX;
use super::text;

/// Characters of an item's name in the account: enough to find it, short enough for a list.
const NAME_CHARS_MAX: usize = 60;

/// Stands for the name of an item that has neither title nor text.
const NAME_NONE: &str = "(no name)";

/// Collects what the parsers find.
#[derive(Debug, Default)]
pub(super) struct Report {
    questions: Vec<Question>,
    skipped: Listing,
    notes: Listing,
}

/// A finished report.
pub(super) struct Account {
    pub(super) questions: Vec<Question>,
    pub(super) skipped: Vec<SkippedItem>,
    pub(super) skipped_count: usize,
    pub(super) notes: Vec<SkippedItem>,
}

/// A list that counts all and keeps the first [`LISTED_MAX`].
#[derive(Debug, Default)]
struct Listing {
    items: Vec<SkippedItem>,
    count: usize,
}

impl Report {
    /// Takes a question, or leaves it out when it or the quiz would break a bound. Tells whether it was taken.
    pub(super) fn take(&mut self, name: &str, place: impl Display, question: Question) -> bool {
        if let Err(error) = question.validate(1) {
            self.skip(name, place, bound_reason(&error));
            return false;
        }
        if self.questions.len() >= QUESTIONS_MAX {
            self.skip(
                name,
                place,
                format!("A quiz holds at most {QUESTIONS_MAX} questions."),
            );
            return false;
        }
        self.questions.push(question);
        true
    }

    /// Leaves an item out.
    pub(super) fn skip(&mut self, name: &str, place: impl Display, reason: impl Into<String>) {
        self.skipped.push(name, place, reason);
    }

    /// Notes a change made to fit.
    pub(super) fn note(&mut self, name: &str, place: impl Display, reason: impl Into<String>) {
        self.notes.push(name, place, reason);
    }

    /// Whether the file had no item at all.
    pub(super) fn is_empty(&self) -> bool {
        self.questions.is_empty() && self.skipped.count == 0
    }

    /// Closes the account.
    pub(super) fn finish(self) -> Account {
        Account {
            questions: self.questions,
            skipped_count: self.skipped.count,
            skipped: self.skipped.finish("items were left out, too many to list"),
            notes: self.notes.finish("remarks, too many to list"),
        }
    }
}

impl Listing {
    fn push(&mut self, name: &str, place: impl Display, reason: impl Into<String>) {
        self.count += 1;
        if self.items.len() < LISTED_MAX {
            let mut name = text::clip(&text::one_line(name), NAME_CHARS_MAX);
            if name.is_empty() {
                NAME_NONE.clone_into(&mut name);
            }
            self.items.push(SkippedItem {
                name,
                place: place.to_string(),
                reason: reason.into(),
            });
        }
    }

    fn finish(mut self, what: &str) -> Vec<SkippedItem> {
        let unlisted = self.count - self.items.len();
        if unlisted > 0 {
            let place = self
                .items
                .last()
                .map(|last| format!("after {}", last.place))
                .unwrap_or_default();
            let reason = format!("{unlisted} more {what}.");
            self.items.push(SkippedItem {
                name: "…".to_owned(),
                place,
                reason,
            });
        }
        self.items
    }
}

/// The reason for leaving out a question that breaks a bound.
fn bound_reason(error: &QuizError) -> String {
    match error {
        QuizError::Text { chars: 0, .. } => "It has no text.".to_owned(),
        QuizError::Text { chars, .. } => {
            format!("Its text has {chars} characters; 1 to {TEXT_CHARS_MAX} are allowed.")
        }
        QuizError::Choices { count, .. } => choices_reason(*count),
        QuizError::ChoiceText { choice, chars: 0, .. } => format!("Answer {choice} has no text."),
        QuizError::ChoiceText { choice, chars, .. } => {
            format!("Answer {choice} has {chars} characters; 1 to {CHOICE_CHARS_MAX} are allowed.")
        }
        QuizError::NoCorrect { .. } => "No answer is marked as correct.".to_owned(),
        QuizError::Nul { .. } => "It has a NUL character (U+0000) in it.".to_owned(),
        QuizError::TrueFalse { .. }
        | QuizError::Time { .. }
        | QuizError::Title { .. }
        | QuizError::Questions { .. } => format!("It breaks a bound: {error}."),
    }
}

/// The reason for leaving out a question with too few or too many answers.
pub(super) fn choices_reason(count: usize) -> String {
    let word = if count == 1 { "answer" } else { "answers" };
    format!("It has {count} {word} to choose from; {CHOICES_MIN} to {CHOICES_MAX} are allowed.")
}
