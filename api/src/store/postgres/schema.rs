//! The schema's version: brought to this release by `api migrate`, only looked at by `api serve`.
//!
//! Serving does not migrate: of a dozen processes that start together, one would change the tables under the others, with
//! the rights of a process that faces the internet.

use std::collections::BTreeMap;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::PgConnection;

use super::database;
use crate::store::StoreError;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

/// SQLSTATE of a table that does not exist.
const NO_TABLE: &str = "42P01";

pub(super) async fn migrate(connection: &mut PgConnection) -> Result<(), StoreError> {
    match MIGRATIONS.run_direct(None, connection, false).await {
        Ok(()) => Ok(()),
        Err(MigrateError::VersionMissing(_)) => Err(StoreError::SchemaNewer),
        Err(error) => Err(StoreError::Migrate(error)),
    }
}

/// Whether the schema is exactly this release's.
pub(super) async fn check(connection: &mut PgConnection) -> Result<(), StoreError> {
    let applied = sqlx::query_as("SELECT version, checksum FROM _sqlx_migrations WHERE success")
        .fetch_all(connection)
        .await;
    let applied: Vec<(i64, Vec<u8>)> = match applied {
        Ok(rows) => rows,
        Err(error) if error.as_database_error().and_then(|e| e.code()).as_deref() == Some(NO_TABLE) => {
            return Err(StoreError::SchemaOlder);
        }
        Err(error) => return Err(database(error)),
    };
    let mut applied: BTreeMap<i64, Vec<u8>> = applied.into_iter().collect();
    for ours in MIGRATIONS.iter() {
        match applied.remove(&ours.version) {
            None => return Err(StoreError::SchemaOlder),
            Some(checksum) if checksum == *ours.checksum => {}
            Some(_) => return Err(StoreError::Migrate(MigrateError::VersionMismatch(ours.version))),
        }
    }
    if applied.is_empty() {
        Ok(())
    } else {
        Err(StoreError::SchemaNewer)
    }
}
