//! Our proxy against nginx, HAProxy and Envoy, as deploy/gateways configures them: memory of a tunnelled pair, CPU of a message,
//! what a message waits longer than without a proxy, and handshakes a second. All of them in every round, in turns, one at a
//! time, on the same machine; so ratios are believable where absolute figures are not.
//!
//! `cargo bench -p ingress-proxy --bench proxies -- [--rounds N] [--pairs N] [--seconds N] [--out FILE]`

#![expect(clippy::print_stdout, reason = "a command that prints its table")]

mod gateway;
mod table;
mod traffic;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Parser;

use gateway::{Gateway, Kind};
use table::{Figures, Table};
use traffic::{Backend, Load};

/// How much is measured.
#[derive(Debug, Parser)]
struct Arguments {
    /// Rounds, each with all proxies.
    #[arg(long, default_value_t = 6)]
    rounds: u32,
    /// WebSockets held through each proxy; each takes two descriptors of this process and two of the proxy's.
    #[arg(long, default_value_t = 4_000)]
    pairs: u32,
    /// Seconds of each phase.
    #[arg(long, default_value_t = 5)]
    seconds: u32,
    /// Messages a second and direction while their CPU and their time are measured.
    #[arg(long, default_value_t = 5_000)]
    rate: u32,
    /// File for the table, from the repository's root.
    #[arg(long)]
    out: Option<PathBuf>,
    /// What cargo passes to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("start the runtime")?;
    let table = runtime.block_on(measure(&arguments))?;
    let text = table.markdown();
    println!("{text}");
    let Some(out) = &arguments.out else {
        return Ok(());
    };
    // cargo starts benchmarks in their package.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(out);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))
}

async fn measure(arguments: &Arguments) -> Result<Table> {
    let backend = Backend::start()?;
    let load = Load {
        pairs: arguments.pairs,
        rate: arguments.rate,
        long: Duration::from_secs(arguments.seconds.into()),
    };
    let mut table = Table::new(format!(
        "{} rounds, {} pairs, {} messages a second and direction, {} s a phase",
        arguments.rounds, arguments.pairs, arguments.rate, arguments.seconds
    ))?;
    for round in 0..arguments.rounds {
        // Forwards and backwards in turn, so that a machine that gets slower is not one proxy's fault.
        let mut kinds = Kind::ALL.to_vec();
        if round % 2 == 1 {
            kinds.reverse();
        }
        let (direct, _) = load.delays(load.tunnels(backend.address).await?).await?;
        for kind in kinds {
            let Some(gateway) = Gateway::start(kind, backend.address).await? else {
                table.is_missing(kind);
                continue;
            };
            let figures = one(&gateway, &load, direct).await;
            table.add(kind, figures.with_context(|| format!("measure {}", kind.name()))?);
            println!("round {round}: {} done", kind.name());
        }
    }
    table.end()
}

async fn one(gateway: &Gateway, load: &Load, direct: Duration) -> Result<Figures> {
    // Whatever is made once, by whoever comes first.
    let _warm = load
        .handshakes(gateway.address, Duration::from_millis(500))
        .await?;
    let before = gateway.memory_bytes()?;
    let tunnels = load.tunnels(gateway.address).await?;
    let memory_bytes = gateway.memory_bytes()?.saturating_sub(before) / u64::from(load.pairs);
    let used = gateway.cpu()?;
    let (proxied, tunnels) = load.delays(tunnels).await?;
    let cpu = gateway.cpu()?.saturating_sub(used);
    let messages = load.messages();
    drop(tunnels);
    let handshakes = load.handshakes(gateway.address, load.long).await?;
    Ok(Figures {
        memory_bytes: table::float(memory_bytes),
        cpu_us: cpu.as_secs_f64() * 1e6 / f64::from(messages),
        added_p95_ms: proxied.saturating_sub(direct).as_secs_f64() * 1e3,
        handshakes: f64::from(handshakes) / load.long.as_secs_f64(),
    })
}
