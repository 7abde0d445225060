//! What a person sees: results on standard output, progress on standard error. A closed pipe is no fault of the run.

use std::io::{self, IsTerminal, Write};

/// The two streams.
#[derive(Debug)]
pub struct Console {
    quiet: bool,
    terminal: bool,
}

impl Console {
    /// The process's own streams.
    #[must_use]
    pub fn new() -> Self {
        Self {
            quiet: false,
            terminal: io::stderr().is_terminal(),
        }
    }

    /// A console that shows nothing, for tests.
    #[must_use]
    pub const fn silent() -> Self {
        Self {
            quiet: true,
            terminal: false,
        }
    }

    /// A line of the result.
    pub fn line(&mut self, text: &str) {
        if !self.quiet {
            let _outcome = writeln!(io::stdout().lock(), "{text}");
        }
    }

    /// Where the run stands: one line that is overwritten on a terminal, plain lines elsewhere.
    pub fn progress(&mut self, text: &str) {
        if self.quiet {
            return;
        }
        let mut out = io::stderr().lock();
        let _outcome = if self.terminal {
            write!(out, "\r\x1b[K{text}")
        } else {
            writeln!(out, "{text}")
        };
        let _flushed = out.flush();
    }

    /// Ends the line of progress.
    pub fn settle(&mut self) {
        if self.terminal && !self.quiet {
            let _outcome = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }

    /// A line that tells why something went wrong.
    pub fn complain(&mut self, text: &str) {
        self.settle();
        let _outcome = writeln!(io::stderr().lock(), "{text}");
    }
}

impl Default for Console {
    fn default() -> Self {
        Self::new()
    }
}
