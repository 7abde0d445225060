//! Which mail server is meant, and the links that an operator hands out.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use api::{Clock, SmtpError, SmtpMailer, reset_link, smtp_has_password};
use runtime::files;
use thiserror::Error;

use crate::cli::{MailArgs, ResetLink};
use crate::process;

/// Bytes of a file with an address at most.
const FILE_BYTES_MAX: u64 = 4 * 1024;

/// Why no letters can be sent. Never repeats the address of the server.
#[derive(Debug, Error)]
pub(crate) enum PostboxError {
    /// It is no address.
    #[error("{flag} {why}")]
    Unusable {
        /// The flag.
        flag: &'static str,
        /// What is wrong with it.
        why: SmtpError,
    },
    /// Arguments and environment are seen by others.
    #[error(
        "--smtp holds a password, which others can see: put the URL into a file, and name it by --smtp-file"
    )]
    Password,
    /// The file cannot be read.
    #[error("--smtp-file {path} cannot be read: {why}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
}

/// The mail server that is meant, if any.
///
/// # Errors
/// When it cannot be read, or is none.
pub(crate) fn read(args: &MailArgs) -> Result<Option<SmtpMailer>, PostboxError> {
    let (flag, url) = match (&args.smtp, &args.smtp_file) {
        (_, Some(file)) => ("--smtp-file", read_file(file)?),
        (Some(url), None) if smtp_has_password(url) => return Err(PostboxError::Password),
        (Some(url), None) => ("--smtp", url.clone()),
        (None, None) => return Ok(None),
    };
    let sender = args.mail_from.as_deref().unwrap_or_default();
    let mailer = SmtpMailer::parse(&url, sender).map_err(|why| PostboxError::Unusable {
        flag: match why {
            SmtpError::Url => flag,
            SmtpError::Sender => "--mail-from",
        },
        why,
    })?;
    Ok(Some(mailer))
}

fn read_file(path: &Path) -> Result<String, PostboxError> {
    let text = files::read(path, FILE_BYTES_MAX).map_err(|why| PostboxError::Unreadable {
        path: path.to_owned(),
        why,
    })?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Prints a link for a new password, for whoever runs a server without mail.
///
/// # Errors
/// When there is no such account, the database cannot be opened, or standard output is closed.
pub(crate) async fn print_link(config: &ResetLink) -> anyhow::Result<()> {
    let store = process::start(&config.log, &config.database)
        .open(1, None)
        .await?;
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
