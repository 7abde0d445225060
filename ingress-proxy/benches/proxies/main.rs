//! Our proxy against nginx, HAProxy and Envoy, as deploy/gateways configures them: memory of an idle tunnel, CPU of a frame and of a
//! handshake, what a frame waits longer than without a proxy, and handshakes a second. All of them in every round, in turns, one at a
//! time, on the same machine; so ratios are believable where absolute figures are not.
//!
//! `cargo bench -p ingress-proxy --bench proxies -- [--rounds N] [--pairs N] [--seconds N] [--out FILE]`

#![expect(clippy::print_stdout, reason = "a command that prints its table")]

mod gateway;
mod table;
mod traffic;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Parser;

use gateway::{Gateway, Kind};
use table::{Figures, Table};
use traffic::{Backend, Load};

/// How often at most, and how far apart, a proxy is looked at that has to come to rest.
const LOOKS_MAX: u32 = 20;
const LOOK: Duration = Duration::from_millis(100);

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
    println!("\n{text}");
    let Some(out) = &arguments.out else {
        return Ok(());
    };
    // cargo starts benchmarks in their package.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(out);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
    println!(
        "Written to {out}. Publish it whatever it says, unless it calls the machine busy or a proxy absent: git add {out} && git commit",
        out = out.display()
    );
    Ok(())
}

/// What was compiled: a figure is worth little without.
fn commit() -> Option<String> {
    let asked = Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()?;
    let said = String::from_utf8(asked.stdout).ok()?;
    (asked.status.success() && !said.trim().is_empty()).then(|| said.trim().to_owned())
}

/// The share of the processors that is at work in the next second.
async fn busy_share() -> Result<f64> {
    let ticks = || -> Result<(u64, u64)> {
        let text = std::fs::read_to_string("/proc/stat")?;
        let first = text.lines().next().context("read /proc/stat")?;
        // Behind the first eight are those of guests, which the first ones have counted.
        let counts: Vec<u64> = first
            .split_whitespace()
            .skip(1)
            .take(8)
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        let idle = counts.iter().skip(3).take(2).sum();
        Ok((idle, counts.iter().sum()))
    };
    let (idle, all) = ticks()?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (idle_after, all_after) = ticks()?;
    let all = table::float(all_after.saturating_sub(all).max(1));
    Ok(1.0 - table::float(idle_after.saturating_sub(idle)) / all)
}

async fn measure(arguments: &Arguments) -> Result<Table> {
    let backend = Backend::start()?;
    let load = Load {
        pairs: arguments.pairs,
        rate: arguments.rate,
        long: Duration::from_secs(arguments.seconds.into()),
    };
    let mut table = Table::new(how(arguments))?;
    for round in 0..arguments.rounds {
        // Forwards and backwards in turn, so that a machine that gets slower is not one proxy's fault.
        let mut kinds = Kind::ALL.to_vec();
        if round % 2 == 1 {
            kinds.reverse();
        }
        table.was_busy(busy_share().await?);
        for kind in kinds {
            let Some(gateway) = Gateway::start(kind, backend.address).await? else {
                continue;
            };
            if let Some(version) = kind.version() {
                table.found(kind, version);
            }
            let figures = one(&gateway, &load, &backend).await;
            table.add(kind, figures.with_context(|| format!("measure {}", kind.name()))?);
            println!("round {round}: {} done", kind.name());
        }
    }
    Ok(table)
}

fn how(arguments: &Arguments) -> Vec<String> {
    let mut how = vec![format!(
        "{} rounds, {} tunnels, {} frames a second and direction, {} s a phase",
        arguments.rounds, arguments.pairs, arguments.rate, arguments.seconds
    )];
    how.extend(commit().map(|commit| format!("ours as of commit {commit}")));
    let less_than = |usual: &Arguments| {
        arguments.rounds < usual.rounds || arguments.pairs < usual.pairs || arguments.seconds < usual.seconds
    };
    if less_than(&Arguments::parse_from(["proxies"])) {
        how.push(
            "**Short run**: less than is usual, so its bounds are wide and its figures rough.".to_owned(),
        );
    }
    if cfg!(debug_assertions) {
        how.push("**Not optimised**: ours is a build for developers.".to_owned());
    }
    how
}

async fn one(gateway: &Gateway, load: &Load, backend: &Backend) -> Result<Figures> {
    let direct = load.delays(load.tunnels(backend.address).await?).await?.p95;
    // Whatever is made once, by whoever comes first.
    let _warm = load
        .handshakes(gateway.address, Duration::from_millis(500))
        .await?;
    let before = gateway.memory_bytes()?;
    // The first half may live in what the handshakes before have left behind; the second one has to be paid for.
    let (mut tunnels, half) = (Vec::new(), load.pairs / 2);
    load.more_tunnels(gateway.address, &mut tunnels, load.pairs - half)
        .await?;
    let at_half = gateway.memory_bytes()?;
    load.more_tunnels(gateway.address, &mut tunnels, half).await?;
    let of_second_half = gateway.memory_bytes()?.saturating_sub(at_half) / u64::from(half.max(1));
    let used = gateway.cpu()?;
    let proxied = load.delays(tunnels).await?;
    let cpu = gateway.cpu()?.saturating_sub(used);
    let of_all = gateway.memory_bytes()?.saturating_sub(before) / u64::from(load.pairs);
    drop(proxied.tunnels);
    let used = settled(gateway).await?;
    let handshakes = load.handshakes(gateway.address, load.long).await?;
    let handshake_cpu = gateway.cpu()?.saturating_sub(used);
    Ok(Figures {
        memory_bytes: table::float(of_second_half.max(of_all)),
        cpu_us: cpu.as_secs_f64() * 1e6 / f64::from(proxied.messages.max(1)),
        direct_p95_ms: direct.as_secs_f64() * 1e3,
        proxied_p95_ms: proxied.p95.as_secs_f64() * 1e3,
        handshakes: f64::from(handshakes) / load.long.as_secs_f64(),
        handshake_cpu_us: handshake_cpu.as_secs_f64() * 1e6 / f64::from(handshakes.max(1)),
    })
}

/// The processor time used once the end of thousands of tunnels has been dealt with, which is no part of what comes next.
async fn settled(gateway: &Gateway) -> Result<Duration> {
    let mut before = gateway.cpu()?;
    for _ in 0..LOOKS_MAX {
        tokio::time::sleep(LOOK).await;
        let now = gateway.cpu()?;
        if now == before {
            break;
        }
        before = now;
    }
    gateway.cpu()
}
