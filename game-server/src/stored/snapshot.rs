//! The whole state of a game at one record, without its questions.

use game_core::{Answer, ChoiceSet, GameState, Millis, Phase, PlayerState, QuestionIndex, QuestionResult};
use serde::{Deserialize, Deserializer, Serialize};

use super::{StoredError, gzip, version};
use crate::timeline::Timeline;

/// Everything about a game that changes and outlives its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// The game's own time.
    pub(crate) at: Millis,
    pub(crate) state: GameState,
    /// Unix time in milliseconds at which the podium was reached.
    pub(crate) over_ms: Option<u64>,
    /// Whether the API has the result, or will never take it.
    pub(crate) result_settled: bool,
    /// See [`crate::facts::Facts::is_rewound`].
    pub(crate) is_rewound: bool,
    /// What happened to it; empty in what the first builds wrote.
    pub(crate) timeline: Timeline,
}

/// In the version given, one that is still written. All of them have one layout so far.
pub(crate) fn encode(snapshot: &Snapshot, version: u8) -> Vec<u8> {
    gzip::encode(version, &Stored::from(snapshot))
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Snapshot, StoredError> {
    gzip::decode::<Stored>("snapshot", version::NEWEST, bytes).map(Snapshot::from)
}

#[derive(Serialize, Deserialize)]
struct Stored {
    at: Millis,
    phase: StoredPhase,
    seq: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    locked: bool,
    clock: Millis,
    players: Vec<StoredPlayer>,
    /// Index and whether it was skipped.
    played: Vec<(u16, bool)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    over_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    result_settled: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    is_rewound: bool,
    #[serde(
        default,
        skip_serializing_if = "Timeline::is_empty",
        deserialize_with = "timeline_or_none"
    )]
    timeline: Timeline,
}

/// A newer build's may have events that this one does not know; no game is lost for that.
fn timeline_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timeline, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredPhase {
    Lobby,
    Question {
        index: u16,
        opened_at: Millis,
        deadline: Millis,
    },
    Results {
        index: u16,
    },
    Podium,
    Ended,
}

#[derive(Serialize, Deserialize)]
struct StoredPlayer {
    name: String,
    /// When it joined; 0 in what the first builds wrote.
    #[serde(default, skip_serializing_if = "is_default")]
    joined: Millis,
    #[serde(default, skip_serializing_if = "is_default")]
    away: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    left: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    kicked: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    unlisted: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    spectator: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    total: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    streak: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    answers: Vec<StoredAnswer>,
}

/// Question, choices as bits, milliseconds, whether it is correct, points.
#[derive(Serialize, Deserialize)]
struct StoredAnswer(u16, u16, u32, bool, u32);

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl From<&Snapshot> for Stored {
    fn from(snapshot: &Snapshot) -> Self {
        let state = &snapshot.state;
        Self {
            at: snapshot.at,
            phase: match state.phase {
                Phase::Lobby => StoredPhase::Lobby,
                Phase::Question {
                    index,
                    opened_at,
                    deadline,
                } => StoredPhase::Question {
                    index: index.0,
                    opened_at,
                    deadline,
                },
                Phase::Results { index } => StoredPhase::Results { index: index.0 },
                Phase::Podium => StoredPhase::Podium,
                Phase::Ended => StoredPhase::Ended,
            },
            seq: state.seq,
            locked: state.locked,
            clock: state.clock,
            players: state.players.iter().map(StoredPlayer::from).collect(),
            played: state
                .played
                .iter()
                .map(|closed| (closed.question.0, closed.skipped))
                .collect(),
            over_ms: snapshot.over_ms,
            result_settled: snapshot.result_settled,
            is_rewound: snapshot.is_rewound,
            timeline: snapshot.timeline.clone(),
        }
    }
}

impl From<Stored> for Snapshot {
    fn from(stored: Stored) -> Self {
        let phase = match stored.phase {
            StoredPhase::Lobby => Phase::Lobby,
            StoredPhase::Question {
                index,
                opened_at,
                deadline,
            } => Phase::Question {
                index: QuestionIndex(index),
                opened_at,
                deadline,
            },
            StoredPhase::Results { index } => Phase::Results {
                index: QuestionIndex(index),
            },
            StoredPhase::Podium => Phase::Podium,
            StoredPhase::Ended => Phase::Ended,
        };
        let played = stored.played.into_iter().map(|(index, skipped)| QuestionResult {
            question: QuestionIndex(index),
            skipped,
        });
        Self {
            at: stored.at,
            state: GameState {
                phase,
                seq: stored.seq,
                locked: stored.locked,
                clock: stored.clock,
                players: stored.players.into_iter().map(PlayerState::from).collect(),
                played: played.collect(),
            },
            over_ms: stored.over_ms,
            result_settled: stored.result_settled,
            is_rewound: stored.is_rewound,
            timeline: stored.timeline,
        }
    }
}

impl From<&PlayerState> for StoredPlayer {
    fn from(player: &PlayerState) -> Self {
        Self {
            name: player.name.clone(),
            joined: player.joined_at,
            away: !player.present,
            left: player.left,
            kicked: player.kicked,
            unlisted: !player.listed,
            spectator: player.spectator,
            total: player.total,
            streak: player.streak,
            answers: player.answers.iter().map(StoredAnswer::from).collect(),
        }
    }
}

impl From<StoredPlayer> for PlayerState {
    fn from(player: StoredPlayer) -> Self {
        Self {
            name: player.name,
            joined_at: player.joined,
            present: !player.away,
            left: player.left,
            kicked: player.kicked,
            listed: !player.unlisted,
            spectator: player.spectator,
            total: player.total,
            streak: player.streak,
            answers: player.answers.into_iter().map(Answer::from).collect(),
        }
    }
}

impl From<&Answer> for StoredAnswer {
    fn from(answer: &Answer) -> Self {
        Self(
            answer.question.0,
            answer.choices.0,
            answer.elapsed_ms,
            answer.correct,
            answer.points,
        )
    }
}

impl From<StoredAnswer> for Answer {
    fn from(StoredAnswer(question, choices, elapsed_ms, correct, points): StoredAnswer) -> Self {
        Self {
            question: QuestionIndex(question),
            choices: ChoiceSet(choices),
            elapsed_ms,
            correct,
            points,
        }
    }
}
