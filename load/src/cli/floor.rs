//! `load floor`: the least that the machine takes.

use clap::Args;

use super::Failure;
use crate::floor::{self, Floor, FloorError};
use crate::report::{Console, Table};
use crate::sys::hardware::Hardware;

#[derive(Debug, Args)]
pub(super) struct FloorArgs {
    /// Pairs of sockets, 1 to 9,900.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(floor::SOCKETS_MAX)))]
    sockets: u32,
    /// Rounds of one frame to every socket.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
    /// Prints one line of JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Measures and prints it.
pub(super) fn floor(args: &FloorArgs, console: &mut Console) -> Result<bool, Failure> {
    let floor = floor::measure(args.sockets, args.rounds).map_err(|error| match error {
        FloorError::Descriptors(_) => Failure::configuration(error),
        FloorError::Sockets(_) | FloorError::Lost => Failure::unavailable(error),
    })?;
    if args.json {
        console.line(&serde_json::to_string(&floor).map_err(Failure::unavailable)?);
        return Ok(true);
    }
    console.line(&format!("floor on {}", Hardware::read()));
    console.line(&table(&floor).to_string());
    Ok(true)
}

fn table(floor: &Floor) -> Table {
    let mut table = Table::new(&[
        "sockets",
        "rounds",
        "frame B",
        "µs/write",
        "CPU µs/write",
        "reach all p50/p95/max ms",
        "reader CPU µs/message",
    ]);
    let reach = floor.reach_all;
    table.row(vec![
        floor.sockets.to_string(),
        floor.rounds.to_string(),
        floor.frame_bytes.to_string(),
        format!("{:.2}", floor.write_us),
        format!("{:.2}", floor.write_cpu_us),
        format!("{:.2}/{:.2}/{:.2}", reach.p50_ms, reach.p95_ms, reach.max_ms),
        format!("{:.2}", floor.read_cpu_us),
    ]);
    table
}
