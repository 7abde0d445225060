//! What is going to happen, by time; of two events of one moment the one that was planned first comes first.

use std::collections::BTreeMap;

use bytes::Bytes;
use game_server::LogError;
use protocol::result::GameResult;
use tokio::sync::oneshot;

use crate::Millis;
use crate::api::Taken;
use crate::chaos::Fault;
use crate::class::{ClientId, Timer};
use crate::emission::Dialled;
use crate::store::Said;
use crate::wire::{Heard, LineId, ServerEnd, Side, WireId};

/// A call to the store, counted from the beginning of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallId(pub(crate) u64);

/// Something that is going to happen.
pub(crate) enum Event {
    /// A client opens its page.
    Arrive { client: ClientId },
    /// A client's timer fires.
    Timer { client: ClientId, timer: Timer },
    /// A connection with its request reaches the proxy, or the server if there is no proxy.
    Connects { line: LineId },
    /// The proxy's attempt of that number at a line's request reaches a server.
    Asks {
        line: LineId,
        attempt: u64,
        server: usize,
    },
    /// That attempt fails.
    AskFails { line: LineId, attempt: u64, why: Fails },
    /// The answer to that attempt reaches the proxy.
    Told {
        line: LineId,
        attempt: u64,
        heard: Heard,
    },
    /// A connection of a server reaches another one.
    Dials {
        from: usize,
        run: u64,
        to: usize,
        reply: Dialled,
    },
    /// A server learns what became of its connection; none when it was refused.
    DialAnswered {
        run: u64,
        end: Option<(WireId, ServerEnd)>,
        reply: Dialled,
    },
    /// Bytes of another server reach that end of a connection.
    PeerArrives { wire: WireId, side: Side, bytes: Bytes },
    /// The end of a connection reaches that end of it.
    PeerEnds { wire: WireId, side: Side },
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
        epoch: u32,
        reply: oneshot::Sender<Taken>,
        server: usize,
    },
    /// Something goes wrong.
    Fault(Fault),
    /// The store is well again, if it is still in the trouble of that number.
    Clears { trouble: u64 },
    /// The API is back.
    ApiBack,
    /// A process starts.
    Boot { server: usize },
    /// A process that stood still goes on, if it is still in the pause of that number.
    Continues { server: usize, pause: u64 },
    /// A server can reach the store again, unless it is cut off anew.
    Reaches { server: usize },
    /// A process is asked to stop once more.
    Hurries { server: usize, run: u64 },
    /// The process is killed now, if what was waited for before a kill has not come.
    KillAnyway { kill: u64 },
}

/// Why a proxy's attempt fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fails {
    /// Nobody listens there, or nothing gets there.
    Unreachable,
    /// The connection broke before an answer came.
    Broken,
    /// No answer came in time.
    Late,
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
