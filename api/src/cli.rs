//! Flags and environment of the API's process.

use std::net::SocketAddr;
use std::path::PathBuf;

use api::MailOptions;
use api::config::{ADDRESS_SIGN_INS_MAX_DEFAULT, TEACHER_GAMES_MAX_DEFAULT, TEACHER_REQUESTS_MAX_DEFAULT};
use clap::{Args, Parser, Subcommand};
use ipnet::IpNet;
use protocol::ids::{CodeError, GameCode};
use runtime::telemetry::LogFormat;

/// Connections unless something else is said: what four cores of a database keep busy, and six such processes fit into the
/// hundred that a PostgreSQL allows unless it is told otherwise.
const CONNECTIONS_DEFAULT: u32 = 16;
/// Connections at most: more only queue inside of the database.
const CONNECTIONS_MAX: u32 = 500;

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
    Serve(Box<Serve>),
    /// Brings the database to this release and ends.
    Migrate(Migrate),
    /// Prints a link by which a teacher sets a new password, once and within an hour, and ends.
    ResetLink(ResetLink),
    /// Prints what happened to the games that were played under a code, as JSON, and ends.
    Timeline(Timeline),
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
    /// Read replica of a PostgreSQL database, which answers the dashboard as far as it is up to date.
    #[arg(
        long,
        env = "HOMEROOM_API_REPLICA",
        value_name = "URL",
        hide_env_values = true,
        conflicts_with = "replica_file"
    )]
    pub(crate) replica: Option<String>,
    /// File with that URL, for one with a password.
    #[arg(long, env = "HOMEROOM_API_REPLICA_FILE", value_name = "FILE")]
    pub(crate) replica_file: Option<PathBuf>,
    /// Connections to PostgreSQL at most.
    #[arg(
        long,
        env = "HOMEROOM_API_DATABASE_CONNECTIONS",
        value_name = "NUMBER",
        default_value_t = CONNECTIONS_DEFAULT,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(CONNECTIONS_MAX))
    )]
    pub(crate) database_connections: u32,
    /// Redis by which API processes of one database agree, for example `redis://cache:6379`; needed when there are several.
    #[arg(
        long,
        env = "HOMEROOM_API_REDIS",
        value_name = "URL",
        hide_env_values = true,
        conflicts_with = "redis_file"
    )]
    pub(crate) redis: Option<String>,
    /// File with that URL, for one with a password.
    #[arg(long, env = "HOMEROOM_API_REDIS_FILE", value_name = "FILE")]
    pub(crate) redis_file: Option<PathBuf>,
    /// Calls of one teacher in a minute.
    #[arg(
        long,
        env = "HOMEROOM_API_TEACHER_REQUESTS_MAX",
        value_name = "NUMBER",
        default_value_t = TEACHER_REQUESTS_MAX_DEFAULT,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) teacher_requests_max: u32,
    /// Games that one teacher may start in a minute.
    #[arg(
        long,
        env = "HOMEROOM_API_TEACHER_GAMES_MAX",
        value_name = "NUMBER",
        default_value_t = TEACHER_GAMES_MAX_DEFAULT,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) teacher_games_max: u32,
    /// Attempts to sign in or up from one address in a minute. A whole school may be behind one.
    #[arg(
        long,
        env = "HOMEROOM_API_ADDRESS_SIGN_INS_MAX",
        value_name = "NUMBER",
        default_value_t = ADDRESS_SIGN_INS_MAX_DEFAULT,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) address_sign_ins_max: u32,
    /// Network of proxies in front of this process, for example `10.0.0.0/8`, whose X-Forwarded-For is believed. May be repeated; without
    /// any, nobody is, and all who come through a proxy share its address.
    #[arg(
        long = "trust-forwarded",
        env = "HOMEROOM_API_TRUST_FORWARDED",
        value_name = "NETWORK",
        value_delimiter = ','
    )]
    pub(crate) trust_forwarded: Vec<IpNet>,
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
    /// For measurements only, never in service: lets every call in, however many there are, to wait 30 s for a connection to
    /// PostgreSQL. It shows what admission is for.
    #[arg(long)]
    pub(crate) measure_without_admission: bool,
    /// For measurements only, never in service: every call first keeps a connection busy for so many milliseconds, so that calls
    /// a second are at most four fifths of `--database-connections` over this time.
    #[arg(long, value_name = "MILLISECONDS", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(crate) measure_call_delay_ms: Option<u64>,
    #[command(flatten)]
    pub(crate) mail: MailArgs,
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

