//! Quizzes that teachers share with each other. Whoever knows a share's id and is signed in may see and copy it.

use axum::Json;
use axum::extract::State;
use protocol::ids::{QuizId, ShareId};
use protocol::rest::{QuizResponse, ShareResponse, SharedQuizResponse};

use crate::admission::Class;
use crate::answer::{Created, NoContent};
use crate::extract::{Admittance, Id, Teacher};
use crate::openapi::Verb::{Delete, Get, Post};
use crate::openapi::{About, Routes};
use crate::problem::{Kind, Refusal};
use crate::random;
use crate::service::Api;
use crate::store::SharedQuiz;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .add(Some(Class::Edit), (Post, "/quizzes/{id}/share"), share, &About::new("share_quiz", "Shares a quiz with every teacher who knows the share; one that is shared already keeps it.", &[Kind::NoSuchQuiz]))
        .add(Some(Class::Read), (Get, "/quizzes/{id}/share"), share_of, &About::new("share", "Under what a quiz is shared.", &[Kind::NotShared]))
        .add(Some(Class::Edit), (Delete, "/quizzes/{id}/share"), unshare, &About::new("unshare_quiz", "Shares a quiz no longer; the share leads nowhere from then on, also when the quiz is shared again.", &[Kind::NotShared]))
        .add(Some(Class::Read), (Get, "/shared/{id}"), shared, &About::new("shared_quiz", "A quiz that a teacher shares.", &[Kind::NotShared]))
        .add(Some(Class::Edit), (Post, "/shared/{id}/copy"), copy, &About::new("copy_shared_quiz", "Copies a quiz that a teacher shares into one's own library.", &[Kind::NotShared, Kind::QuizLimit]))
}

/// `POST /quizzes/{id}/share`.
async fn share(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Id(id): Id<QuizId>,
) -> Result<Json<ShareResponse>, Refusal> {
    let fresh = ShareId(random::id().map_err(Refusal::internal)?);
    let share = api
        .store
        .share_quiz(teacher, id, fresh, api.clock.now_ms())
        .await?;
    let share = share.ok_or(Refusal::NoSuchQuiz)?;
    Ok(Json(ShareResponse { share }))
}

/// `GET /quizzes/{id}/share`.
async fn share_of(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Id(id): Id<QuizId>,
) -> Result<Json<ShareResponse>, Refusal> {
    let share = api.store.share_of(teacher, id).await?.ok_or(Refusal::NotShared)?;
    Ok(Json(ShareResponse { share }))
}

/// `DELETE /quizzes/{id}/share`.
async fn unshare(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Id(id): Id<QuizId>,
) -> Result<NoContent, Refusal> {
    if api.store.unshare_quiz(teacher, id).await? {
        Ok(NoContent)
    } else {
        Err(Refusal::NotShared)
    }
}

/// `GET /shared/{id}`.
async fn shared(
    State(api): State<Api>,
    Teacher(_): Teacher,
    Id(id): Id<ShareId>,
) -> Result<Json<SharedQuizResponse>, Refusal> {
    let SharedQuiz { by, updated_ms, quiz } = api.store.shared_quiz(id).await?.ok_or(Refusal::NotShared)?;
    Ok(Json(SharedQuizResponse { by, updated_ms, quiz }))
}

/// `POST /shared/{id}/copy`.
async fn copy(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Admittance(admitted): Admittance,
    Id(id): Id<ShareId>,
) -> Result<Created<QuizResponse>, Refusal> {
    let shared = api.store.shared_quiz(id).await?.ok_or(Refusal::NotShared)?;
    let stored = super::quizzes::insert(&api, (admitted, teacher), shared.quiz).await?;
    Ok(super::quizzes::created(&api, stored))
}
