//! What each argument of a handler says about its call.

use axum::extract::{Extension, Request, State};
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{Documents, Operation, Schemas};
use crate::body;
use crate::extract::{Admittance, Id, IfMatch, OwnPage, Params, Refresh, Renewal, SignIn, Teacher};
use crate::import::FILE_BYTES_MAX;
use crate::problem::Kind;
use crate::service::Api;

/// The cookie that carries the refresh token.
pub(crate) const REFRESH_COOKIE: &str = "homeroom_refresh";

/// An argument of a handler.
pub(crate) trait Takes {
    /// Adds what it takes out of the request, and the refusals that it may give.
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

impl Takes for State<Api> {
    fn describe(_operation: &mut Operation, _schemas: &mut Schemas) {}
}

impl Takes for Extension<Documents> {
    fn describe(_operation: &mut Operation, _schemas: &mut Schemas) {}
}

impl Takes for Admittance {
    fn describe(_operation: &mut Operation, _schemas: &mut Schemas) {}
}

impl Takes for Teacher {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        operation.secure("access_token");
        operation.refuse(&[
            Kind::TokenMissing,
            Kind::TokenInvalid,
            Kind::TokenExpired,
            Kind::Quota,
        ]);
    }
}

impl Takes for SignIn {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        operation.refuse(&[Kind::Quota]);
    }
}

impl Takes for Renewal {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        operation.refuse(&[Kind::Quota]);
    }
}

impl Takes for OwnPage {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        let schema = json!({ "type": "string", "description": "Where the page is from that makes the call; programs send none." });
        operation.parameter("header", "Origin", false, schema);
        operation.refuse(&[Kind::Origin]);
    }
}

impl Takes for Refresh {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        operation.secure("refresh_cookie");
    }
}

impl Takes for IfMatch {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        let schema = json!({ "type": "string", "pattern": "^\"[0-9]+\"$", "description": "The version that is changed." });
        operation.parameter("header", "If-Match", true, schema);
        operation.refuse(&[Kind::VersionMissing, Kind::VersionMalformed]);
    }
}

impl<T: JsonSchema> Takes for Id<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = schemas.of::<T>();
        operation.parameter("path", "id", true, schema);
        operation.refuse(&[Kind::BadId]);
    }
}

impl<T: JsonSchema> Takes for Params<T> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = schemas.inline::<T>();
        let required = |name: &str| {
            let all = schema["required"].as_array();
            all.is_some_and(|all| all.iter().any(|one| one == name))
        };
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            operation.parameter("query", name, required(name), without_null(property.clone()));
        }
        operation.refuse(&[Kind::BadQuery]);
    }
}

/// A parameter is there or not; it is never null.
fn without_null(mut schema: Value) -> Value {
    let Some(fields) = schema.as_object_mut() else {
        return schema;
    };
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|one| one != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            fields.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(any)) = fields.get_mut("anyOf") {
        any.retain(|one| one["type"] != "null");
    }
    fields.remove("default");
    schema
}

impl<T: JsonSchema, const BYTES_MAX: usize> Takes for body::Json<T, BYTES_MAX> {
    fn describe(operation: &mut Operation, schemas: &mut Schemas) {
        let schema = schemas.of::<T>();
        operation.body("application/json", &schema, BYTES_MAX);
        operation.refuse(&[Kind::MediaType, Kind::MalformedBody]);
    }
}

/// A handler that reads the body itself takes a file.
impl Takes for Request {
    fn describe(operation: &mut Operation, _schemas: &mut Schemas) {
        operation.body("application/octet-stream", &json!({}), FILE_BYTES_MAX);
    }
}
