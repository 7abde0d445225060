//! One record: what happened and when, as a few bytes of a versioned format.
//!
//! `version (1) kind (1) at (varint) fields (varints; strings as length and UTF-8)`. An answer takes about 10 bytes. Length,
//! number and checksum belong to whoever stores records, since stores differ in what they need.
//!
//! A kind or version that this build does not know means "written by a newer build", never "damaged": the reader must stop and
//! leave the journal untouched.

use game_core::{ChoiceSet, Command, Millis, PlayerId, QuestionIndex};
use thiserror::Error;

/// Version of the format written. Additive changes (new kinds) raise it too, so that an older build refuses them by version.
pub const FORMAT_VERSION: u8 = 1;

/// Longest string that is read back, in bytes: what `game-core` accepts as a typed name.
const STRING_BYTES_MAX: usize = game_core::limits::NAME_TYPED_BYTES_MAX;

/// What happened in a game, and when.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Record {
    /// Milliseconds of the game's own time, which stands still while nobody serves it.
    pub at: Millis,
    /// What happened.
    pub entry: Entry,
}

/// What a record tells.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Entry {
    /// An accepted command.
    Command(Command),
    /// Nothing but that time went by while a question was open, so that its remaining time survives.
    Tick,
    /// The podium was reached and the result is due. It stands directly after the command that did it.
    Over {
        /// Unix time in milliseconds, so that a result that is saved again says the same.
        ended_ms: u64,
    },
    /// The API has the result, or will never take it.
    ResultSettled,
}

/// Why bytes are no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// Written in a format of a newer build.
    #[error("format version {found} is not known")]
    UnknownVersion {
        /// Version found.
        found: u8,
    },
    /// A kind of a newer build.
    #[error("record kind {found} is not known")]
    UnknownKind {
        /// Kind found.
        found: u8,
    },
    /// The bytes end too early.
    #[error("the record is cut short")]
    Short,
    /// Bytes are left after the record.
    #[error("the record is followed by {bytes} more bytes")]
    Trailing {
        /// How many.
        bytes: usize,
    },
    /// A number or a string is out of its bounds, or a string is not UTF-8.
    #[error("a field of the record has an impossible value")]
    Field,
}

/// Kinds. A number once given is never given again.
mod kind {
    pub(super) const JOIN: u8 = 1;
    pub(super) const PRESENT: u8 = 2;
    pub(super) const ABSENT: u8 = 3;
    pub(super) const LEAVE: u8 = 4;
    pub(super) const RENAME: u8 = 5;
    pub(super) const HOST_RENAME: u8 = 6;
    pub(super) const KICK: u8 = 7;
    pub(super) const LOCK: u8 = 8;
    pub(super) const START: u8 = 9;
    pub(super) const ANSWER: u8 = 10;
    pub(super) const DEADLINE_REACHED: u8 = 11;
    pub(super) const CLOSE: u8 = 12;
    pub(super) const SKIP: u8 = 13;
    pub(super) const NEXT: u8 = 14;
    pub(super) const END: u8 = 15;
    pub(super) const TICK: u8 = 16;
    pub(super) const OVER: u8 = 17;
    pub(super) const RESULT_SETTLED: u8 = 18;
}

impl Record {
    /// The record of an accepted command.
    #[must_use]
    pub fn of(at: Millis, command: Command) -> Self {
        let entry = Entry::Command(command);
        Self { at, entry }
    }

    /// Appends the record's bytes to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(FORMAT_VERSION);
        match &self.entry {
            Entry::Command(command) => {
                out.push(kind_of(command));
                put_varint(out, self.at);
                put_command(out, command);
            }
            Entry::Tick => {
                out.push(kind::TICK);
                put_varint(out, self.at);
            }
            Entry::Over { ended_ms } => {
                out.push(kind::OVER);
                put_varint(out, self.at);
                put_varint(out, *ended_ms);
            }
            Entry::ResultSettled => {
                out.push(kind::RESULT_SETTLED);
                put_varint(out, self.at);
            }
        }
    }

    /// Reads one record that fills `bytes` exactly.
    ///
    /// # Errors
    /// When the bytes are no record of a format this build knows.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut input = Reader(bytes);
        let version = input.byte()?;
        if version != FORMAT_VERSION {
            return Err(DecodeError::UnknownVersion { found: version });
        }
        let kind = input.byte()?;
        let at = input.varint()?;
        let entry = match kind {
            kind::TICK => Entry::Tick,
            kind::OVER => Entry::Over {
                ended_ms: input.varint()?,
            },
            kind::RESULT_SETTLED => Entry::ResultSettled,
            kind => Entry::Command(input.command(kind)?),
        };
        if input.0.is_empty() {
            Ok(Self { at, entry })
        } else {
            Err(DecodeError::Trailing { bytes: input.0.len() })
        }
    }
}

