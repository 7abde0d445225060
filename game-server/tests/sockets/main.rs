//! The game server over real sockets: what hosts, players and strangers see.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod comings;
mod creating;
mod fates;
mod hostile;
mod kit;
mod lifetime;
mod limits;
mod refusals;
mod restoring;
mod rewound;
mod saving;
mod timeline;
mod whole_game;
mod without_api;
