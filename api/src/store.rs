//! What the API keeps: accounts, sessions, quizzes and the results of games.
//!
//! The traits own the shapes and the promises; each database keeps them in its own module, and one contract suite
//! (`store/contract.rs`) runs against all. Rules of the API (who may see what, how tokens chain, what a plan allows)
//! come from above, except where only a transaction can keep them: unique addresses, versions, the quiz limit, one
//! result a game.

use std::time::Duration;

use async_trait::async_trait;
use protocol::ids::{GameCode, GameId, PlayerId, QuizId, ShareId, TeacherId};
use protocol::quiz::QuizDocument;
use protocol::rest::{GameSummary, QuizResponse, QuizSummary, QuizUsage, UsageCount, UsageDay};
use protocol::result::GameResult;
use protocol::timeline::GameTimeline;
use thiserror::Error;
use uuid::Uuid;

use crate::session::Session;

#[cfg(test)]
mod contract;
#[cfg(test)]
pub(crate) use contract::game as sample_game;
mod documents;
mod fold;
mod postgres;
mod sqlite;
mod usage;

pub(crate) use fold::words;
pub use postgres::{PostgresConfig, PostgresConfigError, PostgresStore};
pub use sqlite::SqliteStore;

/// Quizzes of a [`Usage`] at most: what a page shows without scrolling.
pub const MOST_PLAYED_MAX: u32 = 10;
/// Games that a deletion of an account takes at once, with [`ANSWERS_REMOVED_AT_ONCE`] answers at most: full classes have 6,000.
pub(crate) const GAMES_REMOVED_AT_ONCE: u32 = 20;
/// Answers that it takes at once, unless one game has more: a hall's 100,000 take about a second, and a statement may take two.
pub(crate) const ANSWERS_REMOVED_AT_ONCE: u32 = 20_000;
/// How far above all epochs known a reserved one is: further than a game can change servers in a day.
pub const EPOCH_GAP: u32 = 1_000;
/// Timelines of one answer at most: a code comes back after 700 million games, unless somebody chose it by hand.
pub const TIMELINES_MAX: u32 = 5;
/// A day of UTC, in milliseconds.
pub(crate) const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Why the store did not do it. Nothing was changed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// No connection became free in time, or the database stayed locked: try again.
    #[error("the database is busy")]
    Busy(#[source] sqlx::Error),
    /// There is no room left to write; what is stored can be read.
    #[error("the disk is full")]
    Full(#[source] sqlx::Error),
    /// The database server cannot be reached, or the connection to it broke: try again.
    #[error("the database cannot be reached")]
    Away(#[source] sqlx::Error),
    /// The database server did not answer in time: try again.
    #[error("the database did not answer in time")]
    Silent,
    /// The database failed.
    #[error("the database failed")]
    Database(#[source] sqlx::Error),
    /// The schema could not be brought to this release.
    #[error("migrate the database")]
    Migrate(#[source] sqlx::migrate::MigrateError),
    /// The schema is older than this release.
    #[error("the database's schema is older than this release: run `api migrate` first")]
    SchemaOlder,
    /// A newer release has migrated the database.
    #[error("a newer release has migrated the database: use that one")]
    SchemaNewer,
    /// A value is larger than its column. Nothing that the API accepts is.
    #[error("a value is too large for column {column}")]
    Range {
        /// Where.
        column: &'static str,
    },
    /// A row holds what this release cannot read.
    #[error("column {column} holds a value that this release cannot read")]
    Corrupt {
        /// Where.
        column: &'static str,
    },
}

/// An account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The teacher.
    pub id: TeacherId,
    /// Normalised address.
    pub email: String,
    /// Name to show.
    pub name: String,
}

/// Where a page of a list ends: the time it is ordered by, newest first, and the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageKey {
    /// Unix milliseconds.
    pub at_ms: u64,
    /// The row.
    pub id: Uuid,
}

/// What came of an insert that may find its place taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// It is stored.
    Yes,
    /// Something else is there, or as many as allowed.
    Refused,
    /// There is no such teacher.
    NoTeacher,
}

/// What came of a change to a quiz.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuizChange {
    /// Stored, under this version.
    Changed(u32),
    /// The stored version is this one, not the one that was to be changed.
    Stale(u32),
    /// The teacher has no such quiz.
    Missing,
}

/// What came of saving a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultSaved {
    /// It is stored, now.
    Now,
    /// The same result was stored before.
    Before,
    /// Another result of this game was stored before, and stays.
    Different,
    /// The teacher deleted this game.
    Deleted,
    /// A higher epoch is reserved: another server goes on with the game.
    Superseded,
    /// There is no such teacher.
    NoTeacher,
}

