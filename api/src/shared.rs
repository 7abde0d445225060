//! What all API processes must agree on: whether something of a teacher's changed, and how much was asked for.
//!
//! The trait owns the promises. [`LocalShared`] keeps them for one process alone; [`RedisShared`] for any number of them.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use protocol::ids::TeacherId;

mod local;
mod redis;

pub use local::LocalShared;
pub use redis::{RedisShared, SharedRedis, SharedRedisError};

/// For whom something is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Whose {
    /// A teacher, who is signed in.
    Teacher(TeacherId),
    /// An address, or a network of which each member has as many as it likes: whoever is not signed in yet.
    Address(IpAddr),
}

impl fmt::Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Teacher(teacher) => teacher.fmt(f),
            Self::Address(address) => address.fmt(f),
        }
    }
}

/// What is counted, each by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counted {
    /// Calls of the HTTP API.
    Requests,
    /// Games started.
    Games,
    /// Attempts to sign in or up.
    SignIns,
    /// Sessions that go on or are ended, by their cookie.
    Renewals,
}

impl Counted {
    /// Name in the headers of an answer and in keys.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Games => "games",
            Self::SignIns => "sign-ins",
            Self::Renewals => "renewals",
        }
    }
}

/// So many in a window of so long; the window opens with the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// How many, at least one.
    pub max: u32,
    /// How long.
    pub window: Duration,
}

/// What a count came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is within the quota.
    Within,
    /// It is not; the window ends after this time, never zero.
    Spent(Duration),
}

/// What all processes agree on.
#[async_trait]
pub trait Shared: Send + Sync + 'static {
    /// A number that is another one after every [`Shared::changed`] of this teacher's, in whichever process. What was read from
    /// the database after asking for it is true as long as it stays. None when that cannot be known: then nothing may be
    /// answered from memory.
    async fn version(&self, teacher: TeacherId) -> Option<u64>;
    /// Says, once it is stored, that something of this teacher's was changed.
    async fn changed(&self, teacher: TeacherId);
    /// Counts one more. When the count cannot be kept, it is within.
    async fn count(&self, whose: Whose, counted: Counted, quota: Quota) -> Verdict;
    /// Takes one back that was counted as within, and came to nothing.
    async fn give_back(&self, whose: Whose, counted: Counted);
}
