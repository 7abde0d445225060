//! Stable codes of refusals on a game's socket. Clients choose the words; `message` is the server's plain-English fallback.

use serde::{Deserialize, Serialize};

/// Why a frame was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The frame is not JSON, not an object with `t`, or a field has the wrong type.
    Malformed,
    /// The frame is larger than its role allows.
    TooLarge,
    /// The first frame was none of `join`, `resume`, `host`, `screen`, or came too late.
    BadFirstFrame,
    /// More frames than the rate allows.
    TooMany,
    /// The server holds as many sockets as it may.
    ServerFull,
    /// A token or ticket is invalid, expired or of another game.
    BadToken,
    /// No game has this code.
    NoSuchGame,
    /// The server failed during this game and could not bring it back.
    GameLost,
    /// The host locked the game.
    Locked,
    /// The game has as many players as its plan allows.
    GameFull,
    /// The game has ended.
    Ended,
    /// The host removed this player.
    Kicked,
    /// The name is empty, longer than 20 characters as a reader counts them, or has control characters.
    BadName,
    /// Another player has this name, or one that reads the same.
    NameTaken,
    /// No such player.
    NoSuchPlayer,
    /// The command does not fit the game's phase.
    WrongPhase,
    /// The answer is for a question that is not open.
    NotOpen,
    /// The answer came after the deadline.
    TooLate,
    /// Another answer of this player was accepted before.
    AlreadyAnswered,
    /// The answer names no choice, one that does not exist, or more than one where one is asked.
    BadChoice,
    /// This connection may not send that frame.
    NotAllowed,
    /// The server is behind; try again after `retry_ms`.
    Busy,
}

impl ErrorCode {
    /// One clear English sentence: what is wrong and what to do.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::Malformed => "This message could not be read. Reload the page.",
            Self::TooLarge => "This message is too large. Shorten it.",
            Self::BadFirstFrame => "The connection did not say who it is. Reload the page.",
            Self::TooMany => "Too many messages in a short time. Wait a moment.",
            Self::ServerFull => "The server is full right now. Try again in a moment.",
            Self::BadToken => "This sign-in is no longer valid. Join or sign in again.",
            Self::NoSuchGame => "There is no game with this code. Check the code on the board.",
            Self::GameLost => {
                "This game could not be brought back after the server failed. Ask your teacher for a new one."
            }
            Self::Locked => "The game is locked. Ask your teacher to unlock it.",
            Self::GameFull => "The game is full. Ask your teacher.",
            Self::Ended => "This game has ended.",
            Self::Kicked => "The host removed you from this game.",
            Self::BadName => "Choose a name of 1 to 20 characters, without control characters.",
            Self::NameTaken => "This name is taken. Choose another one.",
            Self::NoSuchPlayer => "There is no such player in this game.",
            Self::WrongPhase => "This is not possible at this point of the game.",
            Self::NotOpen => "This question is not open.",
            Self::TooLate => "The time for this question was up.",
            Self::AlreadyAnswered => "Your first answer to this question counts.",
            Self::BadChoice => "This is not one of the choices.",
            Self::NotAllowed => "This connection may not do that.",
            Self::Busy => "The game is busy. Try again in a moment.",
        }
    }
}
