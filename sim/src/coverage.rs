//! What a run has really met, so that a test can assert that the simulation is not blind.

use std::collections::BTreeMap;

/// Something worth counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    /// A server was killed.
    Kill,
    /// A server was killed while an answer was on its way to it, or unanswered within it.
    KillWithAnswersInFlight,
    /// A server was killed between the sending of an append and the ack of what is in it.
    KillBetweenAppendAndAck,
    /// A server was killed when an append was kept, and did not know it yet.
    KillAfterAppendKept,
    /// A server was killed while a snapshot was on its way.
    KillDuringSnapshot,
    /// A server was killed while it took a game up.
    KillDuringRestore,
    /// A game was taken up from the store.
    Restore,
    /// A game was taken up in the middle of a question.
    RestoreOfOpenQuestion,
    /// A server stopped in order.
    Stop,
    /// A call to the store got lost on its way there.
    RequestLost,
    /// A write was kept and its caller did not learn of it.
    AnswerLost,
    /// A write reached the store when its caller had given up.
    LateWrite,
    /// A write of a killed server reached the store when another one had the game.
    WriteOfTheDead,
    /// An append whose records the store had already, at least in part.
    RepeatedAppend,
    /// A snapshot that did not cover the journal.
    StaleSnapshot,
    /// An append was cut off in the middle.
    TornAppend,
    /// The store refused a write for want of memory.
    OutOfMemory,
    /// The store could not be reached.
    Unreachable,
    /// The store lost its data while the server lived.
    Emptied,
    /// The game was written again after that.
    Rewritten,
    /// The store went back in time.
    WentBack,
    /// The same, and whoever had the game died of it.
    WentBackWithHolder,
    /// Its holder wrote the game again after that.
    AssertedByHolder,
    /// Nobody had the game who knew all of it, and it went on from what was left.
    Rewound,
    /// An answer that was acked as saved was lost so.
    AckedAnswerLost,
    /// A result was refused because a higher epoch was reserved.
    ResultSuperseded,
    /// The store lost its data and the server died: the game is lost.
    GameLost,
    /// An ack said that its answer was not saved yet.
    AckUnsaved,
    /// A frame was marked as not saved.
    FrameUnsaved,
    /// An ack said that its answer was saved, after one that it was not.
    AckSavedLater,
    /// A client sent an answer again after it reconnected.
    AnswerResent,
    /// An answer was refused.
    AnswerRefused,
    /// The result was sent more than once.
    ResultRepeated,
    /// A server was killed, and not started again.
    KillWithoutRestart,
    /// A server was killed when it had given a game back, and did not know it yet.
    KillDuringHandOver,
    /// A game was claimed that another process had before.
    Takeover,
    /// The same in the middle of a question.
    TakeoverOfOpenQuestion,
    /// Of two servers that claimed a game one was beaten.
    Beaten,
    /// A write was refused, since the game is another server's.
    WriteFenced,
    /// A server learned that its game is another one's.
    Fenced,
    /// A server gave a game back.
    GivenBack,
    /// A server stood still.
    Pause,
    /// A server went on when another one had its game.
    Zombie,
    /// A server joined the others in the middle of a class.
    Join,
    /// A server was cut off from the store.
    CutFromStore,
    /// A server was cut off from another one.
    CutFromServer,
    /// A server was cut off from the proxy.
    CutFromProxy,
    /// A client had no network for a while.
    Offline,
    /// A machine's clock was set wrong.
    ClockStep,
    /// A server wanted a connection to another one.
    PeerAsked,
    /// The proxy was told another server.
    Misdirected,
    /// The proxy was told a wrong one.
    WrongHint,
    /// The owner of an ended game died when everybody was gone.
    Orphan,
    /// Another server took up an ended game.
    OrphanTaken,
    /// A class among several servers, behind our proxy.
    BehindProxy,
    /// A class among several servers, behind a round robin.
    BehindRoundRobin,
    /// A class was played to its end.
    ClassEnded,
}

/// How often each was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage(BTreeMap<Seen, u64>);

impl Coverage {
    pub(crate) fn saw(&mut self, what: Seen) {
        *self.0.entry(what).or_default() += 1;
    }

    /// How often this was seen.
    #[must_use]
    pub fn of(&self, what: Seen) -> u64 {
        self.0.get(&what).copied().unwrap_or_default()
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: &Self) {
        for (what, count) in &other.0 {
            *self.0.entry(*what).or_default() += count;
        }
    }

    /// Every count.
    pub fn iter(&self) -> impl Iterator<Item = (Seen, u64)> {
        self.0.iter().map(|(what, count)| (*what, *count))
    }
}
