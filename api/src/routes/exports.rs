//! Quizzes and results as files for other programs.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use protocol::ids::{GameId, QuizId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::admission::Class;
use crate::answer::Download;
use crate::export;
use crate::extract::{Admittance, Id, Params, Teacher};
use crate::openapi::Verb::Get;
use crate::openapi::{About, Answers, Operation, Routes, Schemas};
use crate::problem::{Kind, Refusal};
use crate::report;
use crate::service::Api;

/// `?format=`
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct QuizFileParams {
    /// `gift` for Moodle and many others, without times; `json` with everything, for another Homeroom.
    format: QuizFormat,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum QuizFormat {
    Gift,
    Json,
}

/// A quiz as a file.
pub(super) struct QuizFile(Download);

const GIFT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

impl IntoResponse for QuizFile {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

impl Answers for QuizFile {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let document = schemas.of::<protocol::quiz::QuizDocument>();
        let bodies = [("text/plain", json!({ "type": "string" })), (JSON, document)];
        operation.answer(200, bodies, &[("Content-Disposition", "A name for the file.")]);
    }
}

/// `?format=`
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ResultsFileParams {
    /// `csv`: one row a student; `xlsx`: a workbook that has the questions as well.
    format: ResultsFormat,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ResultsFormat {
    Csv,
    Xlsx,
}

/// A game's results as a file.
pub(super) struct ResultsFile(Download);

const CSV: &str = "text/csv; charset=utf-8";
const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

impl IntoResponse for ResultsFile {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

impl Answers for ResultsFile {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        let bodies = [("text/csv", json!({ "type": "string" })), (XLSX, json!({}))];
        operation.answer(200, bodies, &[("Content-Disposition", "A name for the file.")]);
    }
}

pub(super) fn routes(routes: Routes) -> Routes {
    let routes = routes.add(
        Some(Class::Read),
        (Get, "/games/{id}/export"),
        results,
        &About::new(
            "export_results",
            "A game's results as a table for spreadsheet programs; no cell is a formula.",
            &[Kind::NoSuchGame],
        ),
    );
    routes.add(
        Some(Class::Read),
        (Get, "/quizzes/{id}/export"),
        quiz,
        &About::new(
            "export_quiz",
            "A quiz as a file that can be imported again.",
            &[Kind::NoSuchQuiz, Kind::Export],
        ),
    )
}

/// `GET /quizzes/{id}/export?format=`.
async fn quiz(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Id(id): Id<QuizId>,
    Params(params): Params<QuizFileParams>,
) -> Result<QuizFile, Refusal> {
    let quiz = api
        .store
        .quiz(teacher, id)
        .await?
        .ok_or(Refusal::NoSuchQuiz)?
        .quiz;
    let (media_type, extension, bytes) = match params.format {
        QuizFormat::Gift => (GIFT, "gift", export::quiz_as_gift(&quiz)?.into()),
        QuizFormat::Json => {
            let bytes = export::quiz_as_json(&quiz).map_err(Refusal::internal)?;
            (JSON, "json", bytes.into())
        }
    };
    Ok(QuizFile(Download {
        media_type,
        title: quiz.title,
        extension,
        bytes,
    }))
}

/// `GET /games/{id}/export?format=`.
async fn results(
    State(api): State<Api>,
    Teacher(teacher): Teacher,
    Admittance(admitted): Admittance,
    Id(id): Id<GameId>,
    Params(params): Params<ResultsFileParams>,
) -> Result<ResultsFile, Refusal> {
    // Taken before the read: a hall's result has megabytes, and this is what bounds how many of them are held.
    let place = Arc::clone(&api.exports)
        .try_acquire_owned()
        .map_err(|_| Refusal::Busy)?;
    let result = api.store.game(teacher, id).await?.ok_or(Refusal::NoSuchGame)?;
    let title = result.quiz.title.clone();
    // A hall's workbook takes a second of a core. Waits behind at most as many as have places.
    let turn = admitted.pause(Arc::clone(&api.writing).acquire_owned()).await?;
    let turn = turn.map_err(Refusal::internal)?;
    // They go with the work: a client that leaves makes no room while its file is still being written.
    let written = tokio::task::spawn_blocking(move || {
        let _places = (place, turn);
        let report = report::report(result);
        match params.format {
            ResultsFormat::Csv => Ok(Bytes::from(export::results_as_csv(&report))),
            ResultsFormat::Xlsx => export::results_as_xlsx(&report).map(Bytes::from),
        }
    });
    let bytes = admitted.pause(written).await?.map_err(Refusal::internal)?;
    let (media_type, extension) = match params.format {
        ResultsFormat::Csv => (CSV, "csv"),
        ResultsFormat::Xlsx => (XLSX, "xlsx"),
    };
    Ok(ResultsFile(Download {
        media_type,
        title,
        extension,
        bytes: bytes.map_err(Refusal::internal)?,
    }))
}

#[cfg(test)]
mod tests;
