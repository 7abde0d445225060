//! One call to Redis on its way, and what can become of it.

use fred::types::{Resp3Frame, Value};
use thiserror::Error;
use tokio::sync::oneshot;

use crate::journal::LogError;

/// A command and who waits for its answer.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) command: &'static str,
    pub(super) args: Vec<Value>,
    /// The only connection that it may take, by number.
    pub(super) connection: Option<u64>,
    pub(super) answer: oneshot::Sender<Result<Resp3Frame, CallError>>,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub(super) enum CallError {
    /// There is no connection; the call was not sent.
    #[error("Redis is away")]
    Away,
    /// It was meant for an earlier connection, and not sent.
    #[error("Redis is reached by another connection by now")]
    Outlived,
    /// The game is not there, and neither is anything else that was.
    #[error("Redis is not the run that it was")]
    Emptied,
    /// It was not sent.
    #[error("too many calls wait for Redis")]
    Full,
    /// The connection was lost with the call in flight, so it may have happened.
    #[error("the connection to Redis was lost")]
    Lost(#[source] fred::error::Error),
    /// It may happen yet.
    #[error("Redis did not answer in time")]
    TimedOut,
    /// The server is going down, or the connection was lost.
    #[error("the call was abandoned")]
    Abandoned,
    /// Redis answered that it would not do it.
    #[error("Redis answered: {0}")]
    Refused(String),
    /// A key is not what we write there, and nothing was done.
    #[error("Redis answered: {0}")]
    NotOurs(String),
    /// Redis answered with an error which does not say whether something was done.
    #[error("Redis answered: {0}")]
    Failed(String),
}

/// Beginnings of errors after which nothing was done: they are given before a function runs.
const NOT_DONE: [&str; 9] = [
    "OOM ",
    "NOREPLICAS ",
    "READONLY ",
    "LOADING ",
    "MASTERDOWN ",
    "MISCONF ",
    "BUSY ",
    "NOAUTH ",
    "NOPERM ",
];
/// Beginning of the error about a key of another type than ours. Every function touches each key before it writes anything.
const NOT_OURS: &str = "WRONGTYPE ";
/// The answer when the library was never loaded, or was lost with everything else.
const NO_FUNCTION: &str = "ERR Function not found";

impl CallError {
    /// What an error answer means.
    pub(super) fn from_answer(text: &str) -> Self {
        let not_done = text == NO_FUNCTION || NOT_DONE.iter().any(|begin| text.starts_with(begin));
        if not_done {
            Self::Refused(text.to_owned())
        } else if text.starts_with(NOT_OURS) {
            Self::NotOurs(text.to_owned())
        } else {
            Self::Failed(text.to_owned())
        }
    }

    /// Whether the library has to be loaded first.
    pub(super) fn wants_library(&self) -> bool {
        matches!(self, Self::Refused(text) if text == NO_FUNCTION)
    }

    /// Whether another connection may do better: this one is dead, stuck, or leads to a server that is no primary any more.
    pub(super) fn condemns_connection(&self) -> bool {
        match self {
            Self::Lost(_) | Self::TimedOut => true,
            Self::Refused(text) => text.starts_with("READONLY ") || text.starts_with("MASTERDOWN "),
            Self::Away
            | Self::Outlived
            | Self::Emptied
            | Self::Full
            | Self::Abandoned
            | Self::NotOurs(_)
            | Self::Failed(_) => false,
        }
    }
}

impl From<CallError> for LogError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Away
            | CallError::Outlived
            | CallError::Emptied
            | CallError::Full
            | CallError::Refused(_) => Self::NotDone(Box::new(error)),
            CallError::NotOurs(_) => Self::Corrupt { what: "a key" },
            CallError::Lost(_) | CallError::TimedOut | CallError::Abandoned | CallError::Failed(_) => {
                Self::Unavailable(Box::new(error))
            }
        }
    }
}
