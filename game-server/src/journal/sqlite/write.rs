//! What is written to games: each write is applied inside the writer's transaction.

use std::future::Future;
use std::time::Duration;

use protocol::ids::GameCode;
use sqlx::SqliteConnection;

use super::int;
use super::read::{tail_in, unavailable};
use crate::ambient;
use crate::journal::{
    Asserted, Batch, Birth, ClaimId, Claimed, Created, LogError, Owner, RecordNumber, ServerId, Tail, Written,
};

/// Something to write.
pub(super) trait Write: Send + 'static {
    type Answer: Send + 'static;

    /// Writes it. An error undoes the whole transaction.
    fn apply(&self, to: &mut SqliteConnection)
    -> impl Future<Output = Result<Self::Answer, LogError>> + Send;
}

#[derive(Debug)]
pub(super) struct Create {
    pub(super) code: GameCode,
    pub(super) birth: Birth,
}

#[derive(Debug)]
pub(super) struct Claim {
    pub(super) code: GameCode,
    pub(super) seen: ClaimId,
    pub(super) server: ServerId,
    pub(super) claim: ClaimId,
    pub(super) least_epoch: u32,
}

#[derive(Debug)]
pub(super) struct Assert {
    pub(super) code: GameCode,
    pub(super) birth: Birth,
}

#[derive(Debug)]
pub(super) struct Append {
    pub(super) code: GameCode,
    pub(super) claim: ClaimId,
    pub(super) batch: Batch,
}

#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) code: GameCode,
    pub(super) claim: ClaimId,
    pub(super) through: RecordNumber,
    pub(super) snapshot: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Release {
    pub(super) code: GameCode,
    pub(super) claim: ClaimId,
}

#[derive(Debug)]
pub(super) struct Remove {
    pub(super) code: GameCode,
    pub(super) claim: ClaimId,
    pub(super) after: Duration,
}

impl Write for Create {
    type Answer = Created;

    async fn apply(&self, to: &mut SqliteConnection) -> Result<Created, LogError> {
        let owner = &self.birth.owner;
        if let Some(Tail { owner: kept, .. }) = tail_in(to, self.code).await? {
            return Ok(if kept.is_same_birth(owner) {
                Created::Same(kept)
            } else {
                Created::Taken(kept)
            });
        }
        insert(to, self.code, owner, &self.birth).await?;
        Ok(Created::New)
    }
}

impl Write for Claim {
    type Answer = Claimed;

    async fn apply(&self, to: &mut SqliteConnection) -> Result<Claimed, LogError> {
        let Some(Tail { owner, .. }) = tail_in(to, self.code).await? else {
            return Ok(Claimed::Missing);
        };
        if owner.claim == self.claim {
            return Ok(Claimed::Yes(owner));
        }
        if owner.claim != self.seen {
            return Ok(Claimed::Beaten(owner));
        }
        let owner = owner.claimed_by(self.server.clone(), self.claim, self.least_epoch);
        set_owner(to, self.code, &owner).await?;
        Ok(Claimed::Yes(owner))
    }
}

impl Write for Assert {
    type Answer = Asserted;

    async fn apply(&self, to: &mut SqliteConnection) -> Result<Asserted, LogError> {
        let mut owner = self.birth.owner.clone();
        if let Some(Tail {
            owner: kept, last, ..
        }) = tail_in(to, self.code).await?
        {
            if kept.claim != owner.claim {
                return Ok(Asserted::Fenced);
            }
            if self.birth.through < last {
                return Ok(Asserted::Refused { last });
            }
            owner.epoch = kept.epoch_asserted(owner.epoch, true);
        }
        insert(to, self.code, &owner, &self.birth).await?;
        Ok(Asserted::Yes(owner))
    }
}

impl Write for Append {
    type Answer = Written;

    async fn apply(&self, to: &mut SqliteConnection) -> Result<Written, LogError> {
        if self.try_follow(to, &self.batch).await? {
            return Ok(Written::Saved);
        }
        let last = match held(to, self.code, self.claim).await? {
            Ok(last) => last,
            Err(refusal) => return Ok(refusal),
        };
        let Some(rest) = self.batch.clone().after(last) else {
            return Ok(Written::Refused { last });
        };
        if rest.is_empty() || self.try_follow(to, &rest).await? {
            return Ok(Written::Saved);
        }
        // Nobody else writes in this transaction, so that what was read just now still holds.
        Err(LogError::Corrupt { what: "a tail" })
    }
}

impl Append {
    /// Appends if the claim holds and the batch follows the last record: the usual case in two statements.
    async fn try_follow(&self, to: &mut SqliteConnection, batch: &Batch) -> Result<bool, LogError> {
        let follows = sqlx::query("UPDATE games SET last = ?1 WHERE code = ?2 AND claim = ?3 AND last = ?4 AND (remove_at IS NULL OR remove_at > ?5)")
            .bind(int(batch.last().0))
            .bind(self.code.to_string())
            .bind(self.claim.0)
            .bind(int(batch.follows().0))
            .bind(int(ambient::unix_ms()))
            .execute(&mut *to)
            .await
            .map_err(unavailable)?
            .rows_affected()
            > 0;
        if follows {
            sqlx::query("INSERT INTO journal (code, first, bytes) VALUES (?1, ?2, ?3)")
                .bind(self.code.to_string())
                .bind(int(batch.follows().next().0))
                .bind(batch.bytes())
                .execute(to)
                .await
                .map_err(unavailable)?;
        }
        Ok(follows)
    }
}

