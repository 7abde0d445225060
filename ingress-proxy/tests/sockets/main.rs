//! The proxy on real sockets: where requests go, what servers see of them, what is refused, and tunnels.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod forwarding;
mod gateways;
mod health;
mod owners;
mod requests;
mod support;
mod tunnels;
