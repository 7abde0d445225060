//! Successful answers that say more than their body, and what each says of itself in the document.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, ETAG, LOCATION};
use axum::response::{IntoResponse, Response};
use protocol::claims::ACCESS_TOKEN_S;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::openapi::{Answers, Operation, Schemas};

mod download;

pub(crate) use download::Download;

/// 204: done, and nothing to say.
pub(crate) struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

impl Answers for NoContent {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        operation.answer(204, None, &[]);
    }
}

/// 202: it is taken care of, and more is not told.
pub(crate) struct Accepted;

impl IntoResponse for Accepted {
    fn into_response(self) -> Response {
        StatusCode::ACCEPTED.into_response()
    }
}

impl Answers for Accepted {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        operation.answer(202, None, &[]);
    }
}

/// Something with a version, which is also its entity tag.
pub(crate) struct Tagged<T> {
    pub(crate) version: u32,
    pub(crate) body: T,
}

impl<T: Serialize> IntoResponse for Tagged<T> {
    fn into_response(self) -> Response {
        ([(ETAG, etag(self.version))], Json(self.body)).into_response()
    }
}

impl<T: JsonSchema> Answers for Tagged<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = schemas.of::<T>();
        operation.answer(
            200,
            Some(("application/json", schema)),
            &[("ETag", "The version.")],
        );
    }
}

/// 201: something new, and where it is.
pub(crate) struct Created<T> {
    pub(crate) location: String,
    pub(crate) version: u32,
    pub(crate) body: T,
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        let headers = [(LOCATION, self.location), (ETAG, etag(self.version))];
        (StatusCode::CREATED, headers, Json(self.body)).into_response()
    }
}

impl<T: JsonSchema> Answers for Created<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = schemas.of::<T>();
        let headers = [("Location", "Where it is."), ("ETag", "Its version.")];
        operation.answer(201, Some(("application/json", schema)), &headers);
    }
}

/// A JSON object that everybody may have, and that caches may keep for as long as an access token lives.
pub(crate) struct Public<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Public<T> {
    fn into_response(self) -> Response {
        let cache = format!("public, max-age={ACCESS_TOKEN_S}");
        ([(CACHE_CONTROL, cache)], Json(self.0)).into_response()
    }
}

impl<T> Answers for Public<T> {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        operation.answer(200, Some(("application/json", json!({ "type": "object" }))), &[]);
    }
}

fn etag(version: u32) -> String {
    format!("\"{version}\"")
}
