//! What befalls a process, and when that is over.

/// For this long a process stands still, in milliseconds: twice the life of a lease, so that others have taken its games.
const FREEZE_MS: u64 = 10_000;

/// A blow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blow {
    /// SIGKILL, and whoever looks after the process starts it again.
    Kill,
    /// SIGKILL, and it is not started again before everybody is back at another server.
    KillForGood,
    /// SIGSTOP, and SIGCONT after 10 s: a zombie that does not know that its games were taken.
    Freeze,
    /// Every packet to and from it is dropped until everybody is back at another server.
    Cut,
    /// SIGTERM, to all processes but the store, one after the other.
    Stop,
}

/// When a blow is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mending {
    /// As soon as the process is there again.
    AtOnce,
    /// So many milliseconds after it.
    After(u64),
    /// When everybody is back without the process.
    OnceBack,
}

impl Blow {
    /// When it is over.
    #[must_use]
    pub const fn mending(self) -> Mending {
        match self {
            Self::Kill | Self::Stop => Mending::AtOnce,
            Self::Freeze => Mending::After(FREEZE_MS),
            Self::KillForGood | Self::Cut => Mending::OnceBack,
        }
    }

    /// Whether sockets do not end by it, so that clients have to notice.
    #[must_use]
    pub const fn is_silent(self) -> bool {
        match self {
            Self::Freeze | Self::Cut => true,
            Self::Kill | Self::KillForGood | Self::Stop => false,
        }
    }

    /// Whether members are away from the blow on, and not only from the moment they notice. Who is closed by a server that stops
    /// was served until then; and who comes back to the process itself waits for it to be started, which is told apart.
    #[must_use]
    pub const fn counts_from_the_blow(self) -> bool {
        match self {
            Self::KillForGood | Self::Freeze | Self::Cut => true,
            Self::Kill | Self::Stop => false,
        }
    }

    /// Whether the processes are struck one after the other, and not at random: where the games go to another server, the one
    /// struck before has none.
    #[must_use]
    pub const fn goes_round(self) -> bool {
        match self {
            Self::KillForGood | Self::Freeze | Self::Cut | Self::Stop => true,
            Self::Kill => false,
        }
    }

    /// What several of them are called in results.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Kill | Self::KillForGood => "kills",
            Self::Freeze => "freezes",
            Self::Cut => "cuts",
            Self::Stop => "restarts",
        }
    }

    /// The name of its scenario in results.
    #[must_use]
    pub const fn scenario(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::KillForGood => "kill without restart",
            Self::Freeze => "freeze",
            Self::Cut => "cut",
            Self::Stop => "rolling",
        }
    }
}
