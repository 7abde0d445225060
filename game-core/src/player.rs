//! A player and its answers. Who may do what is decided in `apply`; places are counted in `rank`.

use crate::command::Millis;
use crate::name::PlayerName;
use crate::quiz::{ChoiceSet, QuestionIndex};

/// A player of one game, counted from 1 in the order of joining and never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlayerId(pub u32);

/// A player, those who left or were removed included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Player {
    /// The id.
    pub id: PlayerId,
    /// The name in force.
    pub name: PlayerName,
    /// When it joined. With the id it tells this player from one whose joining was lost before it was kept.
    pub joined_at: Millis,
    /// Whether it is connected, as far as the shell has told.
    pub present: bool,
    /// Whether it left for good. After the lobby, [`Command::Present`](crate::Command::Present) takes that back.
    pub left: bool,
    /// Whether the host removed it.
    pub kicked: bool,
    /// Points of all closed questions.
    pub total: u32,
    /// Correct answers in a row up to the last closed question; a skipped question does not count.
    pub streak: u16,
    /// Accepted answers in question order, at most one a question.
    pub answers: Vec<Answer>,
    /// Whether it stands in the roster, the ranks and the results: not removed, and not gone before the game began.
    pub(crate) listed: bool,
    /// Whether it came once the final places stood: it may watch, and stands in the roster only.
    pub(crate) spectator: bool,
}

/// An accepted answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The question.
    pub question: QuestionIndex,
    /// What was chosen.
    pub choices: ChoiceSet,
    /// Milliseconds from the question's opening to the answer, at most the question's `time_ms`.
    pub elapsed_ms: u32,
    /// Whether it is correct; `false` as long as the question is open, so that nothing can leak.
    pub correct: bool,
    /// Points earned; 0 as long as the question is open, when wrong, and when the question was skipped.
    pub points: u32,
}

impl Player {
    pub(crate) fn new(id: PlayerId, name: PlayerName, joined_at: Millis) -> Self {
        Self {
            id,
            name,
            joined_at,
            present: true,
            left: false,
            kicked: false,
            total: 0,
            streak: 0,
            answers: Vec::new(),
            listed: true,
            spectator: false,
        }
    }

    /// The answer to a question.
    #[must_use]
    pub fn answer(&self, question: QuestionIndex) -> Option<&Answer> {
        let place = self
            .answers
            .binary_search_by_key(&question, |answer| answer.question)
            .ok()?;
        self.answers.get(place)
    }
}
