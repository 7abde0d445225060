//! Everything that happened in a run, as lines of text: their hash is the run's fingerprint, the last ones tell of a failure.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Write as _;

use crate::Millis;

/// Lines that are kept for the report of a failure.
const LAST_MAX: usize = 60;

/// The lines of a run.
#[derive(Debug)]
pub(crate) struct Trace {
    hasher: DefaultHasher,
    lines: u64,
    last: VecDeque<String>,
    /// All lines, when they are asked for.
    whole: Option<String>,
    keep: Keep,
}

/// What becomes of the lines of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// The last ones are kept.
    #[default]
    Last,
    /// All are kept.
    Whole,
    /// All are written to the standard output as they come.
    Print,
}

impl Trace {
    pub(crate) fn new(keep: Keep) -> Self {
        Self {
            hasher: DefaultHasher::new(),
            lines: 0,
            last: VecDeque::new(),
            whole: (keep == Keep::Whole).then(String::new),
            keep,
        }
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, now: Millis, what: std::fmt::Arguments<'_>) {
        let line = format!(
            "{:>9.3} {what}",
            std::time::Duration::from_millis(now).as_secs_f64()
        );
        self.hasher.write(line.as_bytes());
        self.lines += 1;
        if let Some(whole) = &mut self.whole {
            // A string takes everything.
            let _written = writeln!(whole, "{line}");
        }
        if self.keep == Keep::Print {
            // Whoever does not listen any more misses the rest.
            let _written = writeln!(std::io::stdout(), "{line}");
        }
        if self.last.len() >= LAST_MAX {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// The fingerprint of all lines.
    pub(crate) fn hash(&self) -> u64 {
        self.hasher.finish()
    }

    /// How many lines.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// The last lines.
    pub(crate) fn last(&self) -> Vec<String> {
        self.last.iter().cloned().collect()
    }

    /// All lines, if they were kept.
    pub(crate) fn take_whole(&mut self) -> Option<String> {
        self.whole.take()
    }
}
