//! Faults seen during a run: counted by kind, with a few examples in words.

use std::collections::BTreeMap;

use super::sequence::SequenceFault;

/// Examples kept, enough to see a pattern; the counts are complete.
const EXAMPLES_MAX: usize = 20;

/// What went wrong at a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    /// A socket could not be opened.
    Connect,
    /// A socket could not be opened because this machine has no source port left. The generator's fault.
    NoPort,
    /// A socket could not be opened because this process has no descriptor left. The generator's fault.
    NoDescriptor,
    /// The handshake was refused or broken.
    Handshake,
    /// A socket ended before the game did.
    Lost,
    /// The framing was broken.
    Framing,
    /// A frame is not JSON or lacks a field it must have.
    Malformed,
    /// A join was refused.
    JoinRefused,
    /// A player that was here before was not let in again.
    ResumeRefused,
    /// An answer was refused while its question was open.
    AnswerRefused,
    /// A frame other than an answer was refused.
    Refused,
    /// A sequence number is missing.
    Gap,
    /// A sequence number came twice.
    Duplicate,
    /// A sequence number came after a later one.
    Reordered,
    /// A sequence number came before any state.
    Unverified,
    /// A state covers less than what the same epoch had shown.
    WentBack,
    /// A question differs from the quiz.
    WrongQuestion,
    /// A frame to a player carries a solution before its time, or other players' data.
    Leak,
    /// An outcome contradicts what the player did or the points before.
    WrongOutcome,
    /// An ack that belongs to no answer.
    StrayAck,
    /// A name differs from the one joined with.
    WrongName,
    /// Report, podium and phones of a class do not say the same.
    Disagreement,
    /// A host's click showed nothing.
    NoEffect,
}

impl From<super::SequenceFault> for FaultKind {
    fn from(fault: super::SequenceFault) -> Self {
        match fault {
            super::SequenceFault::Gap { .. } => Self::Gap,
            super::SequenceFault::Duplicate => Self::Duplicate,
            super::SequenceFault::Late { .. } => Self::Reordered,
            super::SequenceFault::Unverified => Self::Unverified,
            super::SequenceFault::WentBack { .. } => Self::WentBack,
        }
    }
}

impl FaultKind {
    /// What a connect failed of: whose fault it is depends on it.
    #[must_use]
    pub fn of_connect(why: &std::io::Error) -> Self {
        use nix::errno::Errno;
        match why.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EADDRNOTAVAIL) => Self::NoPort,
            Some(Errno::EMFILE | Errno::ENFILE) => Self::NoDescriptor,
            Some(_) | None => Self::Connect,
        }
    }

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::NoPort => "no_port",
            Self::NoDescriptor => "no_descriptor",
            Self::Handshake => "handshake",
            Self::Lost => "lost",
            Self::Framing => "framing",
            Self::Malformed => "malformed",
            Self::JoinRefused => "join_refused",
            Self::ResumeRefused => "resume_refused",
            Self::AnswerRefused => "answer_refused",
            Self::Refused => "refused",
            Self::Gap => "gap",
            Self::Duplicate => "duplicate",
            Self::Reordered => "reordered",
            Self::Unverified => "unverified",
            Self::WentBack => "went_back",
            Self::WrongQuestion => "wrong_question",
            Self::Leak => "leak",
            Self::WrongOutcome => "wrong_outcome",
            Self::StrayAck => "stray_ack",
            Self::WrongName => "wrong_name",
            Self::Disagreement => "disagreement",
            Self::NoEffect => "no_effect",
        }
    }
}

/// Counts and examples.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    counts: BTreeMap<FaultKind, u64>,
    examples: Vec<String>,
}

impl Faults {
    /// Counts one; `describe` is only asked while examples are wanted.
    pub fn add(&mut self, kind: FaultKind, describe: impl FnOnce() -> String) {
        *self.counts.entry(kind).or_insert(0) += 1;
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(format!("{}: {}", kind.name(), describe()));
        }
    }

    /// Counts a fault of the sequence that `who` saw. What fills a gap was not lost: its gap is taken back, so that a frame out
    /// of order is one fault and not two.
    pub fn add_sequence(&mut self, fault: SequenceFault, who: &str, what: impl FnOnce() -> String) {
        if fault == (SequenceFault::Late { fills: true }) {
            let gap = FaultKind::Gap;
            if let Some(gaps) = self.counts.get_mut(&gap) {
                *gaps = gaps.saturating_sub(1);
            }
            self.counts.retain(|_, n| *n > 0);
            let begin = format!("{}: {who}: ", gap.name());
            if let Some(place) = self.examples.iter().rposition(|told| told.starts_with(&begin)) {
                self.examples.remove(place);
            }
        }
        self.add(FaultKind::from(fault), || format!("{who}: {}", what()));
    }

    /// How many of a kind.
    #[must_use]
    pub fn count(&self, kind: FaultKind) -> u64 {
        self.counts.get(&kind).copied().unwrap_or(0)
    }

    /// How many of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Counts by kind, in the order of the kinds.
    pub fn counts(&self) -> impl Iterator<Item = (FaultKind, u64)> + '_ {
        self.counts.iter().map(|(&kind, &count)| (kind, count))
    }

    /// The first examples.
    #[must_use]
    pub fn examples(&self) -> &[String] {
        &self.examples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_out_of_order_is_one_fault() {
        let mut faults = Faults::default();
        let mut see = |fault, who: &str| faults.add_sequence(fault, who, || "result".to_owned());
        see(SequenceFault::Gap { missed: 1 }, "player 1");
        see(SequenceFault::Gap { missed: 1 }, "player 2");
        see(SequenceFault::Late { fills: true }, "player 1");
        assert_eq!(
            faults.examples(),
            ["gap: player 2: result", "reordered: player 1: result"]
        );
        assert_eq!(faults.total(), 2);
        faults.add_sequence(SequenceFault::Late { fills: true }, "player 2", String::new);
        assert_eq!((faults.count(FaultKind::Gap), faults.counts().count()), (0, 1));
    }

    #[test]
    fn counts_are_complete_and_examples_are_few() {
        let mut faults = Faults::default();
        for i in 0..100 {
            faults.add(FaultKind::Gap, || format!("player {i}"));
        }
        faults.add(FaultKind::Leak, || "never described".to_owned());
        assert_eq!(
            (
                faults.count(FaultKind::Gap),
                faults.total(),
                faults.examples().len()
            ),
            (100, 101, 20)
        );
        assert_eq!(faults.examples()[0], "gap: player 0");
        assert_eq!(
            faults.counts().map(|(k, _)| k.name()).collect::<Vec<_>>(),
            ["gap", "leak"]
        );
    }
}
