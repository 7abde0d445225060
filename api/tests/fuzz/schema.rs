//! Values by a schema: those that fit, and those that nearly do.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::Union;
use proptest::string::string_regex;
use serde_json::{Map, Number, Value, json};

/// Items of a generated list at most, and characters of a generated text, unless the schema wants more.
const ITEMS_MAX: usize = 3;
const CHARS_MAX: usize = 30;

/// Values that fit the schema, as far as a schema says it.
pub(crate) fn fitting(schema: &Value, components: &Value) -> BoxedStrategy<Value> {
    if let Some(place) = schema["$ref"].as_str() {
        let place = place.strip_prefix("#/components").unwrap();
        return fitting(components.pointer(place).unwrap(), components);
    }
    if let Some(value) = schema.get("const") {
        return Just(value.clone()).boxed();
    }
    if let Some(values) = schema["enum"].as_array() {
        return select(values.clone()).boxed();
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(schemas) = schema[word].as_array() {
            return Union::new(schemas.iter().map(|schema| fitting(schema, components))).boxed();
        }
    }
    match &schema["type"] {
        Value::String(name) => of_type(name, schema, components),
        Value::Array(names) => {
            let names = names
                .iter()
                .map(|name| of_type(name.as_str().unwrap(), schema, components));
            Union::new(names).boxed()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => anything(),
    }
}

fn of_type(name: &str, schema: &Value, components: &Value) -> BoxedStrategy<Value> {
    match name {
        "null" => Just(Value::Null).boxed(),
        "boolean" => any::<bool>().prop_map(Value::Bool).boxed(),
        "integer" | "number" => {
            let (min, max) = (bound(schema, "minimum", 0), bound(schema, "maximum", 1_000_000));
            prop_oneof![8 => min..=max, 1 => Just(min), 1 => Just(max)]
                .prop_map(|n| Value::Number(Number::from(n)))
                .boxed()
        }
        "string" => text(schema).prop_map(Value::String).boxed(),
        "array" => {
            let min = size(schema, "minItems", 0);
            let max = size(schema, "maxItems", usize::MAX).min(min + ITEMS_MAX);
            prop::collection::vec(fitting(&schema["items"], components), min..=max)
                .prop_map(Value::Array)
                .boxed()
        }
        "object" => object(schema, components),
        other => panic!("the document has the type {other}, which this test does not know"),
    }
}

fn text(schema: &Value) -> BoxedStrategy<String> {
    if let Some(pattern) = schema["pattern"].as_str() {
        let inner = pattern.trim_start_matches('^').trim_end_matches('$');
        return string_regex(inner).unwrap().boxed();
    }
    match schema["format"].as_str() {
        Some("uuid") => {
            return any::<u128>()
                .prop_map(|n| uuid::Uuid::from_u128(n).to_string())
                .boxed();
        }
        Some("email") => return string_regex("[a-z]{1,12}@[a-z]{1,12}\\.org").unwrap().boxed(),
        _ => {}
    }
    let min = size(schema, "minLength", 0);
    let longest = size(schema, "maxLength", usize::MAX);
    let usual = prop::collection::vec(character(), min..=longest.min(min + CHARS_MAX));
    let usual = usual.prop_map(String::from_iter);
    if longest == usize::MAX {
        return usual.boxed();
    }
    let full = character().prop_map(move |c| c.to_string().repeat(longest));
    prop_oneof![12 => usual, 1 => full].boxed()
}

/// Mostly what people type. NUL fits a schema, and is refused.
fn character() -> BoxedStrategy<char> {
    prop_oneof![
        12 => select(('a'..='z').chain('A'..='Z').chain([' ', 'é', 'ß', '"', '=', '{', '~', '\\', '<', '&']).collect::<Vec<_>>()),
        1 => any::<char>(),
    ]
    .boxed()
}

fn object(schema: &Value, components: &Value) -> BoxedStrategy<Value> {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut fields = Vec::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let fit = fitting(property, components);
        let there = if required.contains(&name.as_str()) {
            fit.prop_map(Some).boxed()
        } else {
            prop::option::of(fit).boxed()
        };
        let name = name.clone();
        fields.push(
            there
                .prop_map(move |value| value.map(|value| (name.clone(), value)))
                .boxed(),
        );
    }
    fields
        .prop_map(|fields| Value::Object(fields.into_iter().flatten().collect::<Map<_, _>>()))
        .boxed()
}

/// A value that fits but for one place.
pub(crate) fn spoilt(schema: &Value, components: &Value) -> BoxedStrategy<Value> {
    (fitting(schema, components), any::<Index>(), anything())
        .prop_map(|(mut value, place, spoil)| {
            let chosen = place.index(count(&value));
            replace(&mut value, &mut 0, chosen, &spoil);
            value
        })
        .boxed()
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn replace(value: &mut Value, passed: &mut usize, chosen: usize, spoil: &Value) {
    if *passed == chosen {
        *value = spoil.clone();
        *passed += 1;
        return;
    }
    *passed += 1;
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| replace(item, passed, chosen, spoil)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| replace(field, passed, chosen, spoil)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What parsers and databases stumble over.
fn anything() -> BoxedStrategy<Value> {
    let nested = (0..200).fold(json!(1), |inner, _| json!([inner]));
    prop_oneof![
        select(vec![
            Value::Null,
            json!(-1),
            json!(0),
            json!(1.5),
            json!(1e300),
            json!(i64::MIN),
            json!(i64::MAX),
            json!(u64::MAX),
            json!(""),
            json!(" "),
            json!("\0"),
            json!("\u{202e}\u{feff}\u{200b}"),
            json!("'; DROP TABLE quizzes; --"),
            json!("=HYPERLINK(\"x\")"),
            json!("%00%ff"),
            json!("e\u{301}".repeat(5_000)),
            json!([]),
            json!({}),
            json!({ "__proto__": 1, "title": [] }),
            nested,
        ]),
        any::<String>().prop_map(Value::String),
        any::<i64>().prop_map(|n| json!(n)),
    ]
    .boxed()
}

fn bound(schema: &Value, word: &str, otherwise: i64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "bounds of our schemas are small whole numbers"
    )]
    schema[word].as_f64().map_or(otherwise, |n| n as i64)
}

fn size(schema: &Value, word: &str, otherwise: usize) -> usize {
    schema[word]
        .as_u64()
        .map_or(otherwise, |n| usize::try_from(n).unwrap())
}
