//! The ingress proxy as a process of its own. A thin main: [`cli`] reads the configuration, [`process`] puts the parts
//! together and stops them in order.

mod cli;
mod process;

use anyhow::Context;

fn main() -> anyhow::Result<()> {
    let prepared = process::prepare(runtime::config::parse());
    // It accepts connections and keeps the membership; the connections have threads of their own.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("start the runtime")?;
    runtime.block_on(process::run(prepared))
}
