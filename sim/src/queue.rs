//! What is going to happen, by time; of two events of one moment the one that was planned first comes first.

use std::collections::BTreeMap;

use bytes::Bytes;
use game_server::LogError;
use protocol::result::GameResult;
use tokio::sync::oneshot;

use crate::Millis;
use crate::chaos::Fault;
use crate::class::{ClientId, Timer};
use crate::store::Said;
use crate::wire::{Heard, LineId};

/// A call to the store, counted from the beginning of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallId(pub(crate) u64);

/// Something that is going to happen.
pub(crate) enum Event {
    /// A client opens its page.
    Arrive { client: ClientId },
    /// A client's timer fires.
    Timer { client: ClientId, timer: Timer },
    /// A connection with its first bytes reaches the server.
    Connects { line: LineId, bytes: Bytes },
    /// Bytes reach the server; an answer to this question, if it is one.
    Arrives {
        line: LineId,
        bytes: Bytes,
        answers: Option<u64>,
    },
    /// The end of a connection reaches the server.
    Ends { line: LineId },
    /// Something reaches a client.
    Hears { line: LineId, heard: Heard },
    /// The end of a connection reaches a client.
    HearsEnd { line: LineId },
    /// A call reaches the store.
    StoreDoes { call: CallId },
    /// A caller learns what became of its call.
    StoreAnswers {
        call: CallId,
        answer: Result<Said, LogError>,
    },
    /// A result reaches the API.
    ApiDoes {
        result: Box<GameResult>,
        reply: oneshot::Sender<bool>,
    },
    /// Something goes wrong.
    Fault(Fault),
    /// The store is well again, if it is still in the trouble of that number.
    Clears { trouble: u64 },
    /// The API is back.
    ApiBack,
    /// A process starts.
    Boot,
    /// The process is killed now, if what was waited for before a kill has not come.
    KillAnyway { kill: u64 },
}

/// All that is planned.
#[derive(Default)]
pub(crate) struct Queue {
    events: BTreeMap<(Millis, u64), Event>,
    planned: u64,
}

impl Queue {
    pub(crate) fn plan(&mut self, at: Millis, event: Event) {
        self.planned += 1;
        self.events.insert((at, self.planned), event);
    }

    /// When the next event is due.
    pub(crate) fn next_due(&self) -> Option<Millis> {
        self.events.keys().next().map(|(at, _)| *at)
    }

    /// The next event.
    pub(crate) fn pop(&mut self) -> Option<Event> {
        self.events.pop_first().map(|(_, event)| event)
    }

    /// Takes out what `is_meant` says, in order.
    pub(crate) fn extract(&mut self, mut is_meant: impl FnMut(&Event) -> bool) -> Vec<(Millis, Event)> {
        let keys: Vec<_> = self
            .events
            .iter()
            .filter(|(_, event)| is_meant(event))
            .map(|(key, _)| *key)
            .collect();
        keys.into_iter()
            .filter_map(|key| self.events.remove(&key).map(|event| (key.0, event)))
            .collect()
    }
}
