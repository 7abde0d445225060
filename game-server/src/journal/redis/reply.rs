//! Answers of the functions as what they mean.

use std::collections::VecDeque;

use fred::types::Resp3Frame;
use protocol::ids::GameId;
use uuid::Uuid;

use crate::journal::{ClaimId, LogError, Owner, RecordNumber, ServerId, StoreId, Stored, Tail, Written};

/// What is left to read of an answer.
pub(super) struct Reply {
    what: &'static str,
    parts: VecDeque<Resp3Frame>,
}

impl Reply {
    /// Takes the answer apart; `what` it is about, for errors.
    pub(super) fn new(what: &'static str, frame: Resp3Frame) -> Result<Self, LogError> {
        let Resp3Frame::Array { data, .. } = frame else {
            return Err(LogError::Corrupt { what });
        };
        Ok(Self {
            what,
            parts: data.into(),
        })
    }

    /// That it is not what it should be.
    pub(super) fn corrupt(&self) -> LogError {
        LogError::Corrupt { what: self.what }
    }

    fn next(&mut self) -> Result<Resp3Frame, LogError> {
        self.parts
            .pop_front()
            .ok_or(LogError::Corrupt { what: self.what })
    }

    /// The next part as bytes.
    pub(super) fn bytes(&mut self) -> Result<Vec<u8>, LogError> {
        let part = self.next()?;
        string(&part).map(<[u8]>::to_vec).ok_or_else(|| self.corrupt())
    }

    /// The next part as text.
    pub(super) fn text(&mut self) -> Result<String, LogError> {
        String::from_utf8(self.bytes()?).map_err(|_| self.corrupt())
    }

    /// The next part as a list.
    pub(super) fn list(&mut self) -> Result<Self, LogError> {
        let part = self.next()?;
        Self::new(self.what, part)
    }

    /// How many parts are left.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    fn uuid(&mut self) -> Result<Uuid, LogError> {
        Uuid::from_slice(&self.bytes()?).map_err(|_| self.corrupt())
    }

    /// A number that Redis keeps as decimal text, or one that a function made.
    pub(super) fn number(&mut self) -> Result<RecordNumber, LogError> {
        let part = self.next()?;
        let number = if let Resp3Frame::Number { data, .. } = &part {
            u64::try_from(*data).ok()
        } else {
            let text = string(&part).and_then(|text| std::str::from_utf8(text).ok());
            text.and_then(|text| text.parse().ok())
        };
        number.map(RecordNumber).ok_or_else(|| self.corrupt())
    }

    /// An owner record, which ends with the journal's last number and the run under which it was written.
    pub(super) fn tail(&mut self) -> Result<Tail, LogError> {
        let game = GameId(self.uuid()?);
        let create_key = self.text()?;
        let name = self.text()?;
        let incarnation = self.uuid()?;
        let epoch = self.text()?.parse().map_err(|_| self.corrupt())?;
        let claim = ClaimId(self.uuid()?);
        let server = (!incarnation.is_nil()).then_some(ServerId { name, incarnation });
        Ok(Tail {
            owner: Owner {
                game,
                create_key,
                server,
                epoch,
                claim,
            },
            last: self.number()?,
            store: StoreId::new(self.text()?),
        })
    }

    /// The owner alone.
    pub(super) fn owner(&mut self) -> Result<Owner, LogError> {
        Ok(self.tail()?.owner)
    }

    /// Everything about a game.
    pub(super) fn stored(&mut self) -> Result<Stored, LogError> {
        let Tail { owner, last, .. } = self.tail()?;
        Ok(Stored {
            owner,
            facts: self.bytes()?,
            snapshot: self.bytes()?,
            through: self.number()?,
            journal: self.bytes()?,
            last,
        })
    }

    /// What became of a write. An answer that this build does not know is an error.
    pub(super) fn written(&mut self) -> Result<Written, LogError> {
        match self.text()?.as_str() {
            "saved" => Ok(Written::Saved),
            "fenced" => Ok(Written::Fenced),
            "missing" => Ok(Written::Missing),
            "refused" => Ok(Written::Refused { last: self.number()? }),
            "full" => Err(LogError::NotDone(Box::new(JournalFull))),
            _ => Err(self.corrupt()),
        }
    }
}

/// The bytes of a frame that is a string.
pub(super) fn string(frame: &Resp3Frame) -> Option<&[u8]> {
    if let Resp3Frame::BlobString { data, .. } | Resp3Frame::SimpleString { data, .. } = frame {
        Some(data)
    } else {
        None
    }
}

/// Whether an answer says that there is no such game.
pub(super) fn says_missing(frame: &Resp3Frame) -> bool {
    let Resp3Frame::Array { data, .. } = frame else {
        return false;
    };
    data.first().and_then(string) == Some(b"missing".as_slice())
}

/// The journal has reached its bound of 1 MiB. A snapshot makes room.
#[derive(Debug, thiserror::Error)]
#[error("the journal is full until the next snapshot")]
struct JournalFull;
