//! The API as a process of its own. A thin main: [`cli`] reads the configuration, [`database`] finds the store, [`process`]
//! puts the parts together and stops them in order.

mod cli;
mod database;
mod postbox;
mod process;
mod sharing;
mod watch;

use anyhow::Context;

use cli::{Cli, Command};

fn main() -> anyhow::Result<()> {
    let Cli { command } = runtime::config::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("start the runtime")?;
    match command {
        Command::Serve(serve) => runtime.block_on(process::serve(process::prepare(*serve))),
        Command::Migrate(migrate) => runtime.block_on(process::migrate(&migrate)),
        Command::ResetLink(link) => runtime.block_on(postbox::print_link(&link)),
        Command::Timeline(timeline) => runtime.block_on(process::timeline(&timeline)),
    }
}
