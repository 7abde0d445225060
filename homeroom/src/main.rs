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

use anyhow::Context;

fn main() -> anyhow::Result<()> {
    let prepared = start::prepare(runtime::config::parse());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("start the runtime")?;
    runtime.block_on(start::run(prepared))
}
