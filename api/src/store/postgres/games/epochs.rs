//! Epochs that servers reserved. A save and a reservation of one game meet at its row, so that one of them waits for the other.

use protocol::ids::GameId;
use sqlx::postgres::PgConnection;

use super::super::database;
use crate::store::{EPOCH_GAP, StoreError};

/// Reserves an epoch above `above` and every one reserved before.
pub(super) async fn reserve(db: &mut PgConnection, id: GameId, above: u32) -> Result<u32, StoreError> {
    let epoch: i64 = sqlx::query_scalar(
        "INSERT INTO game_epochs AS known (game_id, epoch) VALUES ($1, $2 + $3)
         ON CONFLICT (game_id) DO UPDATE SET epoch = GREATEST(known.epoch, $2) + $3
         RETURNING epoch",
    )
    .bind(id.0)
    .bind(i64::from(above))
    .bind(i64::from(EPOCH_GAP))
    .fetch_one(db)
    .await
    .map_err(database)?;
    u32::try_from(epoch).map_err(|_| StoreError::Range { column: "epoch" })
}

/// Whether a result of this epoch may be stored; then nobody can reserve another one.
pub(super) async fn settle(db: &mut PgConnection, id: GameId, epoch: u32) -> Result<bool, StoreError> {
    let least: i64 = sqlx::query_scalar(
        "INSERT INTO game_epochs AS known (game_id, epoch) VALUES ($1, $2)
         ON CONFLICT (game_id) DO UPDATE SET epoch = GREATEST(known.epoch, $2)
         RETURNING epoch",
    )
    .bind(id.0)
    .bind(i64::from(epoch))
    .fetch_one(&mut *db)
    .await
    .map_err(database)?;
    if i64::from(epoch) < least {
        return Ok(false);
    }
    // Waits for no longer than this transaction: the result itself refuses reservations from then on.
    sqlx::query("DELETE FROM game_epochs WHERE game_id = $1")
        .bind(id.0)
        .execute(db)
        .await
        .map(|_done| true)
        .map_err(database)
}

/// Whether the game has a result, or had one that was deleted.
pub(super) async fn has_result(db: &mut PgConnection, id: GameId) -> Result<bool, StoreError> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM games WHERE id = $1) OR EXISTS (SELECT 1 FROM deleted_games WHERE id = $1)",
    )
    .bind(id.0)
    .fetch_one(db)
    .await
    .map_err(database)
}
