//! Flags and environment of the API's process.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use runtime::telemetry::LogFormat;
use thiserror::Error;

/// Accounts, quizzes, import, results and reports; and the web front end.
#[derive(Debug, Parser)]
#[command(name = "api", version, arg_required_else_help = false)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serves the API under `/store`, the web front end at the root, and game servers on a listener of their own.
    Serve(Serve),
    /// Brings the database to this release and ends.
    Migrate(Migrate),
}

/// Settings of `api serve`.
#[derive(Debug, Clone, Args)]
pub(crate) struct Serve {
    /// Address and port for clients.
    #[arg(long, env = "HOMEROOM_API_LISTEN", default_value = "0.0.0.0:8080")]
    pub(crate) listen: SocketAddr,
    /// Address and port for game servers' plan checks and results; no ingress may lead here.
    #[arg(long, env = "HOMEROOM_API_INTERNAL_LISTEN", default_value = "127.0.0.1:8082")]
    pub(crate) internal_listen: SocketAddr,
    /// Address for /live, /ready and /metrics, for example `127.0.0.1:9090`; off when not given.
    #[arg(long, env = "HOMEROOM_API_ADMIN_LISTEN")]
    pub(crate) admin_listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// File with the keys that tokens are signed with, the same for all API processes; made when missing.
    #[arg(long, env = "HOMEROOM_API_KEYS_FILE", value_name = "FILE")]
    pub(crate) keys_file: PathBuf,
    /// File to write the public keys to at the start, for the game servers' `--jwks-file`.
    #[arg(long, env = "HOMEROOM_API_JWKS_OUT", value_name = "FILE")]
    pub(crate) jwks_out: Option<PathBuf>,
    /// File with the secret that game servers sign internal calls with, at least 32 bytes; may be repeated while it is changed.
    #[arg(
        long = "service-token-file",
        env = "HOMEROOM_API_SERVICE_TOKEN_FILE",
        value_name = "FILE",
        value_delimiter = ',',
        required = true
    )]
    pub(crate) service_token_files: Vec<PathBuf>,
    /// Address under which people reach the site, for example `https://quiz.example`; https makes cookies secure.
    #[arg(long, env = "HOMEROOM_API_PUBLIC_URL", value_name = "URL", value_parser = runtime::origin::parse)]
    pub(crate) public_url: Option<String>,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// Settings of `api migrate`.
#[derive(Debug, Clone, Args)]
pub(crate) struct Migrate {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// Which database.
#[derive(Debug, Clone, Args)]
pub(crate) struct DatabaseArgs {
    /// The database: `sqlite:PATH`; made when missing.
    // Kept as a text until `Database::parse`: clap would repeat a bad value, and an address may hold a password.
    #[arg(
        long,
        env = "HOMEROOM_API_DATABASE",
        value_name = "URL",
        hide_env_values = true
    )]
    database: String,
}

/// How to log.
#[derive(Debug, Clone, Args)]
pub(crate) struct LogArgs {
    /// Look of the log on standard error.
    #[arg(long, env = "HOMEROOM_API_LOG_FORMAT", value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
    /// What to log, for example `info` or `info,api=debug`.
    #[arg(long, env = "HOMEROOM_API_LOG", default_value = "info")]
    pub(crate) log: String,
}

/// A database that can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Database {
    /// SQLite in this file.
    Sqlite(PathBuf),
}

/// Why a database cannot be used. Never repeats the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum DatabaseError {
    /// It is PostgreSQL's.
    #[error("--database: this release has no PostgreSQL store yet; use sqlite:PATH")]
    Postgres,
    /// It is no address known here.
    #[error("--database must be sqlite: and the path of a file")]
    Unknown,
}

impl DatabaseArgs {
    /// The database that is meant.
    ///
    /// # Errors
    /// When this release cannot open it.
    pub(crate) fn parse(&self) -> Result<Database, DatabaseError> {
        let (scheme, rest) = self.database.split_once(':').ok_or(DatabaseError::Unknown)?;
        match scheme {
            "sqlite" => {
                // Both spellings are common; three slashes are an absolute path.
                let path = rest.strip_prefix("//").unwrap_or(rest);
                if path.is_empty() || path.contains('?') || path == ":memory:" {
                    return Err(DatabaseError::Unknown);
                }
                Ok(Database::Sqlite(PathBuf::from(path)))
            }
            "postgres" | "postgresql" => Err(DatabaseError::Postgres),
            _ => Err(DatabaseError::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound_and_the_reference_page_tells_it() {
        Cli::command().debug_assert();
        let reference = runtime::config::reference(Cli::command());
        let page = include_str!("../../docs/configuration.md");
        assert!(
            page.contains(&reference),
            "docs/configuration.md must hold this:\n\n{reference}"
        );
    }

    #[test]
    fn databases_are_told_by_their_scheme() {
        let parse = |text: &str| {
            DatabaseArgs {
                database: text.to_owned(),
            }
            .parse()
        };
        for (text, path) in [
            ("sqlite:a/b.db", "a/b.db"),
            ("sqlite://a.db", "a.db"),
            ("sqlite:///var/a.db", "/var/a.db"),
        ] {
            assert_eq!(parse(text), Ok(Database::Sqlite(path.into())));
        }
        for text in ["postgres://u:secret@h/d", "postgresql://h/d"] {
            assert_eq!(parse(text), Err(DatabaseError::Postgres));
        }
        for text in [
            "",
            "a.db",
            "sqlite:",
            "sqlite::memory:",
            "mysql://h",
            "sqlite:a?mode=ro",
        ] {
            assert_eq!(parse(text), Err(DatabaseError::Unknown), "{text}");
        }
    }
}
