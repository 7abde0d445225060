//! Frames of a host's socket and of a read-only screen, both directions. A screen receives what a host receives and may
//! only `ping`.

use serde::{Deserialize, Serialize};

use crate::error::ErrorCode;
use crate::ids::{GameCode, GameId, PlayerId};
use crate::player::{ByeReason, Phase, Place, QuestionView};

/// A frame from a host. The first one on a socket is `Host`, a screen's is `Screen`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum HostCommand {
    /// Opens a host's socket.
    Host {
        /// The teacher's access token.
        token: String,
        /// A ticket that an earlier socket of this host got: it shows that the game was there, in case that it was lost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ticket: Option<String>,
    },
    /// Opens a screen's socket.
    Screen {
        /// A ticket that a host's socket asked for.
        ticket: String,
    },
    /// Lobby: opens the first question.
    Start,
    /// Results: opens the next question, or shows the podium after the last. Carries the question whose results are
    /// shown, so that a doubled click does nothing.
    Next {
        /// Question number whose results are on the screen.
        q: u16,
    },
    /// Question: closes it now, answers so far count.
    Close {
        /// Question number.
        q: u16,
    },
    /// Question: closes it without points for anybody and marks it as skipped.
    Skip {
        /// Question number.
        q: u16,
    },
    /// Ends the playing: shows the podium; in the lobby, where nothing was played, it closes the game. On the podium it is
    /// refused, so that a doubled click does not send the class home.
    End,
    /// Podium: closes the game.
    Finish,
    /// Locks or unlocks joining.
    Lock {
        /// Whether new players are refused.
        on: bool,
    },
    /// Removes a player.
    Kick {
        /// The player.
        id: PlayerId,
    },
    /// Renames a player.
    Rename {
        /// The player.
        id: PlayerId,
        /// The new name.
        name: String,
    },
    /// Asks for a screen ticket.
    Ticket,
    /// Asks for `pong`.
    Ping,
}

/// A frame to a host or a screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum HostFrame {
    /// Everything the screen needs now; replaces all before.
    Sync {
        /// Protocol version.
        v: u16,
        /// The state.
        state: Box<HostState>,
    },
    /// Changes of the roster, at most ten frames a second. A player may stand in several lists; apply them in this order.
    Roster {
        /// New players.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        joined: Vec<RosterEntry>,
        /// Players with a new name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        renamed: Vec<RosterEntry>,
        /// Players whose connection was lost.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        away: Vec<PlayerId>,
        /// Players who came back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        back: Vec<PlayerId>,
        /// Players who left or were removed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left: Vec<PlayerId>,
    },
    /// A question opened.
    Question {
        /// Public sequence number.
        seq: u32,
        /// The question.
        #[serde(flatten)]
        question: QuestionView,
    },
    /// How many answered, at most four frames a second.
    Progress {
        /// Question number, from 1.
        q: u16,
        /// Answers accepted.
        answered: u32,
        /// Players expected to answer: present now, or answered already.
        of: u32,
    },
    /// A question closed.
    Reveal {
        /// Public sequence number.
        seq: u32,
        /// The outcome.
        #[serde(flatten)]
        reveal: RevealView,
    },
    /// The game is over: final places, saved.
    Over {
        /// Public sequence number.
        seq: u32,
        /// The places.
        #[serde(flatten)]
        over: HostOverView,
    },
    /// Joining was locked or unlocked.
    Lock {
        /// Whether new players are refused.
        on: bool,
    },
    /// Storage is behind (`true`) or has caught up (`false`).
    Saving {
        /// Whether it is behind.
        behind: bool,
    },
    /// The ticket asked for; a screen opens with it.
    Ticket {
        /// The ticket.
        ticket: String,
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

/// A player in the host's roster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RosterEntry {
    /// The player.
    pub id: PlayerId,
    /// Name in force.
    pub name: String,
    /// Connection lost; left out when the player is here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(optional = nullable, as = "Option<bool>"))]
    pub away: bool,
}

/// Everything a host's screen needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HostState {
    /// Epoch of the game's owner.
    pub epoch: u32,
    /// Head of the public sequence.
    pub seq: u32,
    /// The game, for its report.
    pub game: GameId,
    /// The code to join with.
    pub code: GameCode,
    /// Title of the quiz.
    pub title: String,
    /// Questions in the game.
    pub of: u16,
    /// Phase.
    pub phase: Phase,
    /// Whether new players are refused.
    pub locked: bool,
    /// Whether storage is behind.
    pub behind: bool,
    /// The servers' storage failed and may have lost the last answers; stays so until the game's end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(optional = nullable, as = "Option<bool>"))]
    pub rewound: bool,
    /// All players, in the order of joining.
    pub roster: Vec<RosterEntry>,
    /// The open question, or the one whose results are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionView>,
    /// Answers accepted to it.
    pub answered: u32,
    /// Players expected to answer it: present now, or answered already.
    pub expected: u32,
    /// The outcome, in phase `results`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reveal: Option<RevealView>,
    /// The places, in phases `podium` and `ended`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<HostOverView>,
}

/// Lines of the leaderboard shown between questions: what a projector shows legibly.
pub const BOARD_MAX: usize = 10;

/// The outcome of a question, for the class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RevealView {
    /// Question number, from 1.
    pub q: u16,
    /// The host skipped it: no points.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(optional = nullable, as = "Option<bool>"))]
    pub skipped: bool,
    /// The correct choices, from 0.
    pub correct: Vec<u8>,
    /// Answers that contain each choice.
    pub histogram: Vec<u32>,
    /// Answers accepted.
    pub answered: u32,
    /// Correct answers.
    pub right: u32,
    /// The leaders, at most [`BOARD_MAX`].
    pub board: Vec<Place>,
}

/// Final places, for the class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HostOverView {
    /// Players ranked.
    pub of: u32,
    /// Questions played.
    pub questions: u16,
    /// All places, best first, ties in the order of joining.
    pub places: Vec<Place>,
}