fn put_command(out: &mut Vec<u8>, command: &Command) {
    match command {
        Command::Join { name } => put_string(out, name),
        Command::Present { player }
        | Command::Absent { player }
        | Command::Leave { player }
        | Command::Kick { player } => put_varint(out, u64::from(player.0)),
        Command::Rename { player, name } | Command::HostRename { player, name } => {
            put_varint(out, u64::from(player.0));
            put_string(out, name);
        }
        Command::Lock { on } => out.push(u8::from(*on)),
        Command::Answer {
            player,
            question,
            choices,
        } => {
            put_varint(out, u64::from(player.0));
            put_varint(out, u64::from(question.0));
            put_varint(out, u64::from(choices.0));
        }
        Command::DeadlineReached { question }
        | Command::Close { question }
        | Command::Skip { question }
        | Command::Next { question } => put_varint(out, u64::from(question.0)),
        Command::Start | Command::End => {}
    }
}

fn kind_of(command: &Command) -> u8 {
    match command {
        Command::Join { .. } => kind::JOIN,
        Command::Present { .. } => kind::PRESENT,
        Command::Absent { .. } => kind::ABSENT,
        Command::Leave { .. } => kind::LEAVE,
        Command::Rename { .. } => kind::RENAME,
        Command::HostRename { .. } => kind::HOST_RENAME,
        Command::Kick { .. } => kind::KICK,
        Command::Lock { .. } => kind::LOCK,
        Command::Start => kind::START,
        Command::Answer { .. } => kind::ANSWER,
        Command::DeadlineReached { .. } => kind::DEADLINE_REACHED,
        Command::Close { .. } => kind::CLOSE,
        Command::Skip { .. } => kind::SKIP,
        Command::Next { .. } => kind::NEXT,
        Command::End => kind::END,
    }
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            out.push(low & 0x7f);
            return;
        }
        out.push(low | 0x80);
    }
}

fn put_string(out: &mut Vec<u8>, text: &str) {
    put_varint(out, u64::try_from(text.len()).unwrap_or(u64::MAX));
    out.extend_from_slice(text.as_bytes());
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn command(&mut self, kind: u8) -> Result<Command, DecodeError> {
        Ok(match kind {
            kind::JOIN => Command::Join { name: self.string()? },
            kind::PRESENT => Command::Present {
                player: self.player()?,
            },
            kind::ABSENT => Command::Absent {
                player: self.player()?,
            },
            kind::LEAVE => Command::Leave {
                player: self.player()?,
            },
            kind::RENAME => Command::Rename {
                player: self.player()?,
                name: self.string()?,
            },
            kind::HOST_RENAME => Command::HostRename {
                player: self.player()?,
                name: self.string()?,
            },
            kind::KICK => Command::Kick {
                player: self.player()?,
            },
            kind::LOCK => Command::Lock { on: self.flag()? },
            kind::START => Command::Start,
            kind::ANSWER => Command::Answer {
                player: self.player()?,
                question: self.question()?,
                choices: ChoiceSet(self.small()?),
            },
            kind::DEADLINE_REACHED => Command::DeadlineReached {
                question: self.question()?,
            },
            kind::CLOSE => Command::Close {
                question: self.question()?,
            },
            kind::SKIP => Command::Skip {
                question: self.question()?,
            },
            kind::NEXT => Command::Next {
                question: self.question()?,
            },
            kind::END => Command::End,
            found => return Err(DecodeError::UnknownKind { found }),
        })
    }

    fn byte(&mut self) -> Result<u8, DecodeError> {
        let (first, rest) = self.0.split_first().ok_or(DecodeError::Short)?;
        self.0 = rest;
        Ok(*first)
    }

    fn varint(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if (bits << shift) >> shift != bits {
                return Err(DecodeError::Field);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(DecodeError::Field)
    }

    fn small(&mut self) -> Result<u16, DecodeError> {
        u16::try_from(self.varint()?).map_err(|_| DecodeError::Field)
    }

    fn player(&mut self) -> Result<PlayerId, DecodeError> {
        u32::try_from(self.varint()?)
            .map(PlayerId)
            .map_err(|_| DecodeError::Field)
    }

    fn question(&mut self) -> Result<QuestionIndex, DecodeError> {
        self.small().map(QuestionIndex)
    }

    fn flag(&mut self) -> Result<bool, DecodeError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DecodeError::Field),
        }
    }

    fn string(&mut self) -> Result<String, DecodeError> {
        let len = usize::try_from(self.varint()?).map_err(|_| DecodeError::Field)?;
        if len > STRING_BYTES_MAX {
            return Err(DecodeError::Field);
        }
        let (text, rest) = self.0.split_at_checked(len).ok_or(DecodeError::Short)?;
        self.0 = rest;
        std::str::from_utf8(text)
            .map(str::to_owned)
            .map_err(|_| DecodeError::Field)
    }
}

#[cfg(test)]
mod tests;
