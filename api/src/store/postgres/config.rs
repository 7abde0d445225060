//! Which PostgreSQL, and how it is reached: from a URL.

use std::fmt;
use std::str::FromStr as _;
use std::time::Duration;

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use thiserror::Error;

/// Connections of one process unless something else is said: four small database cores' worth, and six such processes fit
/// into the hundred that a server allows unless it is told otherwise.
const CONNECTIONS_DEFAULT: u32 = 16;
/// Time for one statement at the server, in milliseconds: nobody waits longer for a page.
const STATEMENT_MAX_MS: &str = "2000";
/// Time that a statement waits for another transaction's lock, in milliseconds: within the above, so that the error says which.
const LOCK_MAX_MS: &str = "1000";
/// Time that a transaction may stand still, in milliseconds: that of a process which was frozen or cut off must not hold locks.
const TRANSACTION_IDLE_MAX_MS: &str = "5000";

/// Where the database is.
#[derive(Clone)]
pub struct PostgresConfig {
    options: PgConnectOptions,
    has_password: bool,
    connections: u32,
    acquire_max: Option<Duration>,
    replica: Option<Box<PostgresConfig>>,
}

/// Why a URL names no PostgreSQL database that can be used. Never repeats it.
#[derive(Debug, Error)]
pub enum PostgresConfigError {
    /// It cannot be read as a URL of PostgreSQL's kind.
    #[error("is no address of the form postgres://user@host/database")]
    Url,
    /// It names no database; the user's name would be taken for one.
    #[error("names no database, as in postgres://user@host/database")]
    NoDatabase,
}

impl PostgresConfig {
    /// Reads `postgres://[user[:password]@]host[:port]/database[?parameters]`, where `sslmode` (`disable`, `prefer`, `require`,
    /// `verify-ca`, `verify-full`), `sslrootcert`, `sslcert` and `sslkey` are the parameters of interest, and a host that begins
    /// with `%2F` is the folder of a socket. Without `sslmode` it is `prefer`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn parse(url: &str) -> Result<Self, PostgresConfigError> {
        let options = PgConnectOptions::from_str(url).map_err(|_mentions_it| PostgresConfigError::Url)?;
        if options.get_database().is_none_or(str::is_empty) {
            return Err(PostgresConfigError::NoDatabase);
        }
        Ok(Self {
            has_password: has_password(url),
            options: options.application_name("homeroom-api").options([
                ("statement_timeout", STATEMENT_MAX_MS),
                ("lock_timeout", LOCK_MAX_MS),
                ("idle_in_transaction_session_timeout", TRANSACTION_IDLE_MAX_MS),
                // A connection that was cut silently is closed here by then; the server would keep it, one of its hundred, for two hours.
                ("tcp_keepalives_idle", "30"),
                ("tcp_keepalives_interval", "10"),
                ("tcp_keepalives_count", "3"),
            ]),
            connections: CONNECTIONS_DEFAULT,
            acquire_max: None,
            replica: None,
        })
    }

    /// With at most this many connections, at least one.
    #[must_use]
    pub fn with_connections(mut self, connections: u32) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// With calls that wait this long for a connection: for measurements without admission, which shows what a pool's own queue
    /// comes to.
    #[must_use]
    pub fn with_acquire_max(mut self, acquire_max: Duration) -> Self {
        self.acquire_max = Some(acquire_max);
        self
    }

    pub(super) fn acquire_max(&self) -> Option<Duration> {
        self.acquire_max
    }

    /// Connections at most.
    #[must_use]
    pub fn connections(&self) -> u32 {
        self.connections
    }

    /// With a copy of it, a streaming replica, that answers the dashboard's counts as far as it is up to date.
    #[must_use]
    pub fn with_replica(mut self, replica: PostgresConfig) -> Self {
        self.replica = Some(Box::new(replica));
        self
    }

    pub(super) fn replica(&self) -> Option<&PostgresConfig> {
        self.replica.as_deref()
    }

    /// Whether the URL holds a password.
    #[must_use]
    pub fn has_password(&self) -> bool {
        self.has_password
    }

    /// Whether the server has to prove who it is.
    #[must_use]
    pub fn verifies_server(&self) -> bool {
        match self.options.get_ssl_mode() {
            PgSslMode::VerifyCa | PgSslMode::VerifyFull => true,
            PgSslMode::Disable | PgSslMode::Allow | PgSslMode::Prefer | PgSslMode::Require => false,
        }
    }

    pub(super) fn connect(&self) -> PgConnectOptions {
        // The driver would log every statement: too much, and it is no place for a look into one.
        self.options.clone().disable_statement_logging()
    }
}

/// In the address itself or among the parameters.
fn has_password(url: &str) -> bool {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (authority, rest) = match after_scheme.find(['/', '?', '#']) {
        Some(end) => after_scheme.split_at(end),
        None => (after_scheme, ""),
    };
    let in_authority = authority
        .rsplit_once('@')
        .is_some_and(|(user, _)| user.contains(':'));
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    in_authority || query.split('&').any(|pair| pair.starts_with("password="))
}

impl fmt::Debug for PostgresConfig {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for PostgresConfig {
    /// Host and database, for the log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.options.get_database().unwrap_or_default();
        match self.options.get_socket() {
            Some(folder) => write!(f, "{database} at {}", folder.display()),
            None => write!(
                f,
                "{database} at {}:{}",
                self.options.get_host(),
                self.options.get_port()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_read_and_its_password_is_not_shown() {
        for (url, shown, password) in [
            ("postgres://anna:hunter2@db:5433/quiz", "quiz at db:5433", true),
            (
                "postgresql://anna@db/quiz?sslmode=verify-full",
                "quiz at db:5432",
                false,
            ),
            (
                "postgres://anna@db/quiz?password=hunter2",
                "quiz at db:5432",
                true,
            ),
            ("postgres://anna@%2Frun%2Fpg/quiz", "quiz at /run/pg", false),
            ("postgres://db/quiz?user=a:b", "quiz at db:5432", false),
        ] {
            let config = PostgresConfig::parse(url).unwrap();
            assert_eq!(format!("{config}, {config:?}"), format!("{shown}, {shown}"));
            assert_eq!(config.has_password(), password, "{url}");
            assert_eq!(config.verifies_server(), url.contains("verify"), "{url}");
        }
    }

    #[test]
    fn other_urls_are_refused_without_being_repeated() {
        for url in [
            "postgres://anna:hunter2@db:99999/quiz",
            "postgres://anna:hunter2@db",
            "postgres://anna:hunter2@db/",
            "postgres://anna:hunter2@db/quiz?sslmode=hunter2",
        ] {
            let why = PostgresConfig::parse(url).unwrap_err();
            assert!(!format!("{why} {why:?}").contains("hunter2"), "{url}");
        }
    }
}
