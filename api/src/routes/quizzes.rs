//! The library of quizzes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use protocol::claims::SIGNED_QUIZ_S;
use protocol::ids::{QuizId, TeacherId};
use protocol::quiz::{QuizDocument, TITLE_CHARS_MAX};
use protocol::rest::{Page, QuizResponse, QuizSummary, SignedQuizResponse};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::admission::{Admitted, Class};
use crate::answer::{Created, NoContent, Tagged};
use crate::body;
use crate::cache::{View, Written};
use crate::config::{PAGE_LIMIT_MAX, QUIZ_BODY_BYTES_MAX};
use crate::extract::{Admittance, Id, IfMatch, PageParams, Params, Teacher, page_key};
use crate::openapi::Verb::{Delete, Get, Post, Put};
use crate::openapi::{About, Routes};
use crate::problem::{Kind, Refusal};
use crate::service::Api;
use crate::store::{self, Inserted, QuizChange};
use crate::{plan, random, token};

/// What a copy's title ends with.
const COPY_SUFFIX: &str = " (copy)";

type Document = body::Json<QuizDocument, QUIZ_BODY_BYTES_MAX>;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .add(
            Some(Class::Read),
            (Get, "/quizzes"),
            list,
            &About::new("quizzes", "The library of quizzes, newest change first.", &[]),
        )
        .add(
            Some(Class::Edit),
            (Post, "/quizzes"),
            create,
            &About::new(
                "create_quiz",
                "Stores a new quiz.",
                &[Kind::BadQuiz, Kind::QuizLimit],
            ),
        )
        .add(
            Some(Class::Edit),
            (Get, "/quizzes/{id}"),
            read,
            &About::new("quiz", "A quiz with its questions.", &[Kind::NoSuchQuiz]),
        )
        .add(
            Some(Class::Edit),
            (Put, "/quizzes/{id}"),
            update,
            &About::new(
                "change_quiz",
                "Replaces a quiz, unless it was changed elsewhere meanwhile.",
                &[Kind::BadQuiz, Kind::NoSuchQuiz, Kind::VersionStale],
            ),
        )
        .add(
            Some(Class::Edit),
            (Delete, "/quizzes/{id}"),
            delete,
            &About::new(
                "delete_quiz",
                "Deletes a quiz; games that were played with it stay.",
                &[Kind::NoSuchQuiz],
            ),
        )
        .add(
            Some(Class::Edit),
            (Post, "/quizzes/{id}/duplicate"),
            duplicate,
            &About::new(
                "duplicate_quiz",
                "Copies a quiz.",
                &[Kind::NoSuchQuiz, Kind::QuizLimit],
            ),
        )
        .add(
            Some(Class::Read),
            (Get, "/quizzes/{id}/signed"),
            signed,
            &About::new(
                "signed_quiz",
                "The quiz as a signed document, for a start while the API is away.",
                &[Kind::NoSuchQuiz],
            ),
        )
}

/// `?search=&after=&limit=`
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct LibraryParams {
    /// Words that a title must hold, without regard to case and accents.
    #[serde(default)]
    #[schemars(length(max = TITLE_CHARS_MAX))]
    search: String,
    /// The `next` of the page before.
    after: Option<String>,
    /// Rows of the page at most, 50 unless it is said.
    #[schemars(range(min = 1, max = PAGE_LIMIT_MAX))]
    limit: Option<u32>,
}

/// `GET /quizzes`.
pub(super) async fn list(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Params(asked): Params<LibraryParams>,
) -> Result<Written<Page<QuizSummary>>, Refusal> {
    let page = PageParams::new(asked.after, asked.limit);
    let (limit, after) = (page.limit()?, page.after()?);
    if asked.search.chars().count() > TITLE_CHARS_MAX {
        return Err(Refusal::query(&format!(
            "search has at most {TITLE_CHARS_MAX} characters"
        )));
    }
    let words = store::words(&asked.search);
    // One more than asked tells whether there is a next page.
    if words.is_empty() {
        let read = async { Ok(cut(api.store.quizzes(teacher, after, limit + 1).await?, limit)) };
        let view = View::Quizzes { after, limit };
        return api.remembered(teacher, view, read).await;
    }
    // Nobody asks the same twice.
    let found = api.store.find_quizzes(teacher, &words, after, limit + 1).await?;
    Written::now(&cut(found, limit))
}

