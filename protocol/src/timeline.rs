//! What happened to one game, for whoever is asked why a class had trouble. It tells of no player by name.

use serde::{Deserialize, Serialize};

use crate::ids::{GameCode, GameId};

/// The history of a game, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GameTimeline {
    /// The game.
    pub game: GameId,
    /// The code it was played under.
    pub code: GameCode,
    /// What happened.
    pub events: Vec<TimelineEvent>,
    /// Events beyond the bound that are not among them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u32,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineEvent {
    /// When, Unix milliseconds by the clock of the server that had the game.
    pub at_ms: u64,
    /// What.
    pub what: Happened,
}

/// What can happen to a game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Happened {
    /// It was created.
    Created,
    /// A server has it from now on.
    Owner {
        /// The server's name.
        server: String,
        /// Its number among the owners; the same server after a restart is another one.
        epoch: u32,
        /// It went on from what the servers' storage had left, after that had failed: the last answers before may be missing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, ts(optional = nullable, as = "Option<bool>"))]
        rewound: bool,
    },
    /// A question opened.
    Opened {
        /// Number, from 1.
        q: u16,
    },
    /// A question closed.
    Closed {
        /// Number, from 1.
        q: u16,
    },
    /// Connections were lost or came back, from this moment up to the next event.
    Drops(Drops),
    /// What clients are told is not saved any more: the journal's store is slow or away.
    Behind,
    /// Everything is saved again.
    CaughtUp {
        /// How long that took.
        after_ms: u64,
    },
    /// The podium was reached, and the result is due.
    Over,
    /// The API has the result.
    ResultSaved,
    /// The game was closed.
    Ended,
}

/// Connections that were lost without a goodbye, and those that came back. Those of a server that died are lost uncounted: its
/// successor sees them come back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drops {
    /// Players' connections lost.
    pub players_lost: u32,
    /// Players who came back.
    pub players_back: u32,
    /// Hosts' connections lost.
    pub hosts_lost: u32,
    /// Hosts' connections after the first one.
    pub hosts_back: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}
