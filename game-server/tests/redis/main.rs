//! The Redis log against a real Redis, healthy and not. What every log must do is in the contract suite; here is what can
//! happen to this one only, and to classes that play on it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the tests print their figures")]

mod classes;
mod connections;
mod figures;
mod kit;
mod outages;
mod proxy;
mod server;
#[expect(
    dead_code,
    reason = "the tests over sockets use more of their stage than these do"
)]
#[path = "../sockets/kit.rs"]
mod stage;
mod unknown;
