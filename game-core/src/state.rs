//! A game as plain values, for whoever keeps it: everything that commands have made of it. Questions and settings, which no
//! command changes, are kept apart.

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use crate::command::Millis;
use crate::game::{Game, Phase, Settings};
use crate::limits::JOINS_MAX;
use crate::name::PlayerName;
use crate::player::{Answer, Player, PlayerId};
use crate::quiz::{QuestionIndex, Quiz};
use crate::view::QuestionResult;

/// Everything that changes about a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameState {
    /// Where it stands.
    pub phase: Phase,
    /// Public transitions so far.
    pub seq: u32,
    /// Whether new players are refused.
    pub locked: bool,
    /// Time of the last accepted command.
    pub clock: Millis,
    /// All players ever admitted; the one with id `n` stands at `n - 1`.
    pub players: Vec<PlayerState>,
    /// Closed questions, in order.
    pub played: Vec<QuestionResult>,
}

/// Everything that changes about a player. The fields are those of [`Player`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayerState {
    /// The name in force, as it is shown.
    pub name: String,
    /// When it joined.
    pub joined_at: Millis,
    /// Whether it is connected, as far as the shell has told.
    pub present: bool,
    /// Whether it left for good.
    pub left: bool,
    /// Whether the host removed it.
    pub kicked: bool,
    /// Whether it stands in the roster.
    pub listed: bool,
    /// Whether it came when the final places stood.
    pub spectator: bool,
    /// Points of all closed questions.
    pub total: u32,
    /// Correct answers in a row.
    pub streak: u16,
    /// Accepted answers in question order.
    pub answers: Vec<Answer>,
}

/// Why values are no game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StateError {
    /// More players than a game ever admits.
    #[error("the state has {count} players; a game admits {JOINS_MAX}")]
    Players {
        /// Players found.
        count: usize,
    },
    /// A player's name is not allowed, or reads like another one's.
    #[error("the name of player {player} is not possible")]
    Name {
        /// Which player.
        player: u32,
    },
    /// A question that the quiz does not have, or one that comes twice.
    #[error("question {question}, counted from 0, is not possible")]
    Question {
        /// Which question.
        question: u16,
    },
}

impl Game {
    /// Everything that changes about this game.
    #[must_use]
    pub fn export(&self) -> GameState {
        let players = self.players.iter().map(|player| PlayerState {
            name: player.name.as_str().to_owned(),
            joined_at: player.joined_at,
            present: player.present,
            left: player.left,
            kicked: player.kicked,
            listed: player.listed,
            spectator: player.spectator,
            total: player.total,
            streak: player.streak,
            answers: player.answers.clone(),
        });
        GameState {
            phase: self.phase,
            seq: self.seq,
            locked: self.locked,
            clock: self.clock,
            players: players.collect(),
            played: self.played.clone(),
        }
    }

    /// The game that `state` was exported from, over the same questions and settings.
    ///
    /// # Errors
    /// When the values are none that a game could have.
    pub fn restore(quiz: Arc<Quiz>, settings: Settings, state: GameState) -> Result<Self, StateError> {
        let count = state.players.len();
        let joins_max = usize::try_from(JOINS_MAX).unwrap_or(usize::MAX);
        if count > joins_max {
            return Err(StateError::Players { count });
        }
        if let Phase::Question { index, .. } | Phase::Results { index } = state.phase {
            known(&quiz, index)?;
        }
        rising(&quiz, state.played.iter().map(|closed| closed.question))?;
        let mut players = Vec::with_capacity(count);
        let mut names = BTreeMap::new();
        for (number, player) in (1..).zip(state.players) {
            let impossible = StateError::Name { player: number };
            let name = PlayerName::parse(&player.name).map_err(|_| impossible)?;
            rising(&quiz, player.answers.iter().map(|answer| answer.question))?;
            let id = PlayerId(number);
            if player.listed && names.insert(name.key().into(), id).is_some() {
                return Err(impossible);
            }
            players.push(Player {
                id,
                name,
                joined_at: player.joined_at,
                present: player.present,
                left: player.left,
                kicked: player.kicked,
                total: player.total,
                streak: player.streak,
                answers: player.answers,
                listed: player.listed,
                spectator: player.spectator,
            });
        }
        Ok(Self {
            phase: state.phase,
            seq: state.seq,
            locked: state.locked,
            clock: state.clock,
            players,
            names,
            played: state.played,
            ..Self::new(quiz, settings)
        })
    }
}

fn known(quiz: &Quiz, index: QuestionIndex) -> Result<(), StateError> {
    match quiz.get(index) {
        Some(_) => Ok(()),
        None => Err(StateError::Question { question: index.0 }),
    }
}

/// Each question at most once, in the order of the quiz.
fn rising(quiz: &Quiz, questions: impl Iterator<Item = QuestionIndex>) -> Result<(), StateError> {
    let mut before = None;
    for question in questions {
        known(quiz, question)?;
        if before.is_some_and(|before| before >= question) {
            return Err(StateError::Question { question: question.0 });
        }
        before = Some(question);
    }
    Ok(())
}
