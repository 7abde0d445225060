//! Reading what the store keeps, from the description of its format (docs/adr/0009, 0013) and not with the server's code.

use std::io::Read as _;

use game_core::{
    Answer, ChoiceSet, Command, GameState, Phase, PlayerId, PlayerState, QuestionIndex, QuestionResult,
};
use serde_json::Value;

/// Largest snapshot that is read: far more than that of a small class.
const SNAPSHOT_BYTES_MAX: u64 = 1024 * 1024;

/// A record of the journal.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) number: u64,
    pub(super) at: u64,
    pub(super) fact: Fact,
}

/// What a record tells.
#[derive(Debug, Clone)]
pub(super) enum Fact {
    Command(Command),
    /// A tick, the end, a settled result: nothing of it changes the game.
    Other,
}

/// The whole frames of a journal in order, and whether bytes were left that are none.
pub(super) fn journal(mut bytes: &[u8]) -> (Vec<Kept>, bool) {
    let mut kept = Vec::new();
    while !bytes.is_empty() {
        let Some((record, rest)) = frame(bytes) else {
            return (kept, true);
        };
        kept.push(record);
        bytes = rest;
    }
    (kept, false)
}

/// `length (2) number (4) record checksum (4)`.
fn frame(bytes: &[u8]) -> Option<(Kept, &[u8])> {
    let length = usize::from(u16::from_le_bytes(*bytes.first_chunk()?));
    let number = u32::from_le_bytes(*bytes.get(2..)?.first_chunk()?);
    let (framed, rest) = bytes.split_at_checked(6 + length)?;
    let (checksum, rest) = rest.split_at_checked(4)?;
    if crc32fast::hash(framed).to_le_bytes() != checksum {
        return None;
    }
    let mut body = Body(framed.get(6..)?);
    let (_version, kind) = (body.byte()?, body.byte()?);
    let at = body.varint()?;
    let fact = match kind {
        16..=18 => Fact::Other,
        kind => Fact::Command(body.command(kind)?),
    };
    let number = u64::from(number);
    Some((Kept { number, at, fact }, rest))
}

struct Body<'a>(&'a [u8]);

impl Body<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn player(&mut self) -> Option<PlayerId> {
        self.varint()?.try_into().ok().map(PlayerId)
    }

    fn question(&mut self) -> Option<QuestionIndex> {
        self.varint()?.try_into().ok().map(QuestionIndex)
    }

    fn command(&mut self, kind: u8) -> Option<Command> {
        Some(match kind {
            1 => Command::Join { name: self.text()? },
            2 => Command::Present {
                player: self.player()?,
            },
            3 => Command::Absent {
                player: self.player()?,
            },
            4 => Command::Leave {
                player: self.player()?,
            },
            5 => Command::Rename {
                player: self.player()?,
                name: self.text()?,
            },
            6 => Command::HostRename {
                player: self.player()?,
                name: self.text()?,
            },
            7 => Command::Kick {
                player: self.player()?,
            },
            8 => Command::Lock {
                on: self.byte()? == 1,
            },
            9 => Command::Start,
            10 => Command::Answer {
                player: self.player()?,
                question: self.question()?,
                choices: ChoiceSet(self.varint()?.try_into().ok()?),
            },
            11 => Command::DeadlineReached {
                question: self.question()?,
            },
            12 => Command::Close {
                question: self.question()?,
            },
            13 => Command::Skip {
                question: self.question()?,
            },
            14 => Command::Next {
                question: self.question()?,
            },
            15 => Command::End,
            _ => return None,
        })
    }
}

/// The state in a snapshot: a version, then JSON under gzip.
pub(super) fn snapshot(bytes: &[u8]) -> Option<GameState> {
    let (version, gzip) = bytes.split_first()?;
    if *version != 1 {
        return None;
    }
    let mut json = String::new();
    let mut capped = flate2::read::GzDecoder::new(gzip).take(SNAPSHOT_BYTES_MAX);
    #[expect(clippy::disallowed_methods, reason = "read through take(SNAPSHOT_BYTES_MAX)")]
    capped.read_to_string(&mut json).ok()?;
    state(&serde_json::from_str(&json).ok()?)
}

fn state(json: &Value) -> Option<GameState> {
    let index = |value: &Value| value["index"].as_u64()?.try_into().ok().map(QuestionIndex);
    let phase = match &json["phase"] {
        Value::String(name) if name == "lobby" => Phase::Lobby,
        Value::String(name) if name == "podium" => Phase::Podium,
        Value::String(name) if name == "ended" => Phase::Ended,
        phase if phase.get("question").is_some() => Phase::Question {
            index: index(&phase["question"])?,
            opened_at: phase["question"]["opened_at"].as_u64()?,
            deadline: phase["question"]["deadline"].as_u64()?,
        },
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => Phase::Results {
            index: index(&json["phase"]["results"])?,
        },
    };
    let played = json["played"].as_array()?.iter().map(|played| {
        Some(QuestionResult {
            question: QuestionIndex(played[0].as_u64()?.try_into().ok()?),
            skipped: played[1].as_bool()?,
        })
    });
    Some(GameState {
        phase,
        seq: json["seq"].as_u64()?.try_into().ok()?,
        locked: json["locked"] == true,
        clock: json["clock"].as_u64()?,
        players: json["players"]
            .as_array()?
            .iter()
            .map(player)
            .collect::<Option<_>>()?,
        played: played.collect::<Option<_>>()?,
    })
}

fn player(json: &Value) -> Option<PlayerState> {
    let count = |field: &str| json[field].as_u64().unwrap_or_default();
    let answers = json["answers"].as_array().map(Vec::as_slice).unwrap_or_default();
    Some(PlayerState {
        name: json["name"].as_str()?.to_owned(),
        joined_at: count("joined"),
        present: json["away"] != true,
        left: json["left"] == true,
        kicked: json["kicked"] == true,
        listed: json["unlisted"] != true,
        spectator: json["spectator"] == true,
        total: count("total").try_into().ok()?,
        streak: count("streak").try_into().ok()?,
        answers: answers.iter().map(answer).collect::<Option<_>>()?,
    })
}

fn answer(json: &Value) -> Option<Answer> {
    Some(Answer {
        question: QuestionIndex(json[0].as_u64()?.try_into().ok()?),
        choices: ChoiceSet(json[1].as_u64()?.try_into().ok()?),
        elapsed_ms: json[2].as_u64()?.try_into().ok()?,
        correct: json[3].as_bool()?,
        points: json[4].as_u64()?.try_into().ok()?,
    })
}
