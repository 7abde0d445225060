//! Repository tasks that need more than a shell: `cargo xtask tidy` checks the tree's shape.
//!
//! This file only dispatches. Each task is a module that returns what it found; nothing of the product may depend
//! on this crate.

mod tidy;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask tidy    check dependency directions, sizes, wording and lock files";

/// Exit code for a wrong command line, as everywhere in Homeroom.
const EXIT_USAGE: u8 = 64;

#[expect(
    clippy::print_stderr,
    reason = "a command line tool says what went wrong on stderr"
)]
fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    let outcome = match task.as_deref() {
        Some("tidy") => tidy::run(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(EXIT_USAGE);
        }
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("xtask: {error:#}");
        ExitCode::FAILURE
    })
}
