//! Import of files from other tools.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use protocol::ids::TeacherId;
use protocol::rest::{ImportResponse, QuizSummary};
use runtime::metrics::{Counter, inc};
use serde::Deserialize;

use crate::body;
use crate::extract::{Admittance, Params, Teacher};
use crate::import::{self, FILE_BYTES_MAX, Imported};
use crate::problem::Refusal;
use crate::service::Api;

/// Characters of a file's name that are looked at: no file system allows longer ones.
const FILENAME_CHARS_MAX: usize = 255;

/// `?filename=…`
#[derive(Debug, Deserialize)]
pub(super) struct ImportParams {
    #[serde(default)]
    filename: String,
}

/// `POST /quizzes/import`.
pub(super) async fn import(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Admittance(admitted): Admittance,
    Params(params): Params<ImportParams>,
    request: Request,
) -> Result<(StatusCode, Json<ImportResponse>), Refusal> {
    // Taken before the first byte is read: this is what bounds the memory of uploads.
    let upload = Arc::clone(&api.uploads)
        .try_acquire_owned()
        .map_err(|_| Refusal::Busy)?;
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
            store(&api, teacher, imported).await
        }
        Err(error) => {
            inc(Counter::ImportsRefusedTotal);
            Err(Refusal::Import(error.to_string()))
        }
    }
}

/// A file whose every item was left out makes no quiz, and is no error: the answer says why, item by item.
async fn store(
    api: &Api,
    teacher: TeacherId,
    file: Imported,
) -> Result<(StatusCode, Json<ImportResponse>), Refusal> {
    let questions = u32::try_from(file.quiz.questions.len()).unwrap_or(u32::MAX);
    let (status, quiz) = if questions == 0 {
        (StatusCode::OK, None)
    } else {
        file.quiz.validate()?;
        let stored = super::quizzes::insert(api, teacher, file.quiz).await?;
        let summary = QuizSummary {
            id: stored.id,
            title: stored.quiz.title,
            questions,
            updated_ms: stored.updated_ms,
        };
        (StatusCode::CREATED, Some(summary))
    };
    let answer = ImportResponse {
        quiz,
        format: file.format,
        imported: questions,
        skipped: file.skipped,
        notes: file.notes,
    };
    Ok((status, Json(answer)))
}

#[cfg(test)]
mod tests;
