//! `load floor`: the least that the machine takes.

use clap::Args;

use super::Failure;
use crate::floor::{self, ClientFloor, Floor, FloorError};
use crate::report::{Console, Table};
use crate::sys::hardware::Hardware;

/// Messages are counted for this long at each rate, in seconds.
const CLIENT_SECONDS: u64 = 5;

#[derive(Debug, Args)]
pub(super) struct FloorArgs {
    /// Pairs of sockets, 1 to 9,900.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(floor::SOCKETS_MAX)))]
    sockets: u32,
    /// Rounds of one frame to every socket.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
    /// Joins of the client that calls the kernel and does nothing else; 0 leaves it out.
    #[arg(long, default_value_t = 3_000, value_parser = clap::value_parser!(u64).range(0..=u64::from(floor::SOCKETS_MAX / 2)))]
    joins: u64,
    /// Messages a second that this client receives, for a few seconds each: lessons of 10,000 and of 30,000 players.
    #[arg(long, value_delimiter = ',', default_values_t = [1_600, 5_000], value_parser = clap::value_parser!(u64).range(100..=100_000))]
    rates: Vec<u64>,
    /// Prints one line of JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Measures and prints it.
pub(super) fn floor(args: &FloorArgs, console: &mut Console) -> Result<bool, Failure> {
    let floor = floor::measure(args.sockets, args.rounds).map_err(failure)?;
    let client = (args.joins > 0)
        .then(|| floor::measure_client(args.joins, &args.rates, CLIENT_SECONDS))
        .transpose()
        .map_err(failure)?;
    if args.json {
        let all = All { floor, client };
        console.line(&serde_json::to_string(&all).map_err(Failure::unavailable)?);
        return Ok(true);
    }
    console.line(&format!("floor on {}", Hardware::read()));
    console.line(&table(&floor).to_string());
    client
        .iter()
        .for_each(|client| console.line(&client_table(client).to_string()));
    Ok(true)
}

/// Both floors as one line of JSON.
#[derive(serde::Serialize)]
struct All {
    #[serde(flatten)]
    floor: Floor,
    client: Option<ClientFloor>,
}

fn failure(error: FloorError) -> Failure {
    match error {
        FloorError::Descriptors(_) => Failure::configuration(error),
        FloorError::Sockets(_) | FloorError::Lost => Failure::unavailable(error),
    }
}

fn client_table(floor: &ClientFloor) -> Table {
    let mut table = Table::new(&["client that only calls the kernel", "a second", "CPU µs each"]);
    let all = [("join", &floor.joins), ("message", &floor.messages)];
    for (what, paced) in all
        .iter()
        .flat_map(|(what, all)| all.iter().map(move |p| (what, p)))
    {
        let per_s = paced
            .per_s
            .map_or_else(|| "as fast as they go".to_owned(), |n| n.to_string());
        table.row(vec![(*what).to_string(), per_s, format!("{:.1}", paced.cpu_us)]);
    }
    table
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