/// Accounts and their sessions.
#[async_trait]
pub trait AccountStore: Send + Sync {
    /// Adds an account; refused when the address is taken.
    async fn insert_account(
        &self,
        account: &Account,
        password_hash: &str,
        now_ms: u64,
    ) -> Result<Inserted, StoreError>;
    /// The account with this normalised address, and its password hash.
    async fn account_by_email(&self, email: &str) -> Result<Option<(Account, String)>, StoreError>;
    /// The account.
    async fn account(&self, id: TeacherId) -> Result<Option<Account>, StoreError>;
    /// Replaces the password hash `was` by one of the same password; false when the hash is another one by now, or the account has gone.
    async fn replace_hash(&self, id: TeacherId, was: &str, password_hash: &str) -> Result<bool, StoreError>;
    /// Adds a session, if the teacher's password hash is still the one that the password was checked by: who sets another password ends all
    /// sessions, also those that are just beginning. The teacher's expired ones go, and of the rest the longest unused ones beyond
    /// `sessions_max`. False when the hash is another one, or the account has gone.
    async fn insert_session(
        &self,
        session: &Session,
        checked_hash: &str,
        now_ms: u64,
        sessions_max: u32,
    ) -> Result<bool, StoreError>;
    /// The session.
    async fn session(&self, id: Uuid) -> Result<Option<Session>, StoreError>;
    /// Replaces a session by its next state if `was` is still its current token; false when not.
    async fn advance_session(&self, next: &Session, was: &[u8; 32]) -> Result<bool, StoreError>;
    /// Ends a session; nothing happens when it has gone.
    async fn delete_session(&self, id: Uuid) -> Result<(), StoreError>;
}

/// Quizzes. A teacher's id stands beside each quiz's: another teacher's quiz is as good as missing.
#[async_trait]
pub trait QuizStore: Send + Sync {
    /// At most `limit` rows after `after`, newest change first.
    async fn quizzes(
        &self,
        teacher: TeacherId,
        after: Option<PageKey>,
        limit: u32,
    ) -> Result<Vec<QuizSummary>, StoreError>;
    /// As [`QuizStore::quizzes`], of those whose titles hold every one of these words, which come from [`words`].
    async fn find_quizzes(
        &self,
        teacher: TeacherId,
        words: &[String],
        after: Option<PageKey>,
        limit: u32,
    ) -> Result<Vec<QuizSummary>, StoreError>;
    /// Adds a quiz; refused when the teacher has `quizzes_max` of them.
    async fn insert_quiz(
        &self,
        teacher: TeacherId,
        quiz: &QuizResponse,
        quizzes_max: u32,
    ) -> Result<Inserted, StoreError>;
    /// The quiz.
    async fn quiz(&self, teacher: TeacherId, id: QuizId) -> Result<Option<QuizResponse>, StoreError>;
    /// Replaces the document if the stored version is `version`.
    async fn update_quiz(
        &self,
        teacher: TeacherId,
        id: QuizId,
        version: u32,
        quiz: &QuizDocument,
        now_ms: u64,
    ) -> Result<QuizChange, StoreError>;
    /// Deletes the quiz; false when there is none.
    async fn delete_quiz(&self, teacher: TeacherId, id: QuizId) -> Result<bool, StoreError>;
}

/// A quiz as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedQuiz {
    /// Name of the teacher.
    pub by: String,
    /// Last change, Unix milliseconds.
    pub updated_ms: u64,
    /// The document.
    pub quiz: QuizDocument,
}

/// Quizzes that their teachers share.
#[async_trait]
pub trait ShareStore: Send + Sync {
    /// Shares a quiz under `fresh`, or tells under what it is shared already; none when the teacher has no such quiz.
    async fn share_quiz(
        &self,
        teacher: TeacherId,
        quiz: QuizId,
        fresh: ShareId,
        now_ms: u64,
    ) -> Result<Option<ShareId>, StoreError>;
    /// Under what the teacher's quiz is shared.
    async fn share_of(&self, teacher: TeacherId, quiz: QuizId) -> Result<Option<ShareId>, StoreError>;
    /// Shares it no longer, for good; false when it was not.
    async fn unshare_quiz(&self, teacher: TeacherId, quiz: QuizId) -> Result<bool, StoreError>;
    /// The quiz, whoever's it is.
    async fn shared_quiz(&self, id: ShareId) -> Result<Option<SharedQuiz>, StoreError>;
}

/// Results of games.
#[async_trait]
pub trait GameStore: Send + Sync {
    /// Stores a result, all of it or nothing, once a game. `epoch` is its server's: of one below the reserved epoch nothing is
    /// stored.
    async fn save_result(&self, result: &GameResult, epoch: u32) -> Result<ResultSaved, StoreError>;
    /// Reserves an epoch of a game, [`EPOCH_GAP`] above `above` and every one reserved before; none for a game that has a result,
    /// or had one that was deleted.
    async fn reserve_epoch(&self, id: GameId, above: u32) -> Result<Option<u32>, StoreError>;
    /// Whether a game has a result, or had one that was deleted.
    async fn has_result(&self, id: GameId) -> Result<bool, StoreError>;
    /// At most `limit` rows after `after`, newest end first.
    async fn games(
        &self,
        teacher: TeacherId,
        after: Option<PageKey>,
        limit: u32,
    ) -> Result<Vec<GameSummary>, StoreError>;
    /// The result as saved.
    async fn game(&self, teacher: TeacherId, id: GameId) -> Result<Option<GameResult>, StoreError>;
    /// Deletes a game with its players and answers, for good; false when there is none.
    async fn delete_game(&self, teacher: TeacherId, id: GameId) -> Result<bool, StoreError>;
}

