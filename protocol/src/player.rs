//! Frames of a player's socket, both directions.
//!
//! Bytes are budgeted per student and question, so fields that say the ordinary case are left out: no `kind` is
//! `single`, no `ok` in an `ack` is accepted, no `streak` is 0.

use serde::{Deserialize, Serialize};

use crate::error::ErrorCode;
use crate::ids::PlayerId;
use crate::quiz::QuestionKind;

/// A frame from a player. The first one on a socket is `Join` or `Resume`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum PlayerCommand {
    /// A new player.
    Join {
        /// The name as typed; the server trims it and collapses white space.
        name: String,
    },
    /// The same player again.
    Resume {
        /// The token from `welcome`.
        token: String,
        /// The last sequence number this client has seen.
        #[serde(default)]
        seq: u32,
    },
    /// An answer to the open question.
    Answer {
        /// Question number, from 1.
        q: u16,
        /// The choice, from 0. For `single` and `true_false`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<u8>,
        /// The ticked choices, from 0. For `multiple`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choices: Option<Vec<u8>>,
    },
    /// Another name; lobby only.
    Rename {
        /// The new name.
        name: String,
    },
    /// The player leaves for good.
    Leave,
    /// Asks for `pong`.
    Ping,
}

/// A frame to a player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum PlayerFrame {
    /// Answer to `join` and to a `resume` on a fresh page.
    Welcome {
        /// Protocol version.
        v: u16,
        /// This player.
        id: PlayerId,
        /// Resume token, to be kept on the device.
        token: String,
        /// Everything the screen needs.
        state: Box<PlayerState>,
    },
    /// Everything the screen needs now; replaces all before.
    Sync {
        /// The state.
        state: Box<PlayerState>,
    },
    /// A question opened.
    Question {
        /// Public sequence number.
        seq: u32,
        /// The question.
        #[serde(flatten)]
        question: QuestionView,
    },
    /// An answer was accepted. A refused one gets `error`.
    Ack {
        /// Question number, from 1.
        q: u16,
        /// Whether the answer is in the journal; `false` is followed by a second `ack` with `true`.
        saved: bool,
    },
    /// The question closed: this player's own outcome.
    Result {
        /// Public sequence number.
        seq: u32,
        /// The outcome.
        #[serde(flatten)]
        outcome: OutcomeView,
    },
    /// The game is over: final places. The socket stays open until the host ends the game.
    Over {
        /// Public sequence number.
        seq: u32,
        /// The places.
        #[serde(flatten)]
        over: OverView,
    },
    /// The player was renamed by the host or by itself.
    Renamed {
        /// The name in force.
        name: String,
    },
    /// Answer to `ping`.
    Pong {
        /// Head of the public sequence.
        seq: u32,
    },
    /// A refusal.
    Error {
        /// Stable code.
        code: ErrorCode,
        /// The question meant, when the refused frame was an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        q: Option<u16>,
        /// When to try again, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_ms: Option<u32>,
    },
    /// The server closes this socket next.
    Bye {
        /// Why.
        reason: ByeReason,
        /// When to come back, in milliseconds; none means stay away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_ms: Option<u32>,
    },
}

/// Why the server closes a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ByeReason {
    /// The host (or a lifetime rule) ended the game.
    Ended,
    /// The game moved to another server, or this one restarts.
    Moved,
    /// The host removed the player.
    Kicked,
    /// A newer socket of the same player took over.
    Replaced,
    /// The player left.
    Left,
}

/// The phase of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Players gather.
    Lobby,
    /// A question is open.
    Question,
    /// A question closed; its results are shown.
    Results,
    /// Final places are shown and saved.
    Podium,
    /// The game is closed.
    Ended,
}

/// Everything a player's screen needs, in one piece: for join, resume, reload and repair alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlayerState {
    /// Epoch of the game's owner; on a new one the client replaces everything, even by a lower `seq`.
    pub epoch: u32,
    /// Head of the public sequence.
    pub seq: u32,
    /// Phase.
    pub phase: Phase,
    /// Title of the quiz.
    pub title: String,
    /// The player's name in force.
    pub name: String,
    /// Questions in the game.
    pub of: u16,
    /// Players in the game.
    pub players: u32,
    /// Points so far.
    pub total: u32,
    /// The servers' storage failed and may have lost the last answers; stays so until the game's end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(optional = nullable, as = "Option<bool>"))]
    pub rewound: bool,
    /// The open question, or the one whose results are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionView>,
    /// This player's accepted answer to it, choices from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<Vec<u8>>,
    /// The outcome, in phase `results`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeView>,
    /// The places, in phases `podium` and `ended`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<OverView>,
}

/// A question as players see it: no solution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct QuestionView {
    /// Number, from 1.
    pub q: u16,
    /// How it is answered; left out when `single`.
    #[serde(default, skip_serializing_if = "is_single")]
    #[cfg_attr(test, ts(optional = nullable, as = "Option<QuestionKind>"))]
    pub kind: QuestionKind,
    /// The stem.
    pub text: String,
    /// The choices' texts.
    pub choices: Vec<String>,
    /// The whole time to answer, in milliseconds.
    pub ms: u32,
    /// Time left, in milliseconds, when less than `ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<u32>,
}

fn is_single(kind: &QuestionKind) -> bool {
    *kind == QuestionKind::Single
}

/// What became of a player's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OutcomeView {
    /// Question number, from 1.
    pub q: u16,
    /// Whether the answer was correct; none means not answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// Points gained with this question.
    pub points: u32,
    /// Points so far.
    pub total: u32,
    /// Place so far; equal points share a place.
    pub rank: u32,
    /// Players ranked.
    pub of: u32,
    /// Correct answers in a row, left out when 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(test, ts(optional = nullable, as = "Option<u16>"))]
    pub streak: u16,
    /// The correct choices, from 0.
    pub correct: Vec<u8>,
}

fn is_zero(n: &u16) -> bool {
    *n == 0
}

/// Final places, as one player sees them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OverView {
    /// This player's place; equal points share a place. Left out for who came when the final places stood already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Players ranked.
    pub of: u32,
    /// This player's points.
    pub total: u32,
    /// The first three places; ties make it longer, to at most [`PODIUM_MAX`] entries.
    pub top: Vec<Place>,
}

/// Entries of a podium: a three-way tie on every step, and no more bytes than that.
pub const PODIUM_MAX: usize = 9;

/// One line of a podium or leaderboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Place {
    /// Place; equal points share one.
    pub rank: u32,
    /// The player's name.
    pub name: String,
    /// Points.
    pub total: u32,
}
