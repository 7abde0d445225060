//! The API of a run, as a server sees it: it grants every plan check, and results travel to it through the world.

use std::future::ready;

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

/// The API as one process sees it.
pub(crate) struct SimApi {
    pub(crate) emissions: Emissions,
    pub(crate) quiz: QuizDocument,
}

impl Backoffice for SimApi {
    fn plan_check(&self, _teacher: TeacherId, quiz: Option<QuizId>) -> BackofficeFuture<'_, PlanGrant> {
        Box::pin(ready(Ok(PlanGrant {
            players_max: PLAYERS_MAX,
            quiz: quiz.map(|id| (id, self.quiz.clone())),
        })))
    }

    fn save_result<'a>(&'a self, result: &'a GameResult, _epoch: u32) -> BackofficeFuture<'a, ()> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            self.emissions.push(Emission::Result {
                result: Box::new(result.clone()),
                reply,
            });
            match answer.await {
                Ok(true) => Ok(()),
                Ok(false) | Err(_) => Err(BackofficeError::Unavailable("away".into())),
            }
        })
    }

    fn reserve_epoch(&self, _game: GameId, above: u32) -> BackofficeFuture<'_, Reserved> {
        Box::pin(ready(Ok(Reserved::Epoch(above.saturating_add(1_000)))))
    }

    fn has_result(&self, _game: GameId) -> BackofficeFuture<'_, bool> {
        Box::pin(ready(Ok(false)))
    }
}
