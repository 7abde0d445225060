//! The quiz document: what a teacher edits, the API stores and signs, and a game plays.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Questions in a quiz. A lesson's game has 10 to 30; 200 covers a term's revision and keeps a document under 1 MiB.
pub const QUESTIONS_MAX: usize = 200;
/// Characters of a quiz title.
pub const TITLE_CHARS_MAX: usize = 120;
/// Characters of a question's text: a phone screen holds about 600, an imported stem of 1,000 can still be scrolled.
pub const TEXT_CHARS_MAX: usize = 1_000;
/// Characters of one choice.
pub const CHOICE_CHARS_MAX: usize = 250;
/// Choices of a question: letters A to J on the board.
pub const CHOICES_MAX: usize = 10;
/// Fewest choices that make a choice.
pub const CHOICES_MIN: usize = 2;
/// Shortest time to answer, in milliseconds.
pub const TIME_MS_MIN: u32 = 5_000;
/// Longest time to answer, in milliseconds.
pub const TIME_MS_MAX: u32 = 600_000;
/// Time to answer when nothing says otherwise, in milliseconds.
pub const TIME_MS_DEFAULT: u32 = 20_000;

/// A quiz as it is edited, stored, signed and played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuizDocument {
    /// Title, 1 to [`TITLE_CHARS_MAX`] characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = TITLE_CHARS_MAX)))]
    pub title: String,
    /// Questions in playing order, at most [`QUESTIONS_MAX`]; none is allowed in the library, not in a game.
    #[cfg_attr(feature = "schema", schemars(length(max = QUESTIONS_MAX)))]
    pub questions: Vec<Question>,
}

/// One question with its solution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Question {
    /// How it is answered.
    pub kind: QuestionKind,
    /// The stem as plain text, 1 to [`TEXT_CHARS_MAX`] characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = TEXT_CHARS_MAX)))]
    pub text: String,
    /// What can be chosen, [`CHOICES_MIN`] to [`CHOICES_MAX`], in the order shown.
    #[cfg_attr(feature = "schema", schemars(length(min = CHOICES_MIN, max = CHOICES_MAX)))]
    pub choices: Vec<Choice>,
    /// Time to answer in milliseconds, [`TIME_MS_MIN`] to [`TIME_MS_MAX`].
    #[serde(default = "time_ms_default")]
    #[cfg_attr(feature = "schema", schemars(range(min = TIME_MS_MIN, max = TIME_MS_MAX)))]
    pub time_ms: u32,
}

fn time_ms_default() -> u32 {
    TIME_MS_DEFAULT
}

/// How a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// One tap; one or more choices may count as correct.
    #[default]
    Single,
    /// Several may be ticked; correct when exactly the correct ones are.
    Multiple,
    /// Two choices, true and false in this order, exactly one of them correct.
    TrueFalse,
}

/// One choice of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Choice {
    /// Plain text, 1 to [`CHOICE_CHARS_MAX`] characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = CHOICE_CHARS_MAX)))]
    pub text: String,
    /// Whether it is (one of) the correct ones.
    pub correct: bool,
}