/// Deletions for good, beside those of single quizzes and games.
#[async_trait]
pub trait RemovalStore: Send + Sync {
    /// Deletes a player's row and answers from a game; false when the teacher has no such game, or it no such player. The
    /// game's result, when it is sent again, is still recognised.
    async fn delete_player(
        &self,
        teacher: TeacherId,
        game: GameId,
        player: PlayerId,
    ) -> Result<bool, StoreError>;
    /// Deletes an account with everything that belongs to it; false when there is none. After an error some of its games may be
    /// gone, and it can be tried again.
    async fn delete_account(&self, id: TeacherId) -> Result<bool, StoreError>;
}

/// A link for a new password, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    /// Hash of the link's token.
    pub token_hash: [u8; 32],
    /// Whose password.
    pub teacher: TeacherId,
    /// When the link ends, Unix milliseconds.
    pub expires_ms: u64,
}

/// Links for new passwords.
#[async_trait]
pub trait ResetStore: Send + Sync {
    /// Adds a link; false when the teacher has `most` that are still good, or has gone.
    async fn insert_reset(&self, reset: &Reset, now_ms: u64, most: u32) -> Result<bool, StoreError>;
    /// Takes a link back; nothing happens when it has gone.
    async fn delete_reset(&self, token_hash: &[u8; 32]) -> Result<(), StoreError>;
    /// Whose password the link sets, while it is good.
    async fn reset_of(&self, token_hash: &[u8; 32], now_ms: u64) -> Result<Option<TeacherId>, StoreError>;
    /// Spends a good link: sets the password, and ends all sessions and all links of the teacher. None when it is not good.
    async fn reset_password(
        &self,
        token_hash: &[u8; 32],
        now_ms: u64,
        password_hash: &str,
    ) -> Result<Option<TeacherId>, StoreError>;
}

/// Whose timelines are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimelinesOf {
    /// One game's.
    Game(GameId),
    /// Those of the games that were played under a code.
    Code(GameCode),
}

/// What happened to games whose results are kept.
#[async_trait]
pub trait TimelineStore: Send + Sync {
    /// Keeps a timeline in the place of the one before; false when its game is not kept.
    async fn save_timeline(&self, timeline: &GameTimeline) -> Result<bool, StoreError>;
    /// At most [`TIMELINES_MAX`], of the games that ended last first; of one teacher's games, or for an operator of everybody's.
    async fn timelines(
        &self,
        teacher: Option<TeacherId>,
        of: TimelinesOf,
    ) -> Result<Vec<GameTimeline>, StoreError>;
}

/// What a teacher's games came to, counted by the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Quizzes in the library.
    pub quizzes: u32,
    /// All games of the time.
    pub played: UsageCount,
    /// The quizzes that were played most, at most [`MOST_PLAYED_MAX`].
    pub most_played: Vec<QuizUsage>,
}

/// Counts over many games. They may be answered by a copy of the database, but never by one that lacks a change of this
/// teacher's that was answered before.
#[async_trait]
pub trait UsageStore: Send + Sync {
    /// What the games that ended at `since_ms` or later came to.
    async fn usage(&self, teacher: TeacherId, since_ms: u64) -> Result<Usage, StoreError>;
    /// The same day by day, newest first, days without games left out.
    async fn usage_by_day(&self, teacher: TeacherId, since_ms: u64) -> Result<Vec<UsageDay>, StoreError>;
}

/// What a process needs to know of its store.
#[async_trait]
pub trait StoreUpkeep: Send + Sync {
    /// Whether it answers at all, asked beside everybody's calls and not in their queue.
    async fn answers(&self) -> Result<(), StoreError>;
    /// Ends every connection; what was answered is kept.
    async fn close(&self);
    /// Keeps a connection busy for `time`, as a query of that length does: measurements set the capacity of a process with it.
    ///
    /// # Errors
    /// When no connection comes free in time.
    async fn stand(&self, time: Duration) -> Result<(), StoreError>;
}

/// All of it.
pub trait Store:
    AccountStore
    + QuizStore
    + ShareStore
    + GameStore
    + RemovalStore
    + ResetStore
    + TimelineStore
    + UsageStore
    + StoreUpkeep
    + 'static
{
}

impl<
    T: AccountStore
        + QuizStore
        + ShareStore
        + GameStore
        + RemovalStore
        + ResetStore
        + TimelineStore
        + UsageStore
        + StoreUpkeep
        + 'static,
> Store for T
{
}
