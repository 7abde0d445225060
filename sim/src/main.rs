//! Plays seeds from a command line: one with its trace, or many with their progress.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use clap::Parser;
use sim::{Coverage, Keep, Mutation, Outcome, Play};

/// Runs between two lines of progress.
const PROGRESS_EVERY: u64 = 500;
/// Outcomes that wait to be counted.
const OUTCOMES_MAX: usize = 16;

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

impl Arguments {
    fn play(&self, seed: u64) -> Play {
        Play {
            seed,
            mutation: self.mutation,
            is_quiet: self.quiet,
            keep: if self.trace { Keep::Print } else { Keep::Last },
        }
    }
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let failed = if arguments.seeds == 1 {
        let outcome = sim::play(arguments.play(arguments.seed));
        let mut out = std::io::stdout().lock();
        writeln!(out, "{outcome}")?;
        u64::from(outcome.violation.is_some())
    } else {
        play_many(&arguments)?
    };
    Ok(ExitCode::from(u8::from(failed > 0)))
}

/// Plays all seeds and says how many failed.
fn play_many(arguments: &Arguments) -> anyhow::Result<u64> {
    let started = Instant::now();
    let (next, end) = (AtomicU64::new(arguments.seed), arguments.seed + arguments.seeds);
    let (sender, outcomes) = mpsc::sync_channel::<Outcome>(OUTCOMES_MAX);
    std::thread::scope(|scope| {
        for _ in 0..arguments.threads.max(1) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    // An error means that nobody counts any more.
                    if seed >= end || sender.send(sim::play(arguments.play(seed))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        count(&outcomes, started)
    })
}

fn count(outcomes: &mpsc::Receiver<Outcome>, started: Instant) -> anyhow::Result<u64> {
    let mut out = std::io::stdout().lock();
    let (mut coverage, mut played, mut failed) = (Coverage::default(), 0, 0);
    for outcome in outcomes {
        played += 1;
        coverage.add(&outcome.coverage);
        if outcome.violation.is_some() {
            failed += 1;
            writeln!(out, "{outcome}")?;
        }
        if played % PROGRESS_EVERY == 0 {
            writeln!(out, "{}", tally(played, failed, started))?;
        }
    }
    for (seen, count) in coverage.iter() {
        writeln!(out, "{seen:?} {count}")?;
    }
    writeln!(out, "{}", tally(played, failed, started))?;
    Ok(failed)
}

fn tally(played: u64, failed: u64, started: Instant) -> String {
    let took_s = started.elapsed().as_secs_f64();
    // Exact below 2^53, and only shown.
    #[expect(clippy::cast_precision_loss, reason = "a rate that is only shown")]
    let rate = played as f64 / took_s.max(0.001);
    format!("{played} seeds, {failed} failed, {took_s:.0} s, {rate:.1} seeds/s")
}
