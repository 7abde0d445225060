//! How sessions talk to a game: a bounded mailbox, tried and never waited for, and a glance at what the game shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use protocol::host::HostCommand;
use protocol::ids::{GameCode, GameId, PlayerId, TeacherId};
use protocol::player::{Phase, PlayerCommand};
use protocol::timeline::GameTimeline;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::journal::ClaimId;
use crate::registry::Held;
use crate::session::outbox::Outbox;
use crate::tokens::Pass;

/// Messages that may wait for a game: two from everybody in the largest room. At 2 µs each the last one waits 2 ms.
pub(crate) const MAILBOX_MAX: usize = 1_024;

/// A message to a game. `socket` is the sender's outbox and its identity.
#[derive(Debug)]
pub(crate) enum Message {
    /// A socket that is nobody yet wants a seat.
    Open {
        socket: Arc<Outbox>,
        want: Want,
        reply: oneshot::Sender<Option<Seat>>,
    },
    /// A frame of a seated player.
    Player {
        socket: Arc<Outbox>,
        player: PlayerId,
        command: PlayerCommand,
    },
    /// A frame of a seated host.
    Host {
        socket: Arc<Outbox>,
        command: HostCommand,
    },
    /// A seated socket is gone.
    Gone { socket: Arc<Outbox>, seat: Seat },
    /// The server has a reason to doubt that the game is its own.
    Doubt,
    /// The server is to go: the game goes over to another one at its next quiet moment, or at this time.
    HandOver(Instant),
    /// Somebody asks what happened to the game.
    Timeline(oneshot::Sender<GameTimeline>),
    /// The process stops: everybody goes elsewhere.
    Stop,
}

/// What a socket's first frame asks for, its credentials verified.
#[derive(Debug)]
pub(crate) enum Want {
    /// To join under this name.
    Join { name: String },
    /// To go on as this player.
    Resume { pass: Pass },
    /// To be a host.
    Host,
    /// To be a read-only screen.
    Screen,
}

/// What a socket is in a game. `None` in a reply means refused; the frame that says why is in the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seat {
    Player(PlayerId),
    Host,
    Screen,
}

/// Why a message did not reach a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendError {
    /// The mailbox is full; try again.
    Busy,
    /// The game is gone from this process.
    Stopped,
}

/// A live game, for whoever is not its actor.
#[derive(Debug, Clone)]
pub(crate) struct GameHandle(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    mailbox: mpsc::Sender<Message>,
    shown: Arc<ShownCell>,
    game: GameId,
    code: GameCode,
    claim: ClaimId,
    teacher: TeacherId,
    players_max: u32,
}

impl GameHandle {
    pub(crate) fn new(
        mailbox: mpsc::Sender<Message>,
        shown: Arc<ShownCell>,
        facts: &crate::facts::Facts,
        claim: ClaimId,
    ) -> Self {
        Self(Arc::new(Inner {
            mailbox,
            shown,
            game: facts.game,
            code: facts.code,
            claim,
            teacher: facts.teacher,
            players_max: facts.players_max,
        }))
    }

    /// Hands a message over, or says why not. Never waits.
    pub(crate) fn try_send(&self, message: Message) -> Result<(), SendError> {
        self.0.mailbox.try_send(message).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => SendError::Busy,
            mpsc::error::TrySendError::Closed(_) => SendError::Stopped,
        })
    }

    /// Says that a seated socket is gone. Waits for room, since nothing else would tell the game; to be called by the
    /// session's own task as its last act.
    pub(crate) async fn gone(&self, socket: Arc<Outbox>, seat: Seat) {
        // An error means that the game is gone as well.
        let _gone_too = self.0.mailbox.send(Message::Gone { socket, seat }).await;
    }

    /// Wakes the game because there is a reason to doubt. One with a full mailbox is awake.
    pub(crate) fn nudge(&self) {
        let _awake_or_gone = self.0.mailbox.try_send(Message::Doubt);
    }

    /// Asks the game to go over to another server by `deadline`. A full mailbox is asked again.
    pub(crate) fn hand_over(&self, deadline: Instant) {
        let _busy_or_gone = self.0.mailbox.try_send(Message::HandOver(deadline));
    }

    /// Tells the game that the process stops.
    pub(crate) async fn stop(&self) {
        // An error means that the game is gone already.
        let _gone_too = self.0.mailbox.send(Message::Stop).await;
    }

    /// The same to a game that has just begun, whose mailbox has room.
    pub(crate) fn stop_at_once(&self) {
        let _busy_or_gone = self.0.mailbox.try_send(Message::Stop);
    }

    pub(crate) fn shown(&self) -> Shown {
        self.0.shown.get()
    }

    pub(crate) fn game(&self) -> GameId {
        self.0.game
    }

    pub(crate) fn code(&self) -> GameCode {
        self.0.code
    }

    /// Under which claim this server has the game.
    pub(crate) fn held(&self) -> Held {
        Held {
            claim: self.0.claim,
            epoch: self.0.shown.epoch(),
        }
    }

    pub(crate) fn teacher(&self) -> TeacherId {
        self.0.teacher
    }

    pub(crate) fn players_max(&self) -> u32 {
        self.0.players_max
    }
}

/// What a join page and a `pong` need, as far as clients have been told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) seq: u32,
    pub(crate) players: u16,
    pub(crate) phase: Phase,
    pub(crate) locked: bool,
}

/// A [`Shown`] in one word, so that a reader never sees half of a change; and the epoch, for other servers.
#[derive(Debug)]
pub(crate) struct ShownCell {
    word: AtomicU64,
    epoch: AtomicU32,
}

impl ShownCell {
    pub(crate) fn new(shown: Shown, epoch: u32) -> Self {
        Self {
            word: AtomicU64::new(pack(shown)),
            epoch: AtomicU32::new(epoch),
        }
    }

    pub(crate) fn set(&self, shown: Shown) {
        self.word.store(pack(shown), Ordering::Release);
    }

    pub(crate) fn get(&self) -> Shown {
        unpack(self.word.load(Ordering::Acquire))
    }

    pub(crate) fn set_epoch(&self, epoch: u32) {
        self.epoch.store(epoch, Ordering::Release);
    }

    pub(crate) fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Acquire)
    }
}

fn pack(shown: Shown) -> u64 {
    let phase: u8 = match shown.phase {
        Phase::Lobby => 0,
        Phase::Question => 1,
        Phase::Results => 2,
        Phase::Podium => 3,
        Phase::Ended => 4,
    };
    let [s0, s1, s2, s3] = shown.seq.to_le_bytes();
    let [p0, p1] = shown.players.to_le_bytes();
    u64::from_le_bytes([s0, s1, s2, s3, p0, p1, phase, u8::from(shown.locked)])
}

fn unpack(word: u64) -> Shown {
    let [s0, s1, s2, s3, p0, p1, phase, locked] = word.to_le_bytes();
    Shown {
        seq: u32::from_le_bytes([s0, s1, s2, s3]),
        players: u16::from_le_bytes([p0, p1]),
        phase: match phase {
            0 => Phase::Lobby,
            1 => Phase::Question,
            2 => Phase::Results,
            3 => Phase::Podium,
            _ => Phase::Ended,
        },
        locked: locked != 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glance_survives_its_word() {
        for phase in [
            Phase::Lobby,
            Phase::Question,
            Phase::Results,
            Phase::Podium,
            Phase::Ended,
        ] {
            for locked in [false, true] {
                let shown = Shown {
                    seq: 0x1234_5678,
                    players: 500,
                    phase,
                    locked,
                };
                assert_eq!(ShownCell::new(shown, 1).get(), shown);
            }
        }
    }
}
