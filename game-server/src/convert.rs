//! Between the rules' types and the wire's, explicitly, so that each can change without the other.

use std::sync::Arc;

use game_core::{self as core, ChoiceSet, QuestionIndex, Reject};
use protocol::error::ErrorCode;
use protocol::ids::PlayerId;
use protocol::player::Phase;
use protocol::quiz::{Question, QuestionKind, QuizDocument};
use protocol::result::Scoring;

pub(crate) fn player_to_core(id: PlayerId) -> core::PlayerId {
    core::PlayerId(id.0)
}

pub(crate) fn player_to_wire(id: core::PlayerId) -> PlayerId {
    PlayerId(id.0)
}

/// The wire counts questions from 1.
pub(crate) fn question_to_wire(index: QuestionIndex) -> u16 {
    index.0.saturating_add(1)
}

/// None for 0, which no question has.
pub(crate) fn question_to_core(q: u16) -> Option<QuestionIndex> {
    q.checked_sub(1).map(QuestionIndex)
}

pub(crate) fn choices_to_wire(choices: ChoiceSet) -> Vec<u8> {
    choices.iter().collect()
}

/// What an answer frame chose; none when it says nothing, says it twice, or names a choice that no question has.
pub(crate) fn choices_to_core(choice: Option<u8>, choices: Option<Vec<u8>>) -> Option<ChoiceSet> {
    match (choice, choices) {
        (Some(choice), None) => ChoiceSet::from_indices([choice]),
        (None, Some(choices)) => ChoiceSet::from_indices(choices),
        (None, None) | (Some(_), Some(_)) => None,
    }
}

pub(crate) fn phase_to_wire(phase: core::Phase) -> Phase {
    match phase {
        core::Phase::Lobby => Phase::Lobby,
        core::Phase::Question { .. } => Phase::Question,
        core::Phase::Results { .. } => Phase::Results,
        core::Phase::Podium => Phase::Podium,
        core::Phase::Ended => Phase::Ended,
    }
}

pub(crate) fn kind_to_wire(kind: core::QuestionKind) -> QuestionKind {
    match kind {
        core::QuestionKind::Single => QuestionKind::Single,
        core::QuestionKind::Multiple => QuestionKind::Multiple,
        core::QuestionKind::TrueFalse => QuestionKind::TrueFalse,
    }
}

pub(crate) fn scoring_to_core(scoring: Scoring) -> core::Scoring {
    match scoring {
        Scoring::Speed => core::Scoring::Speed,
        Scoring::Accuracy => core::Scoring::Accuracy,
    }
}

/// The questions of a document, as the rules want them.
///
/// # Errors
/// As [`core::Quiz::new`].
pub(crate) fn quiz_to_core(document: &QuizDocument) -> Result<Arc<core::Quiz>, core::QuizError> {
    core::Quiz::new(document.questions.iter().map(question_of).collect()).map(Arc::new)
}

fn question_of(question: &Question) -> core::Question {
    core::Question {
        kind: match question.kind {
            QuestionKind::Single => core::QuestionKind::Single,
            QuestionKind::Multiple => core::QuestionKind::Multiple,
            QuestionKind::TrueFalse => core::QuestionKind::TrueFalse,
        },
        text: question.text.clone(),
        choices: question
            .choices
            .iter()
            .map(|choice| core::Choice {
                text: choice.text.clone(),
                correct: choice.correct,
            })
            .collect(),
        time_ms: question.time_ms,
    }
}

pub(crate) fn reject_to_wire(reject: Reject) -> ErrorCode {
    match reject {
        Reject::Locked => ErrorCode::Locked,
        Reject::Full => ErrorCode::GameFull,
        Reject::Ended => ErrorCode::Ended,
        Reject::Name(_) => ErrorCode::BadName,
        Reject::NameTaken => ErrorCode::NameTaken,
        Reject::NoSuchPlayer => ErrorCode::NoSuchPlayer,
        Reject::PlayerKicked => ErrorCode::Kicked,
        Reject::WrongPhase => ErrorCode::WrongPhase,
        Reject::NotOpen => ErrorCode::NotOpen,
        Reject::TooLate => ErrorCode::TooLate,
        Reject::AlreadyAnswered => ErrorCode::AlreadyAnswered,
        Reject::BadChoice => ErrorCode::BadChoice,
    }
}
