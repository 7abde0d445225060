//! What never changes about one game and is not the rules' business.

use std::sync::Arc;

use protocol::ids::{GameCode, GameId, QuizId, TeacherId};
use protocol::quiz::QuizDocument;
use protocol::result::GameSettings;

/// Epoch of every game: one process owns its games from creation to end.
pub(crate) const FIRST_EPOCH: u32 = 1;

/// Facts of one game.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) game: GameId,
    pub(crate) code: GameCode,
    pub(crate) teacher: TeacherId,
    pub(crate) quiz_id: QuizId,
    /// The questions as played, for the result. The rules hold a copy of their own.
    pub(crate) quiz: Arc<QuizDocument>,
    pub(crate) settings: GameSettings,
    /// By plan, and at most what the rules allow.
    pub(crate) players_max: u32,
    pub(crate) created_ms: u64,
    pub(crate) epoch: u32,
}
