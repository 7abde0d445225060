//! The API of a run, as a server sees it: it grants every plan check, and results travel to it through the world.

use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use game_server::{Backoffice, BackofficeError, BackofficeFuture, PlanGrant, Reserved};
use protocol::ids::{GameId, QuizId, TeacherId};
use protocol::quiz::QuizDocument;
use protocol::result::GameResult;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::emission::{Emission, Emissions};

/// The quiz of every run.
pub(crate) const QUIZ: QuizId = QuizId(Uuid::from_u128(3));
/// Players that a game may hold.
const PLAYERS_MAX: u32 = 50;
/// What a reserved epoch is above all known ones.
const RESERVED_ABOVE: u32 = 1_000;

/// What the API knows of a game, for all processes.
#[derive(Debug, Clone, Default)]
pub(crate) struct ApiBook(Arc<Mutex<Page>>);

#[derive(Debug, Default)]
struct Page {
    is_away: bool,
    has_result: bool,
    /// The epoch that was reserved last.
    least_epoch: u32,
}

/// What became of a result that reached the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is kept.
    Kept,
    /// The API is away.
    Away,
    /// Its epoch is below one that was reserved.
    Superseded,
}

impl ApiBook {
    fn page(&self) -> MutexGuard<'_, Page> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It answers nothing, or answers again.
    pub(crate) fn set_away(&self, is_away: bool) {
        self.page().is_away = is_away;
    }

    /// A result arrives.
    pub(crate) fn take(&self, epoch: u32) -> Taken {
        let mut page = self.page();
        if page.is_away {
            return Taken::Away;
        }
        if epoch < page.least_epoch {
            return Taken::Superseded;
        }
        page.has_result = true;
        Taken::Kept
    }

    fn there(&self) -> Result<MutexGuard<'_, Page>, BackofficeError> {
        let page = self.page();
        if page.is_away {
            return Err(BackofficeError::Unavailable("away".into()));
        }
        Ok(page)
    }
}

/// The API as one process sees it.
pub(crate) struct SimApi {
    pub(crate) emissions: Emissions,
    pub(crate) quiz: QuizDocument,
    pub(crate) book: ApiBook,
}

impl Backoffice for SimApi {
    fn plan_check(&self, _teacher: TeacherId, quiz: Option<QuizId>) -> BackofficeFuture<'_, PlanGrant> {
        Box::pin(ready(Ok(PlanGrant {
            players_max: PLAYERS_MAX,
            quiz: quiz.map(|id| (id, self.quiz.clone())),
        })))
    }

    fn save_result<'a>(&'a self, result: &'a GameResult, epoch: u32) -> BackofficeFuture<'a, ()> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            self.emissions.push(Emission::Result {
                result: Box::new(result.clone()),
                epoch,
                reply,
            });
            match answer.await {
                Ok(Taken::Kept) => Ok(()),
                Ok(Taken::Superseded) => Err(BackofficeError::Superseded),
                Ok(Taken::Away) | Err(_) => Err(BackofficeError::Unavailable("away".into())),
            }
        })
    }

    fn reserve_epoch(&self, _game: GameId, above: u32) -> BackofficeFuture<'_, Reserved> {
        let reserved = self.book.there().map(|mut page| {
            if page.has_result {
                return Reserved::Over;
            }
            page.least_epoch = above.max(page.least_epoch).saturating_add(RESERVED_ABOVE);
            Reserved::Epoch(page.least_epoch)
        });
        Box::pin(ready(reserved))
    }

    fn has_result(&self, _game: GameId) -> BackofficeFuture<'_, bool> {
        let has_result = self.book.there().map(|page| page.has_result);
        Box::pin(ready(has_result))
    }
}
