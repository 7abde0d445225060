//! Who serves a game, as the log knows it.

use protocol::ids::GameId;
use uuid::Uuid;

/// The right to write a game: random and new at every claim, so that it tells two owners apart who count the same epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClaimId(pub Uuid);

impl ClaimId {
    /// The claim of a game that was released.
    pub const NONE: Self = Self(Uuid::nil());

    /// A new one.
    #[must_use]
    pub fn draw() -> Self {
        Self(Uuid::new_v4())
    }
}

/// A run of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerId {
    /// Its name, the same after a restart.
    pub name: String,
    /// Random, new at every start.
    pub incarnation: Uuid,
}

/// The owner record of a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The game, since codes come back.
    pub game: GameId,
    /// Who creates the game once: the teacher and the key that its client chose.
    pub create_key: String,
    /// The owner; none after a release.
    pub server: Option<ServerId>,
    /// Owners so far.
    pub epoch: u32,
    /// The owner's claim.
    pub claim: ClaimId,
}

impl Owner {
    /// The record after a claim, with at least `least_epoch`.
    #[must_use]
    pub fn claimed_by(&self, server: ServerId, claim: ClaimId, least_epoch: u32) -> Self {
        Self {
            server: Some(server),
            epoch: self.epoch.saturating_add(1).max(least_epoch),
            claim,
            ..self.clone()
        }
    }

    /// The epoch of a game whose living owner asserts it with `wanted`: above this record's, unless this one is an earlier attempt in
    /// the same run of the store.
    #[must_use]
    pub(crate) fn epoch_asserted(&self, wanted: u32, is_present: bool) -> u32 {
        wanted.max(self.epoch.saturating_add(u32::from(!is_present)))
    }

    /// Whether a create with the record `birth` is one that this record came from.
    #[must_use]
    pub fn is_same_birth(&self, birth: &Self) -> bool {
        self.create_key == birth.create_key
    }
}
