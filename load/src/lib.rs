//! The load harness: plays whole classes against real processes over the public protocol and judges what it saw.
//!
//! It depends on none of the servers' crates. Frames are defined again in [`wire`], scores are computed again in
//! [`measure`], so a mistake made in a server cannot hide in the ruler. One thread with one [`client::Engine`] plays
//! thousands of players; [`plan`] says what each of them does, from one seed; a [`scenario`] puts them together and
//! [`report`] prints and judges the outcome. Starting servers is [`stack`]'s, reading the machine [`sys`]'s.

pub mod cli;
pub mod client;
pub mod floor;
pub mod measure;
pub mod merge;
pub mod plan;
pub mod report;
pub mod scenario;
pub mod stack;
pub mod sys;
pub mod verdict;
pub mod wire;