impl Write for Snapshot {
    type Answer = Written;

    async fn apply(&self, to: &mut SqliteConnection) -> Result<Written, LogError> {
        let last = match held(to, self.code, self.claim).await? {
            Ok(last) => last,
            Err(refusal) => return Ok(refusal),
        };
        if self.through < last {
            return Ok(Written::Refused { last });
        }
        let code = self.code.to_string();
        let statements = [
            sqlx::query("UPDATE games SET last = ?2 WHERE code = ?1")
                .bind(&code)
                .bind(int(self.through.0)),
            sqlx::query("UPDATE snapshots SET through = ?2, bytes = ?3 WHERE code = ?1")
                .bind(&code)
                .bind(int(self.through.0))
                .bind(&self.snapshot),
            sqlx::query("DELETE FROM journal WHERE code = ?1").bind(&code),
        ];
        for statement in statements {
            statement.execute(&mut *to).await.map_err(unavailable)?;
        }
        Ok(Written::Saved)
    }
}

impl Write for Release {
    type Answer = Written;

    async fn apply(&self, to: &mut SqliteConnection) -> Result<Written, LogError> {
        let Some(Tail { owner, .. }) = tail_in(to, self.code).await? else {
            return Ok(Written::Missing);
        };
        if owner.claim != self.claim {
            return Ok(Written::Fenced);
        }
        let released = Owner {
            server: None,
            claim: ClaimId::NONE,
            ..owner
        };
        set_owner(to, self.code, &released).await?;
        Ok(Written::Saved)
    }
}

impl Write for Remove {
    type Answer = Written;

    async fn apply(&self, to: &mut SqliteConnection) -> Result<Written, LogError> {
        if let Err(refusal) = held(to, self.code, self.claim).await? {
            return Ok(refusal);
        }
        if self.after.is_zero() {
            delete(to, self.code).await?;
        } else {
            let after_ms = u64::try_from(self.after.as_millis()).unwrap_or(u64::MAX);
            sqlx::query("UPDATE games SET remove_at = ?2 WHERE code = ?1")
                .bind(self.code.to_string())
                .bind(int(ambient::unix_ms().saturating_add(after_ms)))
                .execute(to)
                .await
                .map_err(unavailable)?;
        }
        Ok(Written::Saved)
    }
}

/// The last number of a game that is under `claim`, or why nothing may be written to it.
async fn held(
    to: &mut SqliteConnection,
    code: GameCode,
    claim: ClaimId,
) -> Result<Result<RecordNumber, Written>, LogError> {
    Ok(match tail_in(to, code).await? {
        None => Err(Written::Missing),
        Some(tail) if tail.owner.claim != claim => Err(Written::Fenced),
        Some(tail) => Ok(tail.last),
    })
}

async fn set_owner(to: &mut SqliteConnection, code: GameCode, owner: &Owner) -> Result<(), LogError> {
    let (name, incarnation) = match &owner.server {
        Some(server) => (Some(server.name.as_str()), Some(server.incarnation)),
        None => (None, None),
    };
    sqlx::query("UPDATE games SET server = ?2, incarnation = ?3, epoch = ?4, claim = ?5 WHERE code = ?1")
        .bind(code.to_string())
        .bind(name)
        .bind(incarnation)
        .bind(owner.epoch)
        .bind(owner.claim.0)
        .execute(to)
        .await
        .map(drop)
        .map_err(unavailable)
}

/// Writes a game as it is born, in place of whatever has its code.
async fn insert(
    to: &mut SqliteConnection,
    code: GameCode,
    owner: &Owner,
    birth: &Birth,
) -> Result<(), LogError> {
    let Birth {
        facts,
        snapshot,
        through,
        ..
    } = birth;
    // A game whose time to be removed has come is not there any longer.
    delete(to, code).await?;
    sqlx::query(
        "INSERT INTO games (code, game, create_key, epoch, claim, last) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )
    .bind(code.to_string())
    .bind(owner.game.0)
    .bind(&owner.create_key)
    .bind(owner.epoch)
    .bind(owner.claim.0)
    .bind(int(through.0))
    .execute(&mut *to)
    .await
    .map_err(unavailable)?;
    set_owner(to, code, owner).await?;
    sqlx::query("INSERT INTO facts (code, bytes) VALUES (?1, ?2)")
        .bind(code.to_string())
        .bind(facts)
        .execute(&mut *to)
        .await
        .map_err(unavailable)?;
    sqlx::query("INSERT INTO snapshots (code, through, bytes) VALUES (?1, ?2, ?3)")
        .bind(code.to_string())
        .bind(int(through.0))
        .bind(snapshot)
        .execute(&mut *to)
        .await
        .map_err(unavailable)?;
    Ok(())
}

async fn delete(to: &mut SqliteConnection, code: GameCode) -> Result<(), LogError> {
    // Facts, snapshot and journal go with it.
    sqlx::query("DELETE FROM games WHERE code = ?1")
        .bind(code.to_string())
        .execute(to)
        .await
        .map(drop)
        .map_err(unavailable)
}
