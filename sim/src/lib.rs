//! Deterministic simulation of game servers that survive: the real server in a process of its own, or several of them behind a proxy, a
//! store that fails, a class that plays, and a judge. One seed is one run, byte for byte. `README.md` tells how to use it, docs/adr/0014 why it is
//! built as it is.

mod api;
mod chaos;
mod class;
mod coverage;
mod dice;
mod emission;
mod keys;
mod mutation;
mod oracle;
mod process;
mod proxy;
mod queue;
mod run;
mod store;
mod trace;
mod watch;
mod wire;
mod world;

pub use coverage::{Coverage, Seen};
pub use mutation::Mutation;
pub use oracle::{Invariant, Violation};
pub use run::{Outcome, Play, SEEDS_IN_TEST, play, replay_command};
pub use trace::Keep;

/// Time of a run, in milliseconds from its beginning.
pub(crate) type Millis = u64;
