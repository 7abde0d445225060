//! The result of a game: what the game server hands to the API once, at the podium, and what a report is made from.

use serde::{Deserialize, Serialize};

use crate::ids::{GameCode, GameId, PlayerId, QuizId, TeacherId};
use crate::quiz::QuizDocument;

/// How answers earn points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scoring {
    /// 1000 points at once, falling linearly to 500 at the deadline.
    #[default]
    Speed,
    /// 1000 points whenever it comes.
    Accuracy,
}

/// Settings of one game, chosen by the teacher at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameSettings {
    /// How answers earn points.
    #[serde(default)]
    pub scoring: Scoring,
}

/// A finished game, with the questions as played and every accepted answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameResult {
    /// The game.
    pub game: GameId,
    /// The code it was played under.
    pub code: GameCode,
    /// The teacher.
    pub teacher: TeacherId,
    /// The stored quiz.
    pub quiz_id: QuizId,
    /// Its settings.
    pub settings: GameSettings,
    /// The questions as played, with their solutions.
    pub quiz: QuizDocument,
    /// When it was created, Unix milliseconds.
    pub created_ms: u64,
    /// When the podium was reached, Unix milliseconds.
    pub ended_ms: u64,
    /// What happened to each question, in order; questions after the last one played are missing.
    pub questions: Vec<QuestionResult>,
    /// The ranked players, best first, ties in the order of joining.
    pub players: Vec<PlayerResult>,
}

/// What happened to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuestionResult {
    /// Number, from 1.
    pub q: u16,
    /// The host skipped it: no points.
    pub skipped: bool,
}

/// A player's place and answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlayerResult {
    /// The player.
    pub id: PlayerId,
    /// Name.
    pub name: String,
    /// Place; equal points share one.
    pub rank: u32,
    /// Points.
    pub total: u32,
    /// Accepted answers, in question order.
    pub answers: Vec<AnswerResult>,
}

/// One accepted answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerResult {
    /// Question number, from 1.
    pub q: u16,
    /// The choices, from 0.
    pub choices: Vec<u8>,
    /// Time from the question's opening to the answer's arrival at the server, in milliseconds.
    pub elapsed_ms: u32,
    /// Whether it was correct.
    pub correct: bool,
    /// Points earned.
    pub points: u32,
}