fn cut(mut items: Vec<QuizSummary>, limit: u32) -> Page<QuizSummary> {
    let next = super::cut(&mut items, limit).map(|last| page_key(last.updated_ms, last.id.0));
    Page { items, next }
}

/// `POST /quizzes`.
pub(super) async fn create(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Admittance(admitted): Admittance,
    body::Json(quiz): Document,
) -> Result<Created<QuizResponse>, Refusal> {
    quiz.validate()?;
    Ok(created(&api, insert(&api, (admitted, teacher), quiz).await?))
}

/// `POST /quizzes/{id}/duplicate`: a copy of the teacher's own, with a title that says so.
pub(super) async fn duplicate(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Admittance(admitted): Admittance,
    Id(id): Id<QuizId>,
) -> Result<Created<QuizResponse>, Refusal> {
    let mut quiz = api
        .store
        .quiz(teacher, id)
        .await?
        .ok_or(Refusal::NoSuchQuiz)?
        .quiz;
    let kept = TITLE_CHARS_MAX.saturating_sub(COPY_SUFFIX.chars().count());
    quiz.title = quiz.title.chars().take(kept).chain(COPY_SUFFIX.chars()).collect();
    Ok(created(&api, insert(&api, (admitted, teacher), quiz).await?))
}

pub(super) fn created(api: &Api, stored: QuizResponse) -> Created<QuizResponse> {
    Created {
        location: format!("{}/quizzes/{}", api.config.mount_prefix, stored.id),
        version: stored.version,
        body: stored,
    }
}

/// `GET /quizzes/{id}`.
pub(super) async fn read(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Id(id): Id<QuizId>,
) -> Result<Tagged<QuizResponse>, Refusal> {
    let stored = api.store.quiz(teacher, id).await?.ok_or(Refusal::NoSuchQuiz)?;
    Ok(Tagged {
        version: stored.version,
        body: stored,
    })
}

/// `PUT /quizzes/{id}`.
pub(super) async fn update(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Admittance(admitted): Admittance,
    Id(id): Id<QuizId>,
    IfMatch(version): IfMatch,
    body::Json(quiz): Document,
) -> Result<Tagged<QuizResponse>, Refusal> {
    quiz.validate()?;
    let updated_ms = api.clock.now_ms();
    let store = Arc::clone(&api.store);
    let change = api.changing(admitted, teacher, async move {
        let change = store.update_quiz(teacher, id, version, &quiz, updated_ms).await;
        change.map(|change| (change, quiz))
    });
    let (change, quiz) = change.await?;
    match change {
        QuizChange::Changed(version) => Ok(Tagged {
            version,
            body: QuizResponse {
                id,
                version,
                updated_ms,
                quiz,
            },
        }),
        QuizChange::Stale(stored) => Err(Refusal::VersionStale(stored)),
        QuizChange::Missing => Err(Refusal::NoSuchQuiz),
    }
}

/// `DELETE /quizzes/{id}`.
pub(super) async fn delete(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Admittance(admitted): Admittance,
    Id(id): Id<QuizId>,
) -> Result<NoContent, Refusal> {
    let store = Arc::clone(&api.store);
    let deleted = api.changing(
        admitted,
        teacher,
        async move { store.delete_quiz(teacher, id).await },
    );
    if deleted.await? {
        Ok(NoContent)
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
    (admitted, teacher): (Admitted, TeacherId),
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
    let insert = api.changing(admitted, teacher, async move {
        let inserted = store.insert_quiz(teacher, &stored, quizzes_max).await;
        inserted.map(|inserted| (inserted, stored))
    });
    let (inserted, stored) = insert.await?;
    match inserted {
        Inserted::Yes => Ok(stored),
        Inserted::Refused => Err(Refusal::QuizLimit(quizzes_max)),
        // Deleted, while its token lives on for a while.
        Inserted::NoTeacher => Err(Refusal::TokenInvalid),
    }
}
