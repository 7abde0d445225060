//! The harness against a scripted server with seeded faults, and its command line.

mod bigroom;
mod command_line;
mod fake;
mod idle;
mod kill;
mod ramp;
mod reconnect;
mod scale;
mod segments;
mod support;
