//! The questions of a game with their solutions, validated on construction.
//!
//! Titles, media and the document that teachers edit are the wire's business; a game needs only what is here.

mod choice_set;

#[cfg(test)]
mod tests;

use thiserror::Error;

pub use self::choice_set::ChoiceSet;
use crate::limits::{
    CHOICE_CHARS_MAX, CHOICES_MAX, CHOICES_MIN, QUESTIONS_MAX, TEXT_CHARS_MAX, TIME_MS_MAX, TIME_MS_MIN,
};

/// A question of a game, counted from 0. On the wire questions are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuestionIndex(pub u16);

impl QuestionIndex {
    /// The first question.
    pub const FIRST: Self = Self(0);
}

/// The questions of a game, in playing order: at least one, at most `limits::QUESTIONS_MAX`, each within its bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quiz {
    questions: Vec<Question>,
}

/// One question with its solution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// How it is answered.
    pub kind: QuestionKind,
    /// The stem, 1 to `limits::TEXT_CHARS_MAX` characters.
    pub text: String,
    /// What can be chosen, `limits::CHOICES_MIN` to `limits::CHOICES_MAX`, in the order shown.
    pub choices: Vec<Choice>,
    /// Time to answer in milliseconds, `limits::TIME_MS_MIN` to `limits::TIME_MS_MAX`.
    pub time_ms: u32,
}

/// One choice of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Plain text, 1 to `limits::CHOICE_CHARS_MAX` characters.
    pub text: String,
    /// Whether it is (one of) the correct ones.
    pub correct: bool,
}

/// How a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuestionKind {
    /// Exactly one choice; any correct one counts.
    Single,
    /// At least one choice; counts when exactly the correct ones are chosen.
    Multiple,
    /// Exactly one of two choices, one of them correct.
    TrueFalse,
}

/// Why a quiz cannot be played. Questions and choices are counted from 1, as people do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum QuizError {
    /// No question, or too many.
    #[error("the quiz has {count} questions; 1 to {QUESTIONS_MAX} can be played")]
    Questions {
        /// Questions found.
        count: usize,
    },
    /// A stem is blank or too long.
    #[error("the stem of question {question} has {chars} characters; it needs 1 to {TEXT_CHARS_MAX}")]
    Text {
        /// Which question.
        question: usize,
        /// Characters found.
        chars: usize,
    },
    /// Too few or too many choices.
    #[error("question {question} offers {count} choices; it needs {CHOICES_MIN} to {CHOICES_MAX}")]
    Choices {
        /// Which question.
        question: usize,
        /// Choices found.
        count: usize,
    },
    /// A choice is blank or too long.
    #[error(
        "choice {choice} of question {question} has {chars} characters; it needs 1 to {CHOICE_CHARS_MAX}"
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
    #[error("question {question} has no correct choice")]
    NoCorrect {
        /// Which question.
        question: usize,
    },
    /// A true/false question that is not two choices with one of them correct.
    #[error("question {question} is true/false, which takes two choices with one of them correct")]
    TrueFalse {
        /// Which question.
        question: usize,
    },
    /// Time outside its bounds.
    #[error("question {question} allows {time_ms} ms; it needs {TIME_MS_MIN} to {TIME_MS_MAX} ms")]
    Time {
        /// Which question.
        question: usize,
        /// Time found, in milliseconds.
        time_ms: u32,
    },
}

impl Quiz {
    /// Checks every bound and takes the questions.
    ///
    /// # Errors
    /// The first bound that is broken, with its place.
    pub fn new(questions: Vec<Question>) -> Result<Self, QuizError> {
        let count = questions.len();
        if !(1..=QUESTIONS_MAX).contains(&count) {
            return Err(QuizError::Questions { count });
        }
        for (question, number) in questions.iter().zip(1..) {
            question.check(number)?;
        }
        Ok(Self { questions })
    }

    /// The question at this place.
    #[must_use]
    pub fn get(&self, index: QuestionIndex) -> Option<&Question> {
        self.questions.get(usize::from(index.0))
    }

    /// All questions, in playing order.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// How many questions there are, 1 to `limits::QUESTIONS_MAX`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.questions.len()
    }

    /// Always `false`: a quiz without a question cannot be made. Here because `len` asks for it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }
}

impl Question {
    /// The choices marked as correct.
    #[must_use]
    pub fn correct(&self) -> ChoiceSet {
        self.set_of(|choice| choice.correct)
    }

    /// Whether `choices` can be an answer: choices of this question, at least one, and only one where one is asked.
    #[must_use]
    pub fn admits(&self, choices: ChoiceSet) -> bool {
        let all = self.set_of(|_| true);
        let fits = match self.kind {
            QuestionKind::Single | QuestionKind::TrueFalse => choices.len() == 1,
            QuestionKind::Multiple => !choices.is_empty(),
        };
        fits && choices.0 & !all.0 == 0
    }

    /// Whether an admitted answer is correct.
    #[must_use]
    pub fn is_correct(&self, choices: ChoiceSet) -> bool {
        let correct = self.correct();
        match self.kind {
            // One choice is in the answer, so that it is correct when it is in both sets.
            QuestionKind::Single | QuestionKind::TrueFalse => choices.0 & correct.0 != 0,
            QuestionKind::Multiple => choices == correct,
        }
    }

    fn set_of(&self, wanted: impl Fn(&Choice) -> bool) -> ChoiceSet {
        let numbered = self.choices.iter().zip(0..ChoiceSet::WIDTH);
        let indices = numbered
            .filter(|(choice, _)| wanted(choice))
            .map(|(_, index)| index);
        ChoiceSet::from_indices(indices).unwrap_or_default()
    }

    fn check(&self, question: usize) -> Result<(), QuizError> {
        let chars = self.text.chars().count();
        if self.text.trim().is_empty() || chars > TEXT_CHARS_MAX {
            return Err(QuizError::Text { question, chars });
        }
        let count = self.choices.len();
        if !(CHOICES_MIN..=CHOICES_MAX).contains(&count) {
            return Err(QuizError::Choices { question, count });
        }
        for (offered, choice) in self.choices.iter().zip(1..) {
            let chars = offered.text.chars().count();
            if offered.text.trim().is_empty() || chars > CHOICE_CHARS_MAX {
                return Err(QuizError::ChoiceText {
                    question,
                    choice,
                    chars,
                });
            }
        }
        let right = self.correct().len();
        if right == 0 {
            return Err(QuizError::NoCorrect { question });
        }
        if self.kind == QuestionKind::TrueFalse && (count != 2 || right != 1) {
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
