//! What travels between Homeroom's processes and their clients: frames of a game, the quiz document, ids,
//! close codes, token claims, and the bodies of the HTTP API.
//!
//! This crate owns shapes and their bounds, nothing else. The rules of a game live in `game-core`, which does not
//! know this crate; storage formats belong to whoever stores. The TypeScript types in
//! `web/src/shared/proto/protocol.ts` and the fixtures in `protocol/fixtures/` are generated from here.

pub mod claims;
pub mod close;
pub mod error;
#[cfg(test)]
mod generated;
pub mod handshake;
pub mod host;
pub mod ids;
pub mod placement;
pub mod player;
pub mod quiz;
pub mod rest;
pub mod result;
pub mod routing;
pub mod timeline;

/// Version of the game protocol, sent in `welcome` and in the host's `sync`.
pub const PROTOCOL_VERSION: u16 = 1;

/// Largest frame a player may send, in bytes.
pub const PLAYER_FRAME_BYTES_MAX: usize = 4 * 1024;
/// Largest frame a host may send, in bytes. Also the transport's limit, since roles are known only after the first frame.
pub const HOST_FRAME_BYTES_MAX: usize = 16 * 1024;
