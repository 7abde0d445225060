//! The links that an operator hands out.

use std::io::Write as _;

use api::{Clock, reset_link};

use crate::cli::ResetLink;
use crate::process;

/// Prints a link for a new password, for whoever runs a server without mail.
///
/// # Errors
/// When there is no such account, the database is not there or cannot be opened, or standard output is closed.
pub(crate) async fn print_link(config: &ResetLink) -> anyhow::Result<()> {
    let database = process::start(&config.log, &config.database);
    database.must_exist()?;
    let store = database.open(1, None).await?;
    let link = reset_link(
        &*store,
        &config.email,
        &config.public_url,
        Clock::system().now_ms(),
    )
    .await;
    store.close().await;
    let Some(link) = link? else {
        anyhow::bail!("there is no account with the address {}", config.email);
    };
    writeln!(std::io::stdout().lock(), "{link}")?;
    Ok(())
}
