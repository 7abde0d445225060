//! The game server's view of the API when both are in this process: plain calls.

use api::{Api, GameCallError, PlanCheckError, SaveError};
use game_server::{Backoffice, BackofficeError, BackofficeFuture, PlanGrant, Reserved};
use protocol::ids::{GameId, QuizId, TeacherId};
use protocol::result::GameResult;
use protocol::timeline::GameTimeline;

/// The API next door.
pub(crate) struct InProcess(pub(crate) Api);

impl Backoffice for InProcess {
    fn plan_check(&self, teacher: TeacherId, quiz: Option<QuizId>) -> BackofficeFuture<'_, PlanGrant> {
        Box::pin(async move {
            let grant = self
                .0
                .plan_check(teacher, quiz)
                .await
                .map_err(|error| match error {
                    PlanCheckError::UnknownTeacher => BackofficeError::Refused {
                        code: "unknown-teacher".to_owned(),
                        detail: "This account does not exist any more. Sign in again.".to_owned(),
                    },
                    PlanCheckError::UnknownQuiz => BackofficeError::NotFound,
                    PlanCheckError::TooMany { max, retry_after_s } => BackofficeError::TooMany {
                        detail: format!(
                            "You started {max} games within a minute, which is as many as one may. Try again in {retry_after_s} s."
                        ),
                        retry_after_s,
                    },
                    PlanCheckError::Busy | PlanCheckError::Unavailable(_) => BackofficeError::Unavailable(Box::new(error)),
                })?;
            Ok(PlanGrant {
                players_max: grant.players_max,
                quiz: quiz.zip(grant.quiz),
            })
        })
    }

    fn save_result<'a>(&'a self, result: &'a GameResult, epoch: u32) -> BackofficeFuture<'a, ()> {
        Box::pin(async move {
            self.0
                .save_result(result.clone(), epoch)
                .await
                .map_err(|error| match error {
                    SaveError::UnknownTeacher => BackofficeError::Refused {
                        code: "unknown-teacher".to_owned(),
                        detail: "The account of this game's teacher does not exist any more.".to_owned(),
                    },
                    SaveError::Different => BackofficeError::Refused {
                        code: "different-result".to_owned(),
                        detail: "Another result of this game is stored already.".to_owned(),
                    },
                    SaveError::Superseded => BackofficeError::Superseded,
                    SaveError::Busy | SaveError::Unavailable(_) => {
                        BackofficeError::Unavailable(Box::new(error))
                    }
                })
        })
    }

    fn save_timeline<'a>(&'a self, timeline: &'a GameTimeline) -> BackofficeFuture<'a, ()> {
        Box::pin(async move { self.0.save_timeline(timeline).await.map_err(unavailable) })
    }

    fn reserve_epoch(&self, game: GameId, above: u32) -> BackofficeFuture<'_, Reserved> {
        Box::pin(async move {
            let epoch = self.0.reserve_epoch(game, above).await.map_err(unavailable)?;
            Ok(epoch.map_or(Reserved::Over, Reserved::Epoch))
        })
    }

    fn has_result(&self, game: GameId) -> BackofficeFuture<'_, bool> {
        Box::pin(async move { self.0.has_result(game).await.map_err(unavailable) })
    }
}

fn unavailable(error: GameCallError) -> BackofficeError {
    BackofficeError::Unavailable(Box::new(error))
}
