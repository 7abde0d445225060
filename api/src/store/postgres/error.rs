//! What PostgreSQL's errors mean for whoever called: come back later, or something is broken.

use crate::store::StoreError;

/// SQLSTATE classes and codes that pass by themselves: a conflict with another transaction, a lock or statement that took
/// too long, no connection left, a server that is starting or stopping.
const PASSING: [&str; 9] = [
    "40001", "40P01", "55P03", "57014", "53300", "57P01", "57P02", "57P03", "25P03",
];
/// A standby that has become the primary's past: writes belong elsewhere now.
const READ_ONLY: &str = "25006";
/// No room left to write.
const DISK_FULL: &str = "53100";

/// Sorts an error of the driver.
pub(super) fn database(error: sqlx::Error) -> StoreError {
    let code = error.as_database_error().and_then(|error| error.code());
    match code.as_deref() {
        Some(DISK_FULL) => StoreError::Full(error),
        Some(code) if PASSING.contains(&code) || code == READ_ONLY => StoreError::Busy(error),
        // 08: connection exceptions.
        Some(code) if code.starts_with("08") => StoreError::Away(error),
        Some(_) => StoreError::Database(error),
        None => without_code(error),
    }
}

fn without_code(error: sqlx::Error) -> StoreError {
    let unreachable = matches!(
        error,
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed
    );
    if matches!(error, sqlx::Error::PoolTimedOut) {
        StoreError::Busy(error)
    } else if unreachable {
        StoreError::Away(error)
    } else {
        StoreError::Database(error)
    }
}
