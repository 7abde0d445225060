//! What never changes about a game, written once when it is created.

use std::sync::Arc;

use protocol::ids::{GameCode, GameId, QuizId, TeacherId};
use protocol::quiz::QuizDocument;
use protocol::result::GameSettings;
use serde::{Deserialize, Serialize};

use super::{StoredError, gzip};
use crate::facts::Facts;

/// Version written.
const VERSION: u8 = 1;

/// Facts of a game as they are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredFacts {
    game: GameId,
    code: GameCode,
    teacher: TeacherId,
    /// The key that the teacher's client chose.
    pub(crate) key: String,
    quiz_id: QuizId,
    quiz: Arc<QuizDocument>,
    settings: GameSettings,
    players_max: u32,
    created_ms: u64,
}

impl StoredFacts {
    /// The facts under an epoch, which is the owner's.
    pub(crate) fn facts(&self, epoch: u32) -> Facts {
        Facts {
            game: self.game,
            code: self.code,
            teacher: self.teacher,
            key: self.key.clone(),
            quiz_id: self.quiz_id,
            quiz: Arc::clone(&self.quiz),
            settings: self.settings,
            players_max: self.players_max,
            created_ms: self.created_ms,
            epoch,
            is_rewound: false,
        }
    }
}

pub(crate) fn encode(facts: &Facts) -> Vec<u8> {
    let stored = StoredFacts {
        game: facts.game,
        code: facts.code,
        teacher: facts.teacher,
        key: facts.key.clone(),
        quiz_id: facts.quiz_id,
        quiz: Arc::clone(&facts.quiz),
        settings: facts.settings,
        players_max: facts.players_max,
        created_ms: facts.created_ms,
    };
    gzip::encode(VERSION, &stored)
}

pub(crate) fn decode(bytes: &[u8]) -> Result<StoredFacts, StoredError> {
    gzip::decode("facts of a game", VERSION, bytes)
}
