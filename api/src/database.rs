//! Which database is meant, and the store in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use api::{PostgresConfig, PostgresConfigError, PostgresStore, SqliteStore, Store};
use runtime::files;
use thiserror::Error;

use crate::cli::DatabaseArgs;

/// Bytes of a file with an address at most.
const FILE_BYTES_MAX: u64 = 4 * 1024;

/// A database that can be opened.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    /// SQLite in this file.
    Sqlite(PathBuf),
    /// PostgreSQL.
    Postgres(Box<PostgresConfig>),
}

/// Why a database cannot be used. Never repeats the address.
#[derive(Debug, Error)]
pub(crate) enum DatabaseError {
    /// It is no address known here.
    #[error("{flag} must be sqlite: and the path of a file, or postgres://user@host/database")]
    Unknown {
        /// The flag.
        flag: &'static str,
    },
    /// It is PostgreSQL's, but wrong.
    #[error("{flag} {why}")]
    Postgres {
        /// The flag.
        flag: &'static str,
        /// What is wrong with it.
        why: PostgresConfigError,
    },
    /// Arguments and environment are seen by others.
    #[error(
        "{flag} holds a password, which others can see: put the URL into a file, and name it by {flag}-file"
    )]
    Password {
        /// The flag.
        flag: &'static str,
    },
    /// Only PostgreSQL has them.
    #[error("--replica is for PostgreSQL: both addresses must begin with postgres://")]
    Replica,
    /// The file cannot be read.
    #[error("{flag} {path} cannot be read: {why}")]
    Unreadable {
        /// The flag.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
}

impl DatabaseArgs {
    /// The database that is meant.
    ///
    /// # Errors
    /// When it cannot be read, or is none.
    pub(crate) fn read(&self) -> Result<Database, DatabaseError> {
        let flags = ("--database", "--database-file");
        read(flags, self.database.as_deref(), self.database_file.as_deref())
    }
}

/// With its read replica, if one is named.
///
/// # Errors
/// When that cannot be read, or one of the two is no PostgreSQL.
pub(crate) fn with_replica(
    database: Database,
    url: Option<&str>,
    file: Option<&Path>,
) -> Result<Database, DatabaseError> {
    if url.is_none() && file.is_none() {
        return Ok(database);
    }
    let replica = read(("--replica", "--replica-file"), url, file)?;
    match (database, replica) {
        (Database::Postgres(primary), Database::Postgres(replica)) => {
            Ok(Database::Postgres(Box::new(primary.with_replica(*replica))))
        }
        (Database::Sqlite(_), _) | (_, Database::Sqlite(_)) => Err(DatabaseError::Replica),
    }
}

fn read(
    (flag, file_flag): (&'static str, &'static str),
    url: Option<&str>,
    file: Option<&Path>,
) -> Result<Database, DatabaseError> {
    let Some(file) = file else {
        let database = parse(flag, url.unwrap_or_default())?;
        return match &database {
            Database::Postgres(config) if config.has_password() => Err(DatabaseError::Password { flag }),
            Database::Postgres(_) | Database::Sqlite(_) => Ok(database),
        };
    };
    let text = files::read(file, FILE_BYTES_MAX).map_err(|why| DatabaseError::Unreadable {
        flag: file_flag,
        path: file.to_owned(),
        why,
    })?;
    let url = std::str::from_utf8(&text).map_err(|_| DatabaseError::Unknown { flag: file_flag })?;
    parse(file_flag, url.trim())
}

fn parse(flag: &'static str, url: &str) -> Result<Database, DatabaseError> {
    let (scheme, rest) = url.split_once(':').ok_or(DatabaseError::Unknown { flag })?;
    match scheme {
        "sqlite" => {
            // Both spellings are common; three slashes are an absolute path.
            let path = rest.strip_prefix("//").unwrap_or(rest);
            if path.is_empty() || path.contains('?') || path == ":memory:" {
                return Err(DatabaseError::Unknown { flag });
            }
            Ok(Database::Sqlite(PathBuf::from(path)))
        }
        "postgres" | "postgresql" => {
            let config = PostgresConfig::parse(url).map_err(|why| DatabaseError::Postgres { flag, why })?;
            Ok(Database::Postgres(Box::new(config)))
        }
        _ => Err(DatabaseError::Unknown { flag }),
    }
}

