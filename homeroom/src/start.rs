//! From a configuration to a running product and back to the prompt.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use api::SmtpMailer;
use game_server::OperatorDesk;
use runtime::config::refuse;
use runtime::http::Options;
use runtime::lifecycle::Shutdown;
use runtime::{descriptors, telemetry, tls};
use tokio_rustls::TlsAcceptor;

use crate::addresses::{self, Addresses};
use crate::config::{Config, Origins};
use crate::data_dir::DataDir;
use crate::demo::Demo;
use crate::product::{Product, Site};

/// How long requests in flight may go on once clients have been told.
const DRAIN: Duration = Duration::from_secs(3);

/// A configuration that has been checked as far as it can be without binding anything.
pub(crate) struct Prepared {
    config: Config,
    origins: Origins,
    tls: Option<TlsAcceptor>,
    mailer: Option<SmtpMailer>,
    places: descriptors::Places,
    data: DataDir,
}

/// Checks everything that can be wrong before anything binds; a refusal is one line and exit code 64.
pub(crate) fn prepare(config: Config) -> Prepared {
    if let Err(why) = telemetry::init(config.log_format, &config.log) {
        refuse(why);
    }
    let origins = config.origins();
    let tls = match (&config.tls_cert, &config.tls_key) {
        (Some(cert), Some(key)) => Some(tls::acceptor(cert, key).unwrap_or_else(|error| refuse(error))),
        (None, _) | (_, None) => None,
    };
    let mailer = config.mail.options().read().unwrap_or_else(|error| refuse(error));
    let asked = usize::try_from(config.sockets_max).unwrap_or(usize::MAX);
    let places = descriptors::places(asked).unwrap_or_else(|error| refuse(error));
    let data = if config.demo {
        fresh_demo_data(&config.data_dir)
    } else {
        DataDir::open(&config.data_dir)
    };
    let data = data.unwrap_or_else(|error| refuse(error));
    Prepared {
        config,
        origins,
        tls,
        mailer,
        places,
        data,
    }
}

/// The demo's own corner of the data folder, emptied: each demo starts afresh and touches nobody's data.
fn fresh_demo_data(data_dir: &Path) -> Result<DataDir, crate::data_dir::DataDirError> {
    let path = data_dir.join("demo");
    let data = DataDir::open(&path)?;
    data.empty()?;
    Ok(data)
}

/// Runs until a signal asks for the end.
///
/// # Errors
/// When something cannot be opened or bound; afterwards failures are handled where they happen.
pub(crate) async fn run(prepared: Prepared) -> anyhow::Result<()> {
    let Prepared {
        config,
        origins,
        tls,
        mailer,
        places,
        data,
    } = prepared;
    let operators = OperatorDesk::new();
    let health = runtime::admin::start_with(config.admin_listen, operators.router())?;

    let listener = runtime::http::bind(config.listen, false).with_context(|| {
        format!(
            "listen on {} (--listen); is another program using the port?",
            config.listen
        )
    })?;
    let bound = listener.local_addr().context("read the bound address")?;
    let found = addresses::addresses(
        bound,
        tls.is_some(),
        &origins,
        &addresses::interfaces(),
        runtime::host::name().as_deref(),
    );
    let https = found.main.starts_with("https://");
    let site = Site {
        origins: found.origins.clone(),
        https,
        sockets_max: places.sockets,
    };
    let product = Product::open(&config, &data, site, mailer).await?;
    operators.open(product.game_server());
    let mut router = product.router();
    if config.demo {
        router = router.merge(Demo::prepare(product.router(), bound).await?.router());
    }

    let mut shutdown = Shutdown::on_signals().context("handle signals")?;
    let options = Options {
        connections_max: places.connections,
        shared: false,
        tls,
        drain: DRAIN,
    };
    let served = tokio::spawn(runtime::http::serve(listener, router, options, shutdown.clone()));
    health.set_ready(true);
    announce(&found, &data, config.demo);

    shutdown.asked().await;
    health.set_ready(false);
    product.close().await;
    served.await.context("the listener")?;
    tracing::info!("stopped");
    Ok(())
}

#[expect(
    clippy::print_stdout,
    reason = "the reader is the person who typed the command"
)]
fn announce(found: &Addresses, data: &DataDir, demo: bool) {
    println!("Homeroom is running.");
    // The board shows the address under which it was opened, so a teacher needs one that phones can open as well.
    let board = found.phones.first().unwrap_or(&found.main);
    if demo {
        println!("  Demo game:  {board}/demo");
    } else {
        println!("  Teachers:   {board}/teach");
    }
    match found.phones.as_slice() {
        [] => println!("  Students:   {}", found.main),
        phones => println!(
            "  Students:   {}   (phones in the same network)",
            phones.join("   ")
        ),
    }
    println!("  Data:       {}", data.path().display());
    println!("Ctrl-C stops it.");
}
