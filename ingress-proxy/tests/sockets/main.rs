//! The proxy on real sockets: where requests go, what servers see of them, what is refused, and tunnels.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "long tests print their figures")]

mod forwarding;
mod gateways;
mod health;
mod kills;
mod kubernetes;
mod owners;
mod requests;
mod secure;
mod slow;
mod support;
mod tunnels;
