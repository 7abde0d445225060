//! The game server: one task per live game, one per socket, an append-first journal between a change and its frames.
//!
//! [`GameServer`] is what a main puts together: its [`router`](GameServer::router) goes under `/game`. The rules are
//! `game-core`'s, the wire is `protocol`'s; the API is behind [`Backoffice`], the journal's store behind [`GameLog`].

mod actor;
mod admission;
mod ambient;
mod backoffice;
mod cluster;
mod config;
mod convert;
mod facts;
mod fate;
mod frames;
mod guesses;
mod http;
mod journal;
mod opening;
mod operators;
mod outcome;
mod problem;
mod registry;
mod results;
mod server;
mod session;
mod stopping;
mod stored;
mod supervised;
#[cfg(test)]
mod testing;
mod timeline;
mod tokens;

pub use actor::JOURNAL_BYTES_MAX;
pub use ambient::{Ambient, Source};
pub use backoffice::{Backoffice, BackofficeError, BackofficeFuture, HttpBackoffice, PlanGrant, Reserved};
pub use cluster::{
    DialFuture, Dialer, Duplex, LEASE_TIME, Lease, Leases, Member, Membership, MemoryLeases, Renewed,
    TcpDialer,
};
pub use config::Config;
pub use journal::{
    Asserted, Batch, Birth, ClaimId, Claimed, Created, DecodeError, Durability, Entry, FORMAT_VERSION,
    FRAME_BYTES_MAX, GameLog, Journal, LogError, LogFuture, MemoryImage, MemoryLog, Owner, Record,
    RecordNumber, RedisConfig, RedisConfigError, RedisLog, ServerId, SqliteLog, SqliteLogError, StoreId,
    StoreRun, Stored, Tail, Trouble, Unreadable, Written, read_journal,
};
pub use opening::Restoration;
pub use operators::OperatorDesk;
pub use server::{Counts, GameServer};
pub use tokens::{Keys, KeysError, SECRET_BYTES_MIN};
