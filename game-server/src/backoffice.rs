//! What a game server asks of the API: may this teacher start a game, and please keep this result.

use std::future::Future;
use std::pin::Pin;

use protocol::ids::{GameId, QuizId, TeacherId};
use protocol::quiz::QuizDocument;
use protocol::result::GameResult;
use protocol::timeline::GameTimeline;
use thiserror::Error;

mod http;

pub use http::HttpBackoffice;

/// A call in flight.
pub type BackofficeFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, BackofficeError>> + Send + 'a>>;

/// The API, as a game server sees it: over HTTP in the separate processes, a function call in the one-process product.
pub trait Backoffice: Send + Sync + 'static {
    /// Asks whether `teacher` may start a game now and how large; with a quiz id also for that quiz, which must be the
    /// teacher's to play.
    fn plan_check(&self, teacher: TeacherId, quiz: Option<QuizId>) -> BackofficeFuture<'_, PlanGrant>;

    /// Keeps a result. Idempotent by the game's id: the same result again is a success. Repeated by the caller until it
    /// succeeds or is refused. `epoch` is the owner's.
    fn save_result<'a>(&'a self, result: &'a GameResult, epoch: u32) -> BackofficeFuture<'a, ()>;

    /// Keeps what happened to a game whose result is kept, in the place of what was kept before. One that keeps none forgets it.
    fn save_timeline<'a>(&'a self, timeline: &'a GameTimeline) -> BackofficeFuture<'a, ()> {
        let _forgotten = timeline;
        Box::pin(std::future::ready(Ok(())))
    }

    /// Reserves an epoch far above `above` for whoever goes on with a game that somebody else may still hold: results of lower
    /// epochs are refused from then on. Repeated it reserves a higher one.
    fn reserve_epoch(&self, game: GameId, above: u32) -> BackofficeFuture<'_, Reserved>;

    /// Whether the game has a result.
    fn has_result(&self, game: GameId) -> BackofficeFuture<'_, bool>;
}

/// What became of a [`Backoffice::reserve_epoch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    /// This epoch.
    Epoch(u32),
    /// None: the game has a result, and is over.
    Over,
}

/// Permission to start a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanGrant {
    /// Players the game may hold.
    pub players_max: u32,
    /// The quiz asked for. Present exactly when one was asked for.
    pub quiz: Option<(QuizId, QuizDocument)>,
}

/// Why the API did not do what was asked.
#[derive(Debug, Error)]
pub enum BackofficeError {
    /// It said no, for good.
    #[error("refused by the API: {code}")]
    Refused {
        /// Stable code, kebab-case, passed on to the client.
        code: String,
        /// One clear English sentence, passed on to the client.
        detail: String,
    },
    /// Whoever goes on with the game has reserved a higher epoch than this result's.
    #[error("the API keeps no result of so low an epoch")]
    Superseded,
    /// This teacher has started as many games as one may for now.
    #[error("the API says that this teacher has started too many games")]
    TooMany {
        /// One clear English sentence, passed on to the client.
        detail: String,
        /// How long to wait, in seconds.
        retry_after_s: u64,
    },
    /// There is no such quiz, or it is not this teacher's.
    #[error("the API has no such thing")]
    NotFound,
    /// It could not be reached, or asked to be spared for now.
    #[error("the API is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}
