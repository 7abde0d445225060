//! What several unit tests of this crate need.

use std::sync::Arc;

use protocol::ids::{GameId, QuizId, TeacherId};
use protocol::quiz::{Choice, Question, QuestionKind, QuizDocument};
use protocol::result::{GameResult, GameSettings};
use uuid::Uuid;

use crate::backoffice::{Backoffice, BackofficeError, BackofficeFuture, PlanGrant, Reserved};
use crate::facts::{FIRST_EPOCH, Facts};

/// The reference quiz of the design: 20 questions, stems of 120 bytes, four choices of 25 bytes.
pub(crate) fn reference_quiz() -> QuizDocument {
    let question = |n: usize| Question {
        kind: QuestionKind::Single,
        text: format!("{:120}", format!("Question {n}: ")).replace(' ', "x"),
        choices: (0..4)
            .map(|c| Choice {
                text: format!("{:25}", format!("Choice {c}")).replace(' ', "y"),
                correct: c == n % 4,
            })
            .collect(),
        time_ms: 20_000,
    };
    QuizDocument {
        title: "The reference quiz".to_owned(),
        questions: (0..20).map(question).collect(),
    }
}

/// Two questions of each kind, with four choices where the kind allows it.
pub(crate) fn mixed_quiz() -> QuizDocument {
    let question = |n: usize| {
        let kind = [
            QuestionKind::Single,
            QuestionKind::Multiple,
            QuestionKind::TrueFalse,
        ][n % 3];
        let choices = if kind == QuestionKind::TrueFalse { 2 } else { 4 };
        Question {
            kind,
            text: format!("Question {n}?"),
            choices: (0..choices)
                .map(|c| Choice {
                    text: format!("Choice {c}"),
                    correct: c == n % choices,
                })
                .collect(),
            time_ms: 20_000,
        }
    };
    QuizDocument {
        title: "Mixed".to_owned(),
        questions: (0..6).map(question).collect(),
    }
}

pub(crate) fn facts(quiz: QuizDocument) -> Facts {
    Facts {
        game: GameId(Uuid::from_u128(1)),
        code: protocol::ids::GameCode::from_positions([1, 2, 3, 4, 5, 6]),
        teacher: TeacherId(Uuid::from_u128(2)),
        key: "key".to_owned(),
        quiz_id: QuizId(Uuid::from_u128(3)),
        quiz: Arc::new(quiz),
        settings: GameSettings::default(),
        players_max: 500,
        created_ms: 0,
        epoch: FIRST_EPOCH,
        is_rewound: false,
    }
}

/// A secret long enough for [`crate::Keys`].
pub(crate) const SECRET: &[u8] = b"a secret of the tests, 32 bytes or more";

/// Keys that know no teacher.
pub(crate) fn keys() -> crate::Keys {
    crate::Keys::new(&jsonwebtoken::jwk::JwkSet { keys: Vec::new() }, SECRET).unwrap()
}

/// An API that takes results and nothing else.
pub(crate) struct Taker;

impl Backoffice for Taker {
    fn plan_check(&self, _teacher: TeacherId, _quiz: Option<QuizId>) -> BackofficeFuture<'_, PlanGrant> {
        Box::pin(std::future::ready(Err(BackofficeError::NotFound)))
    }

    fn save_result<'a>(&'a self, _result: &'a GameResult, _epoch: u32) -> BackofficeFuture<'a, ()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn reserve_epoch(&self, _game: GameId, above: u32) -> BackofficeFuture<'_, Reserved> {
        Box::pin(std::future::ready(Ok(Reserved::Epoch(above + 1_000))))
    }

    fn has_result(&self, _game: GameId) -> BackofficeFuture<'_, bool> {
        Box::pin(std::future::ready(Ok(false)))
    }
}
