//! One call of the document.

use std::collections::{BTreeMap, BTreeSet};

use protocol::rest::Problem;
use runtime::http::HEAD_BYTES_MAX;
use serde_json::{Map, Value, json};

use super::{About, Schemas};
use crate::problem::Kind;

/// A call in the making.
pub(crate) struct Operation {
    parameters: Vec<Value>,
    body: Option<Value>,
    security: Option<&'static str>,
    answers: BTreeMap<u16, Value>,
    refusals: BTreeSet<Kind>,
}

impl Operation {
    pub(super) fn new(refusals: &[Kind]) -> Self {
        Self {
            parameters: Vec::new(),
            body: None,
            security: None,
            answers: BTreeMap::new(),
            refusals: refusals.iter().copied().collect(),
        }
    }

    /// It may be refused for these reasons.
    pub(crate) fn refuse(&mut self, kinds: &[Kind]) {
        self.refusals.extend(kinds);
    }

    /// It takes one of the document's security schemes.
    pub(crate) fn secure(&mut self, scheme: &'static str) {
        self.security = Some(scheme);
    }

    /// It takes a parameter; `place` is `path`, `query` or `header`.
    pub(crate) fn parameter(&mut self, place: &str, name: &str, required: bool, mut schema: Value) {
        let description = schema
            .as_object_mut()
            .and_then(|schema| schema.remove("description"));
        let mut parameter = json!({ "in": place, "name": name, "required": required, "schema": schema });
        if let (Some(parameter), Some(description)) = (parameter.as_object_mut(), description) {
            parameter.insert("description".to_owned(), description);
        }
        self.parameters.push(parameter);
    }

    /// It takes a body.
    pub(crate) fn body(&mut self, media_type: &str, schema: &Value, bytes_max: usize) {
        self.body = Some(json!({
            "required": true,
            "description": format!("At most {bytes_max} bytes."),
            "content": { media_type: { "schema": schema } },
        }));
        self.refuse(&[Kind::BodyTooLarge, Kind::BodyTimeout, Kind::BodyBroken]);
    }

    /// It may answer this, with a body of one of these media types and schemas, if any.
    pub(crate) fn answer(
        &mut self,
        status: u16,
        bodies: impl IntoIterator<Item = (&'static str, Value)>,
        headers: &[(&str, &str)],
    ) {
        let mut answer = json!({ "description": meaning(status) });
        for (media_type, schema) in bodies {
            answer["content"][media_type] = json!({ "schema": schema });
        }
        if !headers.is_empty() {
            let told = headers.iter().map(|(name, description)| {
                let header =
                    json!({ "description": description, "required": true, "schema": { "type": "string" } });
                ((*name).to_owned(), header)
            });
            answer["headers"] = Value::Object(told.collect());
        }
        self.answers.insert(status, answer);
    }

    pub(super) fn finish(mut self, about: &About, path: &str) -> Value {
        for (status, kinds) in by_status(&self.refusals) {
            self.answers.insert(status, refused(status, &kinds));
        }
        // Any call can be meant by such a head, and no route sees it.
        let head = format!(
            "The request's first line and headers are over {HEAD_BYTES_MAX} bytes. There is no body, and the connection is closed."
        );
        self.answers.insert(431, json!({ "description": head }));
        let answers: Map<String, Value> = self
            .answers
            .into_iter()
            .map(|(status, answer)| (status.to_string(), answer))
            .collect();
        let tag = path.split('/').nth(1).unwrap_or_default();
        let mut operation = json!({
            "operationId": about.id,
            "summary": about.summary,
            "tags": [tag],
            "responses": answers,
        });
        if !self.parameters.is_empty() {
            operation["parameters"] = self.parameters.into();
        }
        if let Some(body) = self.body {
            operation["requestBody"] = body;
        }
        if let Some(scheme) = self.security {
            operation["security"] = json!([{ scheme: [] }]);
        }
        operation
    }
}

fn by_status(kinds: &BTreeSet<Kind>) -> BTreeMap<u16, Vec<Kind>> {
    let mut by_status = BTreeMap::<u16, Vec<Kind>>::new();
    for kind in kinds {
        by_status.entry(kind.status().as_u16()).or_default().push(*kind);
    }
    by_status
}

/// A refusal of one status: the problem's shape, and the codes that it can have here.
fn refused(status: u16, kinds: &[Kind]) -> Value {
    let told: Vec<String> = kinds
        .iter()
        .map(|kind| format!("{} (`{}`)", kind.title(), kind.code()))
        .collect();
    let codes: Vec<&str> = kinds.iter().map(|kind| kind.code()).collect();
    let mut answer = json!({
        "description": told.join(", "),
        "content": { "application/problem+json": { "schema": {
            "allOf": [
                { "$ref": Schemas::place_of::<Problem>() },
                { "properties": { "code": { "enum": codes }, "status": { "const": status } } },
            ],
        } } },
    });
    if kinds.iter().any(|kind| matches!(kind, Kind::Busy | Kind::Quota)) {
        let header =
            json!({ "description": "Seconds to wait.", "required": true, "schema": { "type": "string" } });
        answer["headers"] = json!({ "Retry-After": header });
    }
    answer
}

fn meaning(status: u16) -> &'static str {
    match status {
        201 => "Made.",
        202 => "Taken care of; there is no body.",
        204 => "Done; there is no body.",
        _ => "The answer.",
    }
}