/// How teachers are written to.
#[derive(Debug, Clone, Args)]
pub(crate) struct MailArgs {
    /// Mail server for letters with links for new passwords, for example `smtps://USER@mail.school.org`; no mail when not given.
    #[arg(
        long,
        env = "HOMEROOM_API_SMTP",
        value_name = "URL",
        hide_env_values = true,
        conflicts_with = "smtp_file",
        requires = "mail_from",
        requires = "public_url"
    )]
    pub(crate) smtp: Option<String>,
    /// File with that URL, for one with a password.
    #[arg(
        long,
        env = "HOMEROOM_API_SMTP_FILE",
        value_name = "FILE",
        requires = "mail_from",
        requires = "public_url"
    )]
    pub(crate) smtp_file: Option<PathBuf>,
    /// Sender of letters, for example `Homeroom <homeroom@school.org>`.
    #[arg(long, env = "HOMEROOM_API_MAIL_FROM", value_name = "ADDRESS")]
    pub(crate) mail_from: Option<String>,
}

impl MailArgs {
    pub(crate) fn options(&self) -> MailOptions<'_> {
        MailOptions {
            smtp: self.smtp.as_deref(),
            smtp_file: self.smtp_file.as_deref(),
            mail_from: self.mail_from.as_deref(),
        }
    }
}

/// Settings of `api reset-link`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ResetLink {
    /// The address that the teacher signs in with.
    pub(crate) email: String,
    /// Address under which people reach the site, for example `https://quiz.example`.
    #[arg(long, env = "HOMEROOM_API_PUBLIC_URL", value_name = "URL", value_parser = runtime::origin::parse)]
    pub(crate) public_url: String,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

/// Settings of `api timeline`.
#[derive(Debug, Clone, Args)]
pub(crate) struct Timeline {
    /// The code, as the class typed it.
    #[arg(value_parser = code)]
    pub(crate) code: GameCode,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

fn code(value: &str) -> Result<GameCode, CodeError> {
    GameCode::from_typed(value)
}

/// Which database.
#[derive(Debug, Clone, Args)]
pub(crate) struct DatabaseArgs {
    /// The database: `sqlite:PATH`, made when missing, or `postgres://USER@HOST/DATABASE`.
    // Kept as a text until `Database::read`: clap would repeat a bad value, and an address may hold a password.
    #[arg(
        long,
        env = "HOMEROOM_API_DATABASE",
        value_name = "URL",
        hide_env_values = true,
        conflicts_with = "database_file",
        required_unless_present = "database_file"
    )]
    pub(crate) database: Option<String>,
    /// File with that URL, for one with a password.
    #[arg(long, env = "HOMEROOM_API_DATABASE_FILE", value_name = "FILE")]
    pub(crate) database_file: Option<PathBuf>,
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::process;

    #[test]
    fn the_definition_is_sound_and_the_reference_page_tells_it() {
        Cli::command().debug_assert();
        let reference = runtime::config::reference(Cli::command());
        let page = include_str!("../../docs/configuration.md");
        assert!(
            page.contains(&reference),
            "docs/configuration.md must hold this:\n\n{reference}"
        );
        let connections = format!(
            "`api serve` holds at most {} client connections, and {} of game servers",
            process::CONNECTIONS_MAX,
            process::INTERNAL_CONNECTIONS_MAX
        );
        assert!(
            page.contains(&connections),
            "docs/configuration.md must hold: {connections}"
        );
    }
}
