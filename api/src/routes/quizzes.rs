//! The library of quizzes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::{ETAG, IF_MATCH, LOCATION};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use protocol::claims::SIGNED_QUIZ_S;
use protocol::ids::{QuizId, TeacherId};
use protocol::quiz::{QuizDocument, TITLE_CHARS_MAX};
use protocol::rest::{Page, QuizResponse, SignedQuizResponse};

use crate::body;
use crate::cache::{View, Written};
use crate::config::QUIZ_BODY_BYTES_MAX;
use crate::extract::{Id, PageParams, Params, Teacher, page_key};
use crate::problem::Refusal;
use crate::service::Api;
use crate::store::{Inserted, QuizChange};
use crate::{plan, random, token};

/// What a copy's title ends with.
const COPY_SUFFIX: &str = " (copy)";

type Document = body::Json<QuizDocument, QUIZ_BODY_BYTES_MAX>;
type Created = (StatusCode, [(HeaderName, String); 2], Json<QuizResponse>);
type Tagged<T> = ([(HeaderName, String); 1], Json<T>);

/// `GET /quizzes`.
pub(super) async fn list(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Params(page): Params<PageParams>,
) -> Result<Written, Refusal> {
    let (limit, after) = (page.limit()?, page.after()?);
    let read = async {
        // One more than asked tells whether there is a next page.
        let mut items = api.store.quizzes(teacher, after, limit + 1).await?;
        let next = super::cut(&mut items, limit).map(|last| page_key(last.updated_ms, last.id.0));
        Ok(Page { items, next })
    };
    api.remembered(teacher, View::Quizzes { after, limit }, read)
        .await
}

/// `POST /quizzes`.
pub(super) async fn create(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    body::Json(quiz): Document,
) -> Result<Created, Refusal> {
    quiz.validate()?;
    Ok(created(&api, insert(&api, teacher, quiz).await?))
}

/// `POST /quizzes/{id}/duplicate`: a copy of the teacher's own, with a title that says so.
pub(super) async fn duplicate(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Id(id): Id<QuizId>,
) -> Result<Created, Refusal> {
    let mut quiz = api
        .store
        .quiz(teacher, id)
        .await?
        .ok_or(Refusal::NoSuchQuiz)?
        .quiz;
    let kept = TITLE_CHARS_MAX.saturating_sub(COPY_SUFFIX.chars().count());
    quiz.title = quiz.title.chars().take(kept).chain(COPY_SUFFIX.chars()).collect();
    Ok(created(&api, insert(&api, teacher, quiz).await?))
}

fn created(api: &Api, stored: QuizResponse) -> Created {
    let location = format!("{}/quizzes/{}", api.config.mount_prefix, stored.id);
    (
        StatusCode::CREATED,
        [(LOCATION, location), (ETAG, etag(stored.version))],
        Json(stored),
    )
}

/// `GET /quizzes/{id}`.
pub(super) async fn read(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Id(id): Id<QuizId>,
) -> Result<Tagged<QuizResponse>, Refusal> {
    let stored = api.store.quiz(teacher, id).await?.ok_or(Refusal::NoSuchQuiz)?;
    Ok(([(ETAG, etag(stored.version))], Json(stored)))
}

/// `PUT /quizzes/{id}`.
pub(super) async fn update(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Id(id): Id<QuizId>,
    headers: HeaderMap,
    body::Json(quiz): Document,
) -> Result<Tagged<QuizResponse>, Refusal> {
    let version = if_match(&headers)?;
    quiz.validate()?;
    let updated_ms = api.clock.now_ms();
    let store = Arc::clone(&api.store);
    let change = api.changing(teacher, async move {
        let change = store.update_quiz(teacher, id, version, &quiz, updated_ms).await;
        change.map(|change| (change, quiz))
    });
    let (change, quiz) = change.await?;
    match change {
        QuizChange::Changed(version) => Ok((
            [(ETAG, etag(version))],
            Json(QuizResponse {
                id,
                version,
                updated_ms,
                quiz,
            }),
        )),
        QuizChange::Stale(stored) => Err(Refusal::VersionStale(stored)),
        QuizChange::Missing => Err(Refusal::NoSuchQuiz),
    }
}

/// `DELETE /quizzes/{id}`.
pub(super) async fn delete(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Id(id): Id<QuizId>,
) -> Result<StatusCode, Refusal> {
    let store = Arc::clone(&api.store);
    let deleted = api.changing(teacher, async move { store.delete_quiz(teacher, id).await });
    if deleted.await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Refusal::NoSuchQuiz)
    }
}

/// `GET /quizzes/{id}/signed`: a precaution, so that it goes behind everything that somebody waits for.
pub(super) async fn signed(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Id(id): Id<QuizId>,
) -> Result<Json<SignedQuizResponse>, Refusal> {
    let stored = api.store.quiz(teacher, id).await?.ok_or(Refusal::NoSuchQuiz)?;
    let signed = token::sign_quiz(&api.keys, teacher, id, stored.quiz, api.clock.now_s())
        .map_err(Refusal::internal)?;
    Ok(Json(SignedQuizResponse {
        signed,
        expires_in_s: SIGNED_QUIZ_S,
    }))
}

/// Stores a new quiz, already validated, within the plan.
pub(super) async fn insert(
    api: &Api,
    teacher: TeacherId,
    quiz: QuizDocument,
) -> Result<QuizResponse, Refusal> {
    let id = QuizId(random::id().map_err(Refusal::internal)?);
    let stored = QuizResponse {
        id,
        version: 1,
        updated_ms: api.clock.now_ms(),
        quiz,
    };
    let quizzes_max = plan::free().quizzes_max;
    let store = Arc::clone(&api.store);
    let insert = api.changing(teacher, async move {
        let inserted = store.insert_quiz(teacher, &stored, quizzes_max).await;
        inserted.map(|inserted| (inserted, stored))
    });
    let (inserted, stored) = insert.await?;
    match inserted {
        Inserted::Yes => Ok(stored),
        Inserted::Refused => Err(Refusal::QuizLimit(quizzes_max)),
    }
}

fn etag(version: u32) -> String {
    format!("\"{version}\"")
}

/// The version, with or without the quotes of an entity tag.
fn if_match(headers: &HeaderMap) -> Result<u32, Refusal> {
    let value = headers.get(IF_MATCH).ok_or(Refusal::VersionMissing)?;
    value
        .to_str()
        .ok()
        .map(|text| text.trim().trim_matches('"'))
        .and_then(|text| text.parse().ok())
        .ok_or(Refusal::VersionMalformed)
}
