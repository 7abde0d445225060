//! What a process sends: the only way from a process into the world, and bytes and answers the only way back.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use game_server::{Duplex, Restoration};
use protocol::result::GameResult;
use tokio::sync::{Notify, oneshot};

use crate::api::Taken;
use crate::store::Call;
use crate::wire::Port;

/// Something that a process has sent.
pub(crate) enum Emission {
    /// Bytes on a connection.
    Bytes { port: Port, bytes: Bytes },
    /// The process closed a connection.
    Hangup { port: Port },
    /// The process wants a connection to another server.
    Dial { address: String, reply: Dialled },
    /// A call to the store.
    Call(Call),
    /// A result for the API.
    Result {
        result: Box<GameResult>,
        epoch: u32,
        reply: oneshot::Sender<Taken>,
    },
    /// The games are taken up; none when the store could not be read.
    Ready { restored: Option<Restoration> },
    /// The first lease is there: the process serves clients.
    Joined,
    /// All games are handed over, or it takes too long: no more connections are taken.
    StopsListening,
    /// A stop in order is done.
    Stopped,
}

/// How a process learns what became of its wish for a connection.
pub(crate) type Dialled = oneshot::Sender<io::Result<Box<dyn Duplex>>>;

/// A process's way out.
#[derive(Clone, Default)]
pub(crate) struct Emissions(Arc<Inner>);

#[derive(Default)]
struct Inner {
    waiting: Mutex<Vec<Emission>>,
    came: Notify,
}

impl Emissions {
    pub(crate) fn push(&self, emission: Emission) {
        self.lock().push(emission);
        self.0.came.notify_one();
    }

    pub(crate) fn take(&self) -> Vec<Emission> {
        std::mem::take(&mut *self.lock())
    }

    /// Waits until something waits to be taken.
    pub(crate) async fn came(&self) {
        while self.lock().is_empty() {
            self.0.came.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Emission>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
