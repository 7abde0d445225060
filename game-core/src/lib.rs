//! The rules of a game: a pure, deterministic core.
//!
//! [`Game::apply`] takes the time and a command and returns effects or a refusal. Three laws hold:
//!
//! 1. `Err` leaves the state untouched.
//! 2. The same inputs give the same outputs: time, randomness and ids arrive from outside.
//! 3. Every roster, queue and string has a named bound with its reason ([`limits`]).
//!
//! The accepted commands with their times, in order, are the journal: replaying them gives the same game. Timers are
//! effects ([`Effect::Schedule`]) that come back as commands ([`Command::DeadlineReached`]); a stale one does nothing. This crate knows no
//! wire or storage format, no socket and no clock: `game-server` converts at the edge.

mod apply;
mod command;
mod game;
pub mod limits;
mod name;
mod player;
mod quiz;
mod rank;
mod score;
mod view;

pub use command::{Command, Effect, Millis, Reject};
pub use game::{Game, Phase, Settings};
pub use name::{NameError, PlayerName};
pub use player::{Answer, Player, PlayerId};
pub use quiz::{Choice, ChoiceSet, Question, QuestionIndex, QuestionKind, Quiz, QuizError};
pub use rank::Standing;
pub use score::{POINTS_MAX, SPEED_POINTS_MAX, Scoring};
pub use view::{Outcome, QuestionResult, Reveal};
