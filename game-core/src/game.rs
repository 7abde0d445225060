//! The state of a game. `apply` changes it, `view` shows it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::command::Millis;
use crate::limits::PLAYERS_MAX;
use crate::player::{Player, PlayerId};
use crate::quiz::{QuestionIndex, Quiz};
use crate::score::Scoring;
use crate::view::QuestionResult;

/// What a teacher or a plan chooses for one game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Settings {
    /// How answers earn points.
    pub scoring: Scoring,
    /// Players admitted at a time, by plan. More than [`limits::PLAYERS_MAX`](crate::limits::PLAYERS_MAX) counts as that.
    pub players_max: u32,
}

/// Where a game stands. It moves forward only: lobby, then question and results in turns, then podium, then ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Players gather.
    Lobby,
    /// A question is open.
    Question {
        /// The question.
        index: QuestionIndex,
        /// When it opened.
        opened_at: Millis,
        /// The last moment at which an answer is accepted.
        deadline: Millis,
    },
    /// A question closed; its results are shown.
    Results {
        /// The question.
        index: QuestionIndex,
    },
    /// Final places are shown.
    Podium,
    /// The game is closed. It had a podium when a question was played.
    Ended,
}

/// A game. Comparable and cloneable, so that a test can hold the state before a command against the state after it.
///
/// Its size is bounded: `limits::JOINS_MAX` players of one name and at most `limits::QUESTIONS_MAX` answers each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Game {
    pub(crate) quiz: Arc<Quiz>,
    pub(crate) settings: Settings,
    pub(crate) phase: Phase,
    pub(crate) seq: u32,
    pub(crate) locked: bool,
    /// Time of the last accepted command.
    pub(crate) clock: Millis,
    /// All players ever admitted; the one with id `n` stands at `n - 1`.
    pub(crate) players: Vec<Player>,
    /// Listed players by the key of their name.
    pub(crate) names: BTreeMap<Box<str>, PlayerId>,
    /// Closed questions, in order.
    pub(crate) played: Vec<QuestionResult>,
}

impl Game {
    /// A game in the lobby, without players, at time 0.
    #[must_use]
    pub fn new(quiz: Arc<Quiz>, settings: Settings) -> Self {
        let settings = Settings {
            players_max: settings.players_max.min(PLAYERS_MAX),
            ..settings
        };
        Self {
            quiz,
            settings,
            phase: Phase::Lobby,
            seq: 0,
            locked: false,
            clock: 0,
            players: Vec::new(),
            names: BTreeMap::new(),
            played: Vec::new(),
        }
    }
}
