//! The one-process product: game server, API and front end behind one port, with an embedded store.
//!
//! A thin main. It reads the configuration, puts the parts together ([`product`]), says where they are found, and stops
//! them in order.

mod addresses;
mod backoffice;
mod config;
mod data_dir;
mod demo;
mod product;
mod start;

use std::process::ExitCode;

use anyhow::Context;

#[expect(
    clippy::print_stderr,
    reason = "the reader is the person who typed the command"
)]
fn main() -> ExitCode {
    match homeroom() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // In one line with its causes: a back trace would hide it.
            eprintln!("homeroom: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn homeroom() -> anyhow::Result<()> {
    let prepared = start::prepare(runtime::config::parse());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("start the runtime")?;
    runtime.block_on(start::run(prepared))
}