/// Why a document is refused. Questions and choices are counted from 1, as people do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QuizError {
    /// Title missing or too long.
    #[error("the title has {chars} characters; 1 to {TITLE_CHARS_MAX} are allowed")]
    Title {
        /// Characters found, without surrounding white space.
        chars: usize,
    },
    /// A NUL character, which databases and files cannot hold.
    #[error("{} has a NUL character (U+0000) in it, which cannot be stored; remove it", place(*question))]
    Nul {
        /// Which question; none for the title.
        question: Option<usize>,
    },
    /// Too many questions.
    #[error("the quiz has {count} questions; at most {QUESTIONS_MAX} are allowed")]
    Questions {
        /// Questions found.
        count: usize,
    },
    /// A question's text is missing or too long.
    #[error("question {question} has a text of {chars} characters; 1 to {TEXT_CHARS_MAX} are allowed")]
    Text {
        /// Which question.
        question: usize,
        /// Characters found.
        chars: usize,
    },
    /// Too few or too many choices.
    #[error("question {question} has {count} choices; {CHOICES_MIN} to {CHOICES_MAX} are allowed")]
    Choices {
        /// Which question.
        question: usize,
        /// Choices found.
        count: usize,
    },
    /// A choice's text is missing or too long.
    #[error(
        "question {question}, choice {choice} has {chars} characters; 1 to {CHOICE_CHARS_MAX} are allowed"
    )]
    ChoiceText {
        /// Which question.
        question: usize,
        /// Which choice.
        choice: usize,
        /// Characters found.
        chars: usize,
    },
    /// No choice is correct.
    #[error("question {question} has no correct choice; mark at least one")]
    NoCorrect {
        /// Which question.
        question: usize,
    },
    /// A true/false question that is not two choices with one correct.
    #[error("question {question} is true/false and needs two choices, exactly one of them correct")]
    TrueFalse {
        /// Which question.
        question: usize,
    },
    /// Time outside its bounds.
    #[error(
        "question {question} gives {time_ms} ms to answer; {TIME_MS_MIN} to {TIME_MS_MAX} ms are allowed"
    )]
    Time {
        /// Which question.
        question: usize,
        /// Time found, in milliseconds.
        time_ms: u32,
    },
}

fn place(question: Option<usize>) -> String {
    question.map_or_else(|| "the title".to_owned(), |number| format!("question {number}"))
}

impl QuizDocument {
    /// Checks every bound of this module.
    ///
    /// # Errors
    /// The first bound that is broken, with its place.
    pub fn validate(&self) -> Result<(), QuizError> {
        let chars = self.title.trim().chars().count();
        if chars == 0 || self.title.chars().count() > TITLE_CHARS_MAX {
            return Err(QuizError::Title { chars });
        }
        if self.title.contains('\0') {
            return Err(QuizError::Nul { question: None });
        }
        let count = self.questions.len();
        if count > QUESTIONS_MAX {
            return Err(QuizError::Questions { count });
        }
        self.questions
            .iter()
            .enumerate()
            .try_for_each(|(i, question)| question.validate(i + 1))
    }
}

impl Question {
    /// Checks the bounds of one question; `number` (from 1) goes into the error.
    ///
    /// # Errors
    /// The first bound that is broken.
    pub fn validate(&self, number: usize) -> Result<(), QuizError> {
        let question = number;
        let chars = self.text.chars().count();
        if self.text.trim().is_empty() || chars > TEXT_CHARS_MAX {
            return Err(QuizError::Text { question, chars });
        }
        let texts = self.choices.iter().map(|choice| &choice.text);
        if texts.chain([&self.text]).any(|text| text.contains('\0')) {
            return Err(QuizError::Nul {
                question: Some(number),
            });
        }
        let count = self.choices.len();
        if !(CHOICES_MIN..=CHOICES_MAX).contains(&count) {
            return Err(QuizError::Choices { question, count });
        }
        for (i, choice) in self.choices.iter().enumerate() {
            let chars = choice.text.chars().count();
            if choice.text.trim().is_empty() || chars > CHOICE_CHARS_MAX {
                return Err(QuizError::ChoiceText {
                    question,
                    choice: i + 1,
                    chars,
                });
            }
        }
        let correct = self.choices.iter().filter(|c| c.correct).count();
        if correct == 0 {
            return Err(QuizError::NoCorrect { question });
        }
        if self.kind == QuestionKind::TrueFalse && (count != 2 || correct != 1) {
            return Err(QuizError::TrueFalse { question });
        }
        if !(TIME_MS_MIN..=TIME_MS_MAX).contains(&self.time_ms) {
            return Err(QuizError::Time {
                question,
                time_ms: self.time_ms,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
