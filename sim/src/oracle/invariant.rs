//! What must hold after every step, by name.

use std::fmt;

macro_rules! invariants {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)*) => {
        /// Something that must hold.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Invariant {
            $($(#[$doc])* $variant,)*
        }

        impl Invariant {
            /// Every one.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

invariants! {
    /// An ack says `saved:true` only of an answer that has been in the store.
    AckAfterAppend = "ack-after-append";
    /// What was acked with `saved:true` is in the store whenever the game is, and in the result.
    AckedAnswersKept = "acked-answers-kept";
    /// A frame without the mark tells nothing that the store does not have.
    UnmarkedIsSaved = "unmarked-is-saved";
    /// No answer is in the result twice.
    NothingDoubled = "nothing-doubled";
    /// Every answer in the result was given by that player, in these words, and not refused.
    NothingInvented = "nothing-invented";
    /// Points, totals and places are those of the rules.
    PointsRight = "points-right";
    /// At the end every answer is saved, or its student was told that it does not count.
    AnswersSettled = "answers-settled";
    /// An epoch that a client hears, or the store keeps, is never lower than one before it.
    EpochsNeverGoBack = "epochs-never-go-back";
    /// A socket hears every number of the public sequence once, or a state that covers it.
    SequenceWhole = "sequence-whole";
    /// The journal holds the records after its snapshot, each once, without a gap.
    JournalInOrder = "journal-in-order";
    /// A snapshot covers everything that was kept before it.
    SnapshotsMonotone = "snapshots-monotone";
    /// A snapshot is what its records make of the game.
    SnapshotIsTheGame = "snapshot-is-the-game";
    /// A restarted server brings back every game that the store has.
    GameComesBack = "game-comes-back";
    /// A client is told that a game is lost exactly when it is.
    LossIsTold = "loss-is-told";
    /// The result leaves when its record is saved, and says the same every time.
    ResultOnce = "result-once";
    /// A change waits for the store 100 ms at most.
    NobodyWaits = "nobody-waits";
    /// A server comes to rest: it does not run without end while no time goes by.
    ComesToRest = "comes-to-rest";
    /// A game is written under the claim that its owner record names, by nobody else.
    OwnerWrites = "owner-writes";
    /// An epoch of a game has one claim.
    OneOwnerAnEpoch = "one-owner-an-epoch";
    /// Nobody claims a game whose owner has it and would say so.
    ClaimsOnlyTheGone = "claims-only-the-gone";
    /// A server that learned that it lost a game tells its clients nothing more of it, and sends them on at once.
    FencedIsSilent = "fenced-is-silent";
    /// The proxy asks for one request no more servers than its rules allow.
    HopsBounded = "hops-bounded";
    /// While nothing is wrong, every client is in touch with its game.
    BackInPlay = "back-in-play";
    /// Every class comes to its end.
    ClassEnds = "class-ends";
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A broken invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which one.
    pub invariant: Invariant,
    /// What was seen.
    pub detail: String,
}
