//! The two things that no test can hold still: the wall clock and randomness. Their only home in this crate; a game's own
//! time is monotonic and comes from its actor.
//!
//! A server is given both as an [`Ambient`], so that the simulation can replay a run byte for byte.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use protocol::ids::GameId;
use rand::Rng;
use uuid::{Builder, Uuid};

use crate::journal::ClaimId;

/// Where wall-clock time and randomness come from.
pub trait Source: Send + Sync + 'static {
    /// Unix time in milliseconds.
    fn unix_ms(&self) -> u64;

    /// 128 random bits.
    fn random(&self) -> u128;
}

/// The wall clock and the randomness of one server. Cheap to clone.
#[derive(Clone)]
pub struct Ambient(Arc<dyn Source>);

/// The machine's own clock and generator.
struct Machine;

impl Source for Machine {
    fn unix_ms(&self) -> u64 {
        unix_ms()
    }

    fn random(&self) -> u128 {
        #[expect(clippy::disallowed_methods, reason = "the home of randomness in this crate")]
        let mut rng = rand::rng();
        rng.random()
    }
}

impl Ambient {
    /// The machine's own, as every server but a simulated one has it.
    #[must_use]
    pub fn machine() -> Self {
        Self::new(Machine)
    }

    /// Another source.
    #[must_use]
    pub fn new(source: impl Source) -> Self {
        Self(Arc::new(source))
    }

    /// Unix time in milliseconds: for "created" and "ended" in results, never for deadlines.
    pub(crate) fn unix_ms(&self) -> u64 {
        self.0.unix_ms()
    }

    /// Unix time in seconds, `after` from now: for the expiry of tokens.
    pub(crate) fn expiry_s(&self, after: Duration) -> u64 {
        expiry_s(self.unix_ms(), after)
    }

    /// A delay of `from` to `to` milliseconds, so that clients sent away together do not come back together.
    pub(crate) fn jitter_ms(&self, from: u32, to: u32) -> u32 {
        within(self.0.random(), from, to)
    }

    /// A random id.
    pub(crate) fn uuid(&self) -> Uuid {
        Builder::from_random_bytes(self.0.random().to_le_bytes()).into_uuid()
    }

    /// A new claim.
    pub(crate) fn claim(&self) -> ClaimId {
        ClaimId(self.uuid())
    }

    /// The id of a new game; later games have higher ones.
    pub(crate) fn game(&self) -> GameId {
        let [bytes @ .., _, _, _, _, _, _] = self.0.random().to_le_bytes();
        GameId(Builder::from_unix_timestamp_millis(self.unix_ms(), &bytes).into_uuid())
    }
}

impl fmt::Debug for Ambient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ambient")
    }
}

/// The machine's Unix time in milliseconds, for who is no part of a game: a store's own dates.
pub(crate) fn unix_ms() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "the home of the wall clock in this crate"
    )]
    let now = SystemTime::now();
    let since = now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn expiry_s(unix_ms: u64, after: Duration) -> u64 {
    (unix_ms / 1_000).saturating_add(after.as_secs())
}

/// `from` to `to`, both included; 128 bits make the bias of a remainder too small to be seen.
fn within(random: u128, from: u32, to: u32) -> u32 {
    let span = u128::from(to.saturating_sub(from)) + 1;
    // Less than `span`, so that the fallback is never taken.
    from.saturating_add(u32::try_from(random % span).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(u128);

    impl Source for Fixed {
        fn unix_ms(&self) -> u64 {
            1_796_000_000_123
        }

        fn random(&self) -> u128 {
            self.0
        }
    }

    #[test]
    fn everything_comes_from_the_source() {
        let (a, b) = (Ambient::new(Fixed(7)), Ambient::new(Fixed(7)));
        assert_eq!((a.uuid(), a.claim(), a.game()), (b.uuid(), b.claim(), b.game()));
        assert_ne!(a.uuid(), Ambient::new(Fixed(8)).uuid());
        assert_ne!(a.game(), Ambient::new(Fixed(8)).game());
        assert_eq!((a.uuid().get_version_num(), a.game().0.get_version_num()), (4, 7));
        assert_eq!(a.expiry_s(Duration::from_secs(60)), 1_796_000_060);
        let machine = Ambient::machine();
        assert_ne!(machine.claim(), machine.claim());
    }

    #[test]
    fn a_delay_keeps_its_bounds() {
        assert_eq!((within(0, 5, 9), within(4, 5, 9), within(5, 5, 9)), (5, 9, 5));
        assert_eq!(within(u128::MAX, 3, 3), 3);
    }
}
