//! What a handler's answer says about its call.

use axum::Json;
use axum::body::Bytes;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde_json::json;

use super::{Operation, Schemas, page};
use crate::problem::Refusal;

/// An answer of a handler.
pub(crate) trait Answers {
    /// Adds what a success looks like.
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

impl<T: Answers> Answers for Result<T, Refusal> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        T::describe(operation, schemas);
    }
}

impl<T: JsonSchema> Answers for Json<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = schemas.of::<T>();
        operation.answer(200, Some(("application/json", schema)), &[]);
    }
}

/// The document itself.
pub(crate) struct Document(pub(crate) Bytes);

impl IntoResponse for Document {
    fn into_response(self) -> Response {
        let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-cache")];
        (headers, self.0).into_response()
    }
}

impl Answers for Document {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        let schema = json!({ "type": "object", "required": ["openapi", "paths", "components"] });
        operation.answer(200, Some(("application/json", schema)), &[]);
    }
}

/// A page for people, written by [`page`].
pub(crate) struct Page(pub(crate) Bytes);

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let headers = [
            (CONTENT_TYPE, "text/html; charset=utf-8"),
            (CONTENT_SECURITY_POLICY, page::POLICY),
            (CACHE_CONTROL, "no-cache"),
        ];
        (headers, self.0).into_response()
    }
}

impl Answers for Page {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        let schema = json!({ "type": "string" });
        operation.answer(200, Some(("text/html", schema)), &[]);
    }
}
