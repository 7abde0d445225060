//! The document as a list of calls.

use std::collections::BTreeMap;

use serde_json::Value;

/// One call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) method: String,
    /// With `{id}` where it has one.
    pub(crate) path: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    /// `access_token`, `refresh_cookie` or nothing.
    pub(crate) security: Option<String>,
    /// Media types and schemas of each answer; none when it has no body.
    pub(crate) answers: BTreeMap<u16, Vec<(String, Value)>>,
    /// Headers that an answer must have.
    pub(crate) headers: BTreeMap<u16, Vec<String>>,
    /// The statuses of its own refusals. A head that is too large (431) is refused before anybody knows the call.
    pub(crate) refusals: Vec<u16>,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    /// `path`, `query` or `header`.
    pub(crate) place: String,
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) schema: Value,
}

#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) media_type: String,
    pub(crate) schema: Value,
}

#[derive(Debug)]
pub(crate) struct Surface {
    pub(crate) calls: Vec<Call>,
    /// Of the document, for references.
    pub(crate) components: Value,
}

impl Surface {
    pub(crate) fn read(document: &Value) -> Self {
        let mut calls = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, call) in methods.as_object().unwrap() {
                calls.push(read_call(path, method, call));
            }
        }
        Self {
            calls,
            components: document["components"].clone(),
        }
    }
}

fn read_call(path: &str, method: &str, call: &Value) -> Call {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let parameters = call["parameters"].as_array().into_iter().flatten();
    let mut answers = BTreeMap::new();
    let mut headers = BTreeMap::new();
    for (status, answer) in call["responses"].as_object().unwrap() {
        let status: u16 = status.parse().unwrap();
        answers.insert(status, content(answer));
        let names = answer["headers"].as_object().into_iter().flatten();
        headers.insert(status, names.map(|(name, _)| name.to_lowercase()).collect());
    }
    Call {
        id: text(&call["operationId"]),
        method: method.to_uppercase(),
        path: path.to_owned(),
        parameters: parameters
            .map(|parameter| Parameter {
                place: text(&parameter["in"]),
                name: text(&parameter["name"]),
                required: parameter["required"] == true,
                schema: parameter["schema"].clone(),
            })
            .collect(),
        body: call.get("requestBody").map(|body| {
            let (media_type, schema) = content(body).remove(0);
            Body { media_type, schema }
        }),
        security: call["security"][0]
            .as_object()
            .and_then(|schemes| schemes.keys().next().cloned()),
        refusals: answers
            .keys()
            .copied()
            .filter(|status| *status >= 400 && *status != 431)
            .collect(),
        answers,
        headers,
    }
}

fn content(holder: &Value) -> Vec<(String, Value)> {
    let content = holder["content"].as_object().into_iter().flatten();
    content
        .map(|(media_type, told)| (media_type.clone(), told["schema"].clone()))
        .collect()
}
