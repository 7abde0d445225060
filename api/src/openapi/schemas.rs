//! Schemas of wire types, each named once in the document.

use protocol::rest::Problem;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// Where the document keeps them.
const HOME: &str = "/components/schemas";

/// The schemas that were asked for so far.
pub(crate) struct Schemas(SchemaGenerator);

impl Schemas {
    pub(crate) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = HOME.into();
            settings.meta_schema = None;
        });
        let mut schemas = Self(settings.into_generator());
        // Every refusal has it.
        let _problem = schemas.of::<Problem>();
        schemas
    }

    /// The schema of a type, or where it stands.
    pub(crate) fn of<T: JsonSchema>(&mut self) -> Value {
        plain(self.0.subschema_for::<T>().to_value())
    }

    /// The schema itself: for query parameters, which have no name as a whole.
    pub(crate) fn inline<T: JsonSchema>(&mut self) -> Value {
        plain(T::json_schema(&mut self.0).to_value())
    }

    /// The place of a type's schema, which somebody must ask [`Schemas::of`] for.
    pub(crate) fn place_of<T: JsonSchema>() -> String {
        format!("#{HOME}/{}", T::schema_name())
    }

    pub(crate) fn finish(mut self) -> Map<String, Value> {
        let named = self.0.take_definitions(true);
        named
            .into_iter()
            .map(|(name, schema)| (name, plain(schema)))
            .collect()
    }
}

/// Links of doc comments lead nowhere outside of them: only their words stay.
fn plain(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if let (true, Some(text)) = (name == "description", value.as_str()) {
                    *value = text.replace("[`", "`").replace("`]", "`").into();
                } else {
                    *value = plain(value.take());
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = plain(item.take());
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    schema
}
