//! The Redis log against a real Redis, healthy and not. What every log must do is in the contract suite; here is what can
//! happen to this one only.

mod connections;
mod figures;
mod kit;
mod outages;
mod proxy;
mod server;
mod unknown;
