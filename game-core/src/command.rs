//! What goes into a game and what comes out of it.

use thiserror::Error;

use crate::name::NameError;
use crate::player::PlayerId;
use crate::quiz::{ChoiceSet, QuestionIndex};

/// Milliseconds on the caller's monotonic clock, from the game's creation. Never a wall-clock time.
pub type Millis = u64;

/// A command. Accepted commands with their times are the journal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Command {
    /// A new player. The id is given by the core: the next one in the order of joining. On the podium it may only watch: the
    /// final places stand.
    Join {
        /// Name as typed.
        name: String,
    },
    /// A known player's socket opened. Accepted in every phase but `Ended`; idempotent.
    Present {
        /// The player.
        player: PlayerId,
    },
    /// A player's socket was lost and did not come back within the shell's grace time. Idempotent.
    Absent {
        /// The player.
        player: PlayerId,
    },
    /// The player leaves for good: in the lobby the place is freed, later name and points stay in the results.
    Leave {
        /// The player.
        player: PlayerId,
    },
    /// A player renames itself; lobby only.
    Rename {
        /// The player.
        player: PlayerId,
        /// Name as typed.
        name: String,
    },
    /// The host renames a player; until the podium.
    HostRename {
        /// The player.
        player: PlayerId,
        /// Name as typed.
        name: String,
    },
    /// The host removes a player: gone from roster, ranks and results; its id never comes back. Until the podium.
    Kick {
        /// The player.
        player: PlayerId,
    },
    /// The host locks or unlocks joining.
    Lock {
        /// Whether new players are refused.
        on: bool,
    },
    /// Lobby: opens the first question. Needs no players.
    Start,
    /// An answer to the open question.
    Answer {
        /// The player.
        player: PlayerId,
        /// The question it is meant for.
        question: QuestionIndex,
        /// What was chosen.
        choices: ChoiceSet,
    },
    /// The timer of an open question fired. A stale one is accepted and does nothing.
    DeadlineReached {
        /// The question it was set for.
        question: QuestionIndex,
    },
    /// The host closes the open question; answers so far count.
    Close {
        /// The question meant.
        question: QuestionIndex,
    },
    /// The host skips the open question: closed, no points for anybody, streaks untouched.
    Skip {
        /// The question meant.
        question: QuestionIndex,
    },
    /// From results: opens the next question, or the podium after the last.
    Next {
        /// The question whose results are shown.
        question: QuestionIndex,
    },
    /// Ends the game: from `Question` (the open question is closed as skipped) and `Results` to `Podium`; from `Podium` and
    /// `Lobby` to `Ended`.
    End,
}

/// What the shell has to do after an accepted command, in order. Content is read from the game's views, so that a broadcast is encoded once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Effect {
    /// A player joined: answer with `welcome`, tell the host.
    Joined {
        /// The new player.
        player: PlayerId,
    },
    /// A player came back: tell the host.
    Returned {
        /// The player.
        player: PlayerId,
    },
    /// A player is away: tell the host.
    Away {
        /// The player.
        player: PlayerId,
    },
    /// A player left for good: close its socket, tell the host.
    Left {
        /// The player.
        player: PlayerId,
    },
    /// A player was removed: close its socket as kicked, tell the host.
    Kicked {
        /// The player.
        player: PlayerId,
    },
    /// A player has a new name: tell it and the host.
    Renamed {
        /// The player.
        player: PlayerId,
    },
    /// Joining was locked or unlocked: tell the host.
    LockChanged {
        /// Whether new players are refused.
        on: bool,
    },
    /// A question opened: a public transition with a new `seq`, to everybody.
    QuestionOpened {
        /// The question.
        question: QuestionIndex,
    },
    /// Give `DeadlineReached` back at this time.
    Schedule {
        /// The question.
        question: QuestionIndex,
        /// When.
        at: Millis,
    },
    /// An answer was accepted, now or before (the same answer again): acknowledge it.
    AnswerAccepted {
        /// The player.
        player: PlayerId,
        /// The question.
        question: QuestionIndex,
        /// Whether it is new, so that `progress` changed.
        new: bool,
    },
    /// A question closed: a public transition with a new `seq`; each player gets its own outcome, the host the reveal.
    QuestionClosed {
        /// The question.
        question: QuestionIndex,
    },
    /// The podium was reached: a public transition with a new `seq`; save the result.
    GameOver,
    /// The game was closed: tell everybody, close all sockets. Without a podium before it there is no result to save.
    Ended,
}

/// Why a command was refused. A refusal changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum Reject {
    /// Joining is locked.
    #[error("the game is locked")]
    Locked,
    /// As many players as allowed.
    #[error("the game is full")]
    Full,
    /// The game was closed.
    #[error("the game has ended")]
    Ended,
    /// The name is not allowed.
    #[error("the name is not allowed")]
    Name(#[source] NameError),
    /// Another player's name reads the same.
    #[error("the name is taken")]
    NameTaken,
    /// No such player, or it was removed or left in the lobby.
    #[error("no such player")]
    NoSuchPlayer,
    /// The player was removed by the host.
    #[error("the player was removed")]
    PlayerKicked,
    /// The command does not fit the phase.
    #[error("not possible in this phase")]
    WrongPhase,
    /// The question meant is not the open (or shown) one.
    #[error("this question is not open")]
    NotOpen,
    /// The deadline has passed.
    #[error("the time was up")]
    TooLate,
    /// Another answer was accepted before.
    #[error("an answer was accepted before")]
    AlreadyAnswered,
    /// No choice, an unknown one, or several where one is asked.
    #[error("not one of the choices")]
    BadChoice,
}
