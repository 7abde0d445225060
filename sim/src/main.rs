//! Plays seeds from a command line: one with its trace, or many with their progress.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser;
use sim::{Coverage, Mutation, Play};

/// Plays classes in the simulation.
#[derive(Debug, Parser)]
struct Arguments {
    /// The seed to play, or the first one of `--seeds`.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many seeds to play.
    #[arg(long, default_value_t = 1)]
    seeds: u64,
    /// Threads that play.
    #[arg(long, default_value_t = 1)]
    threads: u64,
    /// Plays without faults.
    #[arg(long)]
    quiet: bool,
    /// A fault to put in.
    #[arg(long, value_parser = mutation)]
    mutation: Option<Mutation>,
    /// Shows everything that happens.
    #[arg(long)]
    trace: bool,
}

fn mutation(name: &str) -> Result<Mutation, String> {
    let found = Mutation::ALL.into_iter().find(|mutation| mutation.name() == name);
    found.ok_or_else(|| format!("one of {}", Mutation::ALL.map(Mutation::name).join(", ")))
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let mut out = std::io::stdout().lock();
    let mut coverage = Coverage::default();
    let mut failed = 0_u64;
    for seed in arguments.seed..arguments.seed + arguments.seeds {
        let outcome = sim::play(Play {
            seed,
            mutation: arguments.mutation,
            is_quiet: arguments.quiet,
            is_whole: arguments.trace,
        });
        if let Some(whole) = &outcome.whole {
            write!(out, "{whole}")?;
        }
        if outcome.violation.is_some() || arguments.seeds == 1 {
            writeln!(out, "{outcome}")?;
        }
        failed += u64::from(outcome.violation.is_some());
        coverage.add(&outcome.coverage);
    }
    for (seen, count) in coverage.iter() {
        writeln!(out, "{seen:?} {count}")?;
    }
    Ok(ExitCode::from(u8::from(failed > 0)))
}
