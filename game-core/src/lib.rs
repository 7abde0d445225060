//! The rules of a game: a pure, deterministic core.
//!
//! [`Game::apply`] takes the time and a [`Command`] and returns [`Effect`]s or a [`Reject`]. What to show is read from the
//! game's views ([`Game::phase`], [`Game::outcomes`], [`Game::standings`] and so on). Three laws hold:
//!
//! 1. **`Err` leaves the state untouched.** Every handler validates all before it changes anything; a refusal does not even
//!    move the game's time. So a shell need not keep refused commands.
//! 2. **The same inputs give the same outputs.** Time arrives as an argument, ids are counted, nothing is random, no map is
//!    iterated in an order of its own. The accepted commands with their times, in order, are the journal: replaying them over
//!    the same quiz and settings gives an equal game.
//! 3. **Every roster, queue and string has a named bound with its reason** ([`limits`]). No sequence of commands makes a game
//!    grow past them, and none makes it panic, whatever ids, indices and times it names.
//!
//! And a fourth follows from how points are settled: **as long as a question is open, no view but [`Game::quiz`] depends on
//! its solution.** Correctness, points, totals and streaks change when it closes.
//!
//! Timers are effects ([`Effect::Schedule`]) that come back as commands ([`Command::DeadlineReached`]); a stale or early one
//! does nothing. Time does not run backwards: a time below that of the last accepted command counts as that one.
//!
//! This crate knows no wire or storage format, no socket and no clock: `game-server` converts at the edge. A whole game can be
//! taken out as a [`GameState`] and put together again. It trusts its shell
//! to send player commands for the player whose socket it is, and host commands for the host.
//!
//! ```
//! use std::sync::Arc;
//! use game_core::*;
//!
//! let choice = |text: &str, correct| Choice { text: text.to_owned(), correct };
//! let quiz = Quiz::new(vec![Question {
//!     kind: QuestionKind::Single,
//!     text: "Seven times eight?".to_owned(),
//!     choices: vec![choice("54", false), choice("56", true)],
//!     time_ms: 20_000,
//! }])?;
//! let mut game = Game::new(Arc::new(quiz), Settings { scoring: Scoring::Speed, players_max: 40 });
//!
//! game.apply(0, Command::Join { name: "Ada".to_owned() })?;
//! game.apply(1_000, Command::Start)?;
//! let (ada, question) = (PlayerId(1), QuestionIndex(0));
//! let choices = ChoiceSet::from_indices([1]).expect("below 16");
//! let effects = game.apply(6_000, Command::Answer { player: ada, question, choices })?;
//!
//! // Everybody present has answered, so that the question closes at once.
//! assert_eq!(effects[1], Effect::QuestionClosed { question });
//! assert_eq!(game.outcome(ada).map(|outcome| outcome.points), Some(875));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apply;
mod command;
mod game;
pub mod limits;
mod name;
mod player;
mod quiz;
mod rank;
mod score;
mod state;
mod view;

pub use command::{Command, Effect, Millis, Reject};
pub use game::{Game, Phase, Settings};
pub use name::{NameError, PlayerName};
pub use player::{Answer, Player, PlayerId};
pub use quiz::{Choice, ChoiceSet, Question, QuestionIndex, QuestionKind, Quiz, QuizError};
pub use rank::Standing;
pub use score::{POINTS_MAX, SPEED_POINTS_MAX, Scoring};
pub use state::{GameState, PlayerState, StateError};
pub use view::{Outcome, QuestionResult, Reveal};
