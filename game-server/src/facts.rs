//! What never changes about one game and is not the rules' business.

use std::sync::Arc;

use protocol::ids::{GameCode, GameId, QuizId, TeacherId};
use protocol::quiz::QuizDocument;
use protocol::result::GameSettings;

/// Epoch of a new game; every claim after that adds one.
pub(crate) const FIRST_EPOCH: u32 = 1;

/// Facts of one game.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Facts {
    pub(crate) game: GameId,
    pub(crate) code: GameCode,
    pub(crate) teacher: TeacherId,
    /// Chosen by the teacher's client, so that a repeated create finds its game.
    pub(crate) key: String,
    pub(crate) quiz_id: QuizId,
    /// The questions as played, for the result. The rules hold a copy of their own.
    pub(crate) quiz: Arc<QuizDocument>,
    pub(crate) settings: GameSettings,
    /// By plan, and at most what the rules allow.
    pub(crate) players_max: u32,
    pub(crate) created_ms: u64,
    pub(crate) epoch: u32,
    /// The game went on from a store that may have lost its last records. Stays so until its end.
    pub(crate) is_rewound: bool,
}
