//! Playing seeds.

use std::fmt;
use std::sync::Arc;

use crate::coverage::Coverage;
use crate::mutation::Mutation;
use crate::oracle::Violation;
use crate::trace::Keep;
use crate::watch::Watch;
use crate::world::World;

/// Seeds that `./test` plays, from 0.
pub const SEEDS_IN_TEST: u64 = 200;

/// What to play.
#[derive(Debug, Clone, Copy, Default)]
pub struct Play {
    /// The seed, from which everything else comes.
    pub seed: u64,
    /// A fault in the store's own ways.
    pub mutation: Option<Mutation>,
    /// No faults at all.
    pub is_quiet: bool,
    /// What becomes of the trace.
    pub keep: Keep,
}

/// What became of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was played.
    pub play: Play,
    /// The first broken invariant.
    pub violation: Option<Violation>,
    /// Fingerprint of everything that happened.
    pub hash: u64,
    /// Lines of the trace.
    pub lines: u64,
    /// Time that went by in the run, in milliseconds.
    pub took_ms: u64,
    /// What it met.
    pub coverage: Coverage,
    /// The last lines of the trace.
    pub last: Vec<String>,
    /// All of them, if they were asked for.
    pub whole: Option<String>,
}

/// Plays one run to its end, or to the first broken invariant.
#[must_use]
pub fn play(what: Play) -> Outcome {
    let watch = Arc::new(Watch::default());
    let watcher = watch.over(what);
    let mut world = World::new(what, Arc::clone(&watch));
    world.play();
    watch.end(watcher);
    Outcome {
        play: what,
        violation: world.oracle.broken().cloned(),
        hash: world.trace.hash(),
        lines: world.trace.lines(),
        took_ms: world.now,
        last: world.trace.last(),
        whole: world.trace.take_whole(),
        coverage: world.coverage,
    }
}

/// The command that plays this again and shows all of it.
#[must_use]
pub fn replay_command(what: Play) -> String {
    let mutation = what
        .mutation
        .map(|mutation| format!(" --mutation {}", mutation.name()));
    let quiet = if what.is_quiet { " --quiet" } else { "" };
    format!(
        "cargo run -p sim -- --seed {}{}{quiet} --trace",
        what.seed,
        mutation.unwrap_or_default()
    )
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            play,
            violation,
            hash,
            lines,
            took_ms,
            ..
        } = self;
        let Some(violation) = violation else {
            return write!(
                f,
                "seed {} holds: {lines} lines, {took_ms} ms, trace {hash:016x}",
                play.seed
            );
        };
        writeln!(f, "seed {} breaks {}", play.seed, violation.invariant)?;
        writeln!(f, "  {}", violation.detail)?;
        writeln!(f, "last events:")?;
        for line in &self.last {
            writeln!(f, "  {line}")?;
        }
        writeln!(
            f,
            "trace {hash:016x} after {lines} lines; again: {}",
            replay_command(*play)
        )
    }
}