impl Database {
    /// Opens it for serving. SQLite is made and migrated, as one process owns it; PostgreSQL must be of this release. Calls wait for
    /// one of its connections as long as admission makes sense of, or for `acquire_max`.
    ///
    /// # Errors
    /// When it cannot be opened, or is of another release.
    pub(crate) async fn open(
        self,
        connections: u32,
        acquire_max: Option<Duration>,
    ) -> anyhow::Result<Arc<dyn Store>> {
        match self {
            Self::Sqlite(path) => Ok(Arc::new(sqlite(&path).await?)),
            Self::Postgres(config) => {
                let config = config.with_connections(connections);
                let config = match acquire_max {
                    Some(acquire_max) => config.with_acquire_max(acquire_max),
                    None => config,
                };
                if !config.verifies_server() {
                    tracing::warn!(
                        "the database does not have to prove who it is; across a network add sslmode=verify-full to its URL"
                    );
                }
                let store = PostgresStore::open(&config)
                    .await
                    .with_context(|| format!("open the database {config}"))?;
                Ok(Arc::new(store))
            }
        }
    }

    /// For commands that read or change what is there: a file that is not is a mistyped address, and none is made.
    ///
    /// # Errors
    /// When it is not there. A server says so itself when it is asked.
    pub(crate) fn must_exist(&self) -> anyhow::Result<()> {
        if let Self::Sqlite(path) = self {
            anyhow::ensure!(path.exists(), "there is no database at {}", path.display());
        }
        Ok(())
    }

    /// Brings it to this release.
    ///
    /// # Errors
    /// When it cannot be opened, or is of a newer release.
    pub(crate) async fn migrate(&self) -> anyhow::Result<()> {
        match self {
            // One process at a time migrates; the others wait for its lock.
            Self::Sqlite(path) => sqlite(path).await?.close().await,
            Self::Postgres(config) => PostgresStore::migrate(config)
                .await
                .with_context(|| format!("migrate the database {config}"))?,
        }
        Ok(())
    }
}

async fn sqlite(path: &Path) -> anyhow::Result<SqliteStore> {
    SqliteStore::open(path)
        .await
        .with_context(|| format!("open the database {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> Result<Database, DatabaseError> {
        let args = DatabaseArgs {
            database: Some(url.to_owned()),
            database_file: None,
        };
        args.read()
    }

    #[test]
    fn a_replica_is_a_second_postgres() {
        let with = |url, replica| with_replica(read(url).unwrap(), replica, None);
        let postgres = "postgres://u@h/d";
        assert!(matches!(
            with(postgres, Some(postgres)),
            Ok(Database::Postgres(_))
        ));
        assert!(matches!(with("sqlite:a", None), Ok(Database::Sqlite(_))));
        for (url, replica) in [("sqlite:a", postgres), (postgres, "sqlite:a")] {
            assert!(matches!(with(url, Some(replica)), Err(DatabaseError::Replica)));
        }
        let secret = with(postgres, Some("postgres://u:p@h/d"));
        assert!(matches!(
            secret,
            Err(DatabaseError::Password { flag: "--replica" })
        ));
    }

    fn read_file(content: &str) -> Result<Database, DatabaseError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        let args = DatabaseArgs {
            database: None,
            database_file: Some(file.path().to_owned()),
        };
        args.read()
    }

    #[test]
    fn databases_are_told_by_their_scheme() {
        for (url, path) in [
            ("sqlite:a/b.db", "a/b.db"),
            ("sqlite://a.db", "a.db"),
            ("sqlite:///var/a.db", "/var/a.db"),
        ] {
            assert!(
                matches!(read(url), Ok(Database::Sqlite(found)) if found == Path::new(path)),
                "{url}"
            );
        }
        for url in ["postgres://u@h/d", "postgresql://h/d?sslmode=require"] {
            assert!(matches!(read(url), Ok(Database::Postgres(_))), "{url}");
        }
        for url in [
            "",
            "a.db",
            "sqlite:",
            "sqlite::memory:",
            "mysql://h",
            "sqlite:a?mode=ro",
        ] {
            assert!(matches!(read(url), Err(DatabaseError::Unknown { .. })), "{url}");
        }
    }

    #[test]
    fn a_password_comes_from_a_file_only() {
        let url = "postgres://anna:hunter2@db/quiz";
        assert!(matches!(read(url), Err(DatabaseError::Password { .. })));
        assert!(matches!(
            read_file(&format!("{url}\n")),
            Ok(Database::Postgres(_))
        ));
        assert!(matches!(read_file("nothing"), Err(DatabaseError::Unknown { .. })));
        let absent = DatabaseArgs {
            database: None,
            database_file: Some("/nowhere/at/all".into()),
        };
        assert!(matches!(absent.read(), Err(DatabaseError::Unreadable { .. })));
    }
}
