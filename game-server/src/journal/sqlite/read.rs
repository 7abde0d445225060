//! What is read of games.

use protocol::ids::{GameCode, GameId};
use sqlx::sqlite::{SqlitePool, SqliteRow};
use sqlx::{Row as _, SqliteConnection};
use uuid::Uuid;

use super::int;
use crate::ambient;
use crate::journal::{ClaimId, LogError, Owner, RecordNumber, ServerId, StoreId, Stored, Tail};

/// SQLite's primary result code for "the disk image is malformed".
const MALFORMED_CODE: i32 = 11;

pub(super) async fn games(readers: &SqlitePool) -> Result<Vec<(GameCode, Option<Owner>)>, LogError> {
    let rows =
        sqlx::query("SELECT code, game, create_key, server, incarnation, epoch, claim, last FROM games WHERE remove_at IS NULL OR remove_at > ?1")
            .bind(int(ambient::unix_ms()))
            .fetch_all(readers)
            .await
            .map_err(unavailable)?;
    rows.iter()
        .map(|row| {
            let code: &str = row.try_get("code").map_err(unavailable)?;
            // What is no code leads nobody anywhere.
            let owner = || tail_of(row).ok().map(|tail| tail.owner);
            Ok(code.parse().ok().map(|code| (code, owner())))
        })
        .filter_map(Result::transpose)
        .collect()
}

pub(super) async fn tail(readers: &SqlitePool, code: GameCode) -> Result<Option<Tail>, LogError> {
    let mut connection = readers.acquire().await.map_err(unavailable)?;
    tail_in(&mut connection, code).await
}

/// The tail as the connection's transaction sees it.
pub(super) async fn tail_in(
    connection: &mut SqliteConnection,
    code: GameCode,
) -> Result<Option<Tail>, LogError> {
    sqlx::query("SELECT game, create_key, server, incarnation, epoch, claim, last FROM games WHERE code = ?1 AND (remove_at IS NULL OR remove_at > ?2)")
        .bind(code.to_string())
        .bind(int(ambient::unix_ms()))
        .fetch_optional(connection)
        .await
        .map_err(unavailable)?
        .map(|row| tail_of(&row))
        .transpose()
}

pub(super) async fn load(readers: &SqlitePool, code: GameCode) -> Result<Option<Stored>, LogError> {
    // One transaction, so that what is read is of one moment.
    let mut transaction = readers.begin().await.map_err(unavailable)?;
    let Some(Tail { owner, last, .. }) = tail_in(&mut transaction, code).await? else {
        return Ok(None);
    };
    let row = sqlx::query(
        "SELECT f.bytes AS facts, s.bytes AS snapshot, s.through FROM facts f JOIN snapshots s ON s.code = f.code WHERE f.code = ?1",
    )
    .bind(code.to_string())
    .fetch_optional(&mut *transaction)
    .await
    .map_err(unavailable)?
    .ok_or_else(corrupt)?;
    let appends: Vec<Vec<u8>> =
        sqlx::query_scalar("SELECT bytes FROM journal WHERE code = ?1 ORDER BY first")
            .bind(code.to_string())
            .fetch_all(&mut *transaction)
            .await
            .map_err(unavailable)?;
    Ok(Some(Stored {
        owner,
        facts: row.try_get("facts").map_err(damaged)?,
        snapshot: row.try_get("snapshot").map_err(damaged)?,
        through: RecordNumber(unsigned(&row, "through")?),
        journal: appends.concat(),
        last,
    }))
}

fn tail_of(row: &SqliteRow) -> Result<Tail, LogError> {
    let name: Option<String> = row.try_get("server").map_err(damaged)?;
    let incarnation: Option<Uuid> = row.try_get("incarnation").map_err(damaged)?;
    let owner = Owner {
        game: GameId(row.try_get("game").map_err(damaged)?),
        create_key: row.try_get("create_key").map_err(damaged)?,
        server: name
            .zip(incarnation)
            .map(|(name, incarnation)| ServerId { name, incarnation }),
        epoch: u32::try_from(unsigned(row, "epoch")?).map_err(|_| corrupt())?,
        claim: ClaimId(row.try_get("claim").map_err(damaged)?),
    };
    let last = RecordNumber(unsigned(row, "last")?);
    Ok(Tail {
        owner,
        last,
        // A file has one run.
        store: StoreId::default(),
    })
}

fn unsigned(row: &SqliteRow, column: &str) -> Result<u64, LogError> {
    let value: i64 = row.try_get(column).map_err(damaged)?;
    u64::try_from(value).map_err(|_| corrupt())
}

fn corrupt() -> LogError {
    LogError::Corrupt {
        what: "a row of a game",
    }
}

/// A column of another kind than ours.
fn damaged(_: sqlx::Error) -> LogError {
    corrupt()
}

pub(super) fn unavailable(error: sqlx::Error) -> LogError {
    let code = error.as_database_error().and_then(|error| error.code());
    let code: Option<i32> = code.and_then(|code| code.parse().ok());
    // The low byte is the primary one.
    if code.is_some_and(|code| code & 0xff == MALFORMED_CODE) {
        LogError::Corrupt {
            what: "the games' file",
        }
    } else {
        LogError::Unavailable(error.into())
    }
}
