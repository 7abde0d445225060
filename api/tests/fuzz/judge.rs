//! Whether an answer is one that the document tells of.

use std::collections::BTreeMap;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::surface::{Call, Surface};
use crate::world::Reply;

/// What every answer is held against.
pub(crate) struct Judge {
    /// By call and status, where the answer has JSON.
    validators: BTreeMap<(String, u16), Validator>,
}

impl Judge {
    pub(crate) fn new(document: &Value, surface: &Surface) -> Self {
        let mut validators = BTreeMap::new();
        for call in &surface.calls {
            for (status, bodies) in &call.answers {
                for (_, schema) in bodies.iter().filter(|(name, _)| name.ends_with("json")) {
                    let whole = json!({ "allOf": [schema], "components": document["components"] });
                    let validator = jsonschema::draft202012::new(&whole).unwrap();
                    validators.insert((call.id.clone(), *status), validator);
                }
            }
        }
        Self { validators }
    }

    /// The problem's code, or nothing for a success.
    ///
    /// # Errors
    /// In one sentence, what the document does not tell of.
    pub(crate) fn judge(&self, call: &Call, reply: &Reply) -> Result<String, String> {
        let status = reply.status.as_u16();
        if status >= 500 && status != 503 {
            return Err(format!("a fault: {status}"));
        }
        let bodies = call
            .answers
            .get(&status)
            .ok_or_else(|| format!("the document does not tell of {status}"))?;
        let told = |name: &str| reply.headers.get(name).and_then(|value| value.to_str().ok());
        for name in &call.headers[&status] {
            if told(name).is_none() {
                return Err(format!("no header {name}"));
            }
        }
        if bodies.is_empty() {
            let empty = reply.body.is_empty() && told("content-type").is_none();
            return if empty {
                Ok(String::new())
            } else {
                Err("a body that nobody was told of".to_owned())
            };
        }
        let got = told("content-type").unwrap_or_default();
        let essence = got.split(';').next().unwrap_or_default();
        if bodies.iter().all(|(media_type, _)| media_type != essence) {
            return Err(format!("the type {got:?}"));
        }
        if !essence.ends_with("json") {
            return Ok(String::new());
        }
        let Some(validator) = self.validators.get(&(call.id.clone(), status)) else {
            return Ok(String::new());
        };
        let body: Value = serde_json::from_slice(&reply.body).map_err(|error| format!("no JSON: {error}"))?;
        validator
            .validate(&body)
            .map_err(|error| format!("not as its schema says: {error} at {}", error.instance_path()))?;
        Ok(if status >= 400 {
            body["code"].as_str().unwrap_or_default().to_owned()
        } else {
            String::new()
        })
    }
}
