//! The game server as a process of its own. A thin main: [`cli`] reads the configuration, [`process`] puts the parts
//! together and stops them in order, [`store`] opens what keeps its games, [`peers`] listens to other servers, [`ask`] asks a server
//! that runs.

mod ask;
mod cli;
mod peers;
mod process;
mod store;

use anyhow::Context;

use cli::Cli;

fn main() -> anyhow::Result<()> {
    let cli = runtime::config::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("start the runtime")?;
    match cli {
        Cli::Serve(config) => runtime.block_on(process::run(process::prepare(*config))),
        Cli::Timeline(timeline) => runtime.block_on(ask::timeline(&timeline)),
    }
}
