//! Import of files from other tools.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use protocol::ids::TeacherId;
use protocol::rest::{ImportResponse, QuizSummary};
use runtime::metrics::{Counter, inc};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::admission::{Admitted, Class};
use crate::body;
use crate::extract::{Admittance, Params, Teacher};
use crate::import::{self, FILE_BYTES_MAX, Imported};
use crate::openapi::Verb::Post;
use crate::openapi::{About, Answers, Operation, Routes, Schemas};
use crate::problem::{Kind, Refusal};
use crate::service::Api;

/// Characters of a file's name that are looked at: no file system allows longer ones.
const FILENAME_CHARS_MAX: usize = 255;

/// `?filename=…`
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ImportParams {
    /// The file's name: its ending helps to tell what it is, and it names the quiz if the file does not.
    #[serde(default)]
    filename: String,
}

pub(super) fn routes(routes: Routes) -> Routes {
    routes.add(
        Some(Class::Edit),
        (Post, "/quizzes/import"),
        import,
        &About::new(
            "import_quiz",
            "Makes a quiz of a file: Moodle GIFT or the Kahoot spreadsheet.",
            &[Kind::BadQuiz, Kind::QuizLimit, Kind::Import],
        ),
    )
}

/// What came of a file: 201 with a quiz, 200 with reasons why there is none.
pub(super) struct FileRead(ImportResponse);

impl IntoResponse for FileRead {
    fn into_response(self) -> Response {
        let status = match self.0.quiz {
            Some(_) => StatusCode::CREATED,
            None => StatusCode::OK,
        };
        (status, Json(self.0)).into_response()
    }
}

impl Answers for FileRead {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        for status in [200, 201] {
            let schema = schemas.of::<ImportResponse>();
            operation.answer(status, Some(("application/json", schema)), &[]);
        }
    }
}

/// `POST /quizzes/import`.
pub(super) async fn import(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Admittance(admitted): Admittance,
    Params(params): Params<ImportParams>,
    request: Request,
) -> Result<FileRead, Refusal> {
    // Taken before the first byte is read: this is what bounds the memory of uploads.
    let upload = api.uploads.take(teacher).ok_or(Refusal::Busy)?;
    let bytes = body::read(request, FILE_BYTES_MAX).await?;
    // Waits behind at most as many as there are uploads.
    let parsing = admitted.pause(Arc::clone(&api.parsing).acquire_owned()).await?;
    let parsing = parsing.map_err(Refusal::internal)?;
    let filename: String = params.filename.chars().take(FILENAME_CHARS_MAX).collect();
    // The permits go with the work: a client that leaves makes no room while its file is still being parsed.
    let parsed = tokio::task::spawn_blocking(move || {
        let _permits = (upload, parsing);
        import::import(&filename, &bytes)
    });
    match admitted.pause(parsed).await?.map_err(Refusal::internal)? {
        Ok(imported) => {
            inc(Counter::ImportsTotal);
            store(&api, (admitted, teacher), imported).await
        }
        Err(error) => {
            inc(Counter::ImportsRefusedTotal);
            Err(Refusal::Import(error.to_string()))
        }
    }
}

/// A file whose every item was left out makes no quiz, and is no error: the answer says why, item by item.
async fn store(api: &Api, whose: (Admitted, TeacherId), file: Imported) -> Result<FileRead, Refusal> {
    let questions = u32::try_from(file.quiz.questions.len()).unwrap_or(u32::MAX);
    let quiz = if questions == 0 {
        None
    } else {
        file.quiz.validate()?;
        let stored = super::quizzes::insert(api, whose, file.quiz).await?;
        Some(QuizSummary {
            id: stored.id,
            title: stored.quiz.title,
            questions,
            updated_ms: stored.updated_ms,
        })
    };
    Ok(FileRead(ImportResponse {
        quiz,
        format: file.format,
        imported: questions,
        skipped: file.skipped,
        notes: file.notes,
    }))
}

#[cfg(test)]
mod tests;
