//! One request: which call, and what for each of its parameters.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use serde_json::Value;

use crate::schema::{fitting, spoilt};
use crate::surface::{Call, Surface};

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) enum Who {
    Signed,
    Nobody,
    Other,
    /// A header's value.
    Text(String),
}

/// Which one is meant by a path.
#[derive(Debug, Clone)]
pub(crate) enum Which {
    /// One that the teacher has, made for this request.
    Own,
    /// One that another teacher has.
    Strange,
    Text(String),
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    None,
    Json(Value),
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) call: usize,
    pub(crate) who: Who,
    pub(crate) which: Which,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
    /// As the document says, or another one.
    pub(crate) media_type: Option<String>,
}

/// Any request of the whole surface.
pub(crate) fn request(surface: &Surface) -> BoxedStrategy<Case> {
    let calls = surface.calls.iter().enumerate().map(|(index, call)| {
        // A password takes 20 ms to hash, everything else one or two.
        let hashes = call.path.starts_with("/auth/") && !call.path.starts_with("/auth/reset");
        let weight = if hashes { 1 } else { 4 };
        (weight, of_call(index, call, &surface.components))
    });
    Union::new_weighted(calls.collect()).boxed()
}

/// Any request of one call.
pub(crate) fn of_call(index: usize, call: &Call, components: &Value) -> BoxedStrategy<Case> {
    let media_type = call.body.as_ref().map(|body| body.media_type.clone());
    let media_types = prop_oneof![
        12 => Just(media_type),
        1 => select(vec![None, Some("text/plain".to_owned()), Some("application/json; charset=\u{ff}".to_owned())]),
    ];
    (
        who(call),
        which(),
        parameters(call, "query", components),
        parameters(call, "header", components),
        body(call, components),
        media_types,
    )
        .prop_map(move |(who, which, query, headers, body, media_type)| Case {
            call: index,
            who,
            which,
            query,
            headers,
            body,
            media_type,
        })
        .boxed()
}

fn who(call: &Call) -> BoxedStrategy<Who> {
    if call.security.is_none() {
        return Just(Who::Nobody).boxed();
    }
    prop_oneof![
        16 => Just(Who::Signed),
        1 => Just(Who::Nobody),
        1 => Just(Who::Other),
        1 => "[ -~]{0,40}".prop_map(Who::Text),
        1 => "(Bearer|basic|bearer ) ?[a-zA-Z0-9._-]{0,80}".prop_map(Who::Text),
    ]
    .boxed()
}

fn which() -> BoxedStrategy<Which> {
    prop_oneof![
        10 => Just(Which::Own),
        1 => Just(Which::Strange),
        1 => any::<u128>().prop_map(|n| Which::Text(uuid::Uuid::from_u128(n).to_string())),
        1 => any::<String>().prop_map(Which::Text),
        1 => select(vec!["..", "%", "\0", "00000000-0000-0000-0000-000000000000", "{id}", "1 OR 1=1"])
            .prop_map(|text| Which::Text(text.to_owned())),
        1 => Just(Which::Text("9".repeat(4_000))),
    ]
    .boxed()
}

/// Each parameter of a place: left out, fitting, nearly fitting, or there twice.
fn parameters(call: &Call, place: &str, components: &Value) -> BoxedStrategy<Vec<(String, String)>> {
    let mut all = vec![
        // One that nobody knows.
        prop_oneof![20 => Just(Vec::new()), 1 => any::<String>().prop_map(|text| vec![("unknown".to_owned(), text)])].boxed(),
    ];
    for parameter in call
        .parameters
        .iter()
        .filter(|parameter| parameter.place == place)
    {
        let name = parameter.name.clone();
        let fine = fitting(&parameter.schema, components).prop_map(|value| plain(&value));
        let bad = prop_oneof![
            spoilt(&parameter.schema, components).prop_map(|value| plain(&value)),
            any::<String>(),
            "[0-9]{1,30}",
        ];
        let values = prop_oneof![
            if parameter.required { 1 } else { 3 } => Just(Vec::new()),
            6 => fine.clone().prop_map(|value| vec![value]),
            2 => bad.prop_map(|value| vec![value]),
            1 => fine.prop_map(|value| vec![value.clone(), value]),
        ];
        let named = values.prop_map(move |values| {
            values
                .into_iter()
                .map(|value| (name.clone(), value))
                .collect::<Vec<_>>()
        });
        all.push(named.boxed());
    }
    all.prop_map(|all| all.concat()).boxed()
}

/// A value as it stands in a query or a header.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

fn body(call: &Call, components: &Value) -> BoxedStrategy<Body> {
    let bytes = prop::collection::vec(any::<u8>(), 0..200).prop_map(Body::Bytes);
    let Some(told) = &call.body else {
        return prop_oneof![12 => Just(Body::None), 1 => bytes].boxed();
    };
    if told.media_type != "application/json" {
        return prop_oneof![4 => file().prop_map(Body::Bytes), 2 => bytes, 1 => Just(Body::None)].boxed();
    }
    prop_oneof![
        12 => fitting(&told.schema, components).prop_map(Body::Json),
        6 => spoilt(&told.schema, components).prop_map(Body::Json),
        1 => bytes,
        // A right one that breaks off.
        1 => (fitting(&told.schema, components), any::<prop::sample::Index>()).prop_map(|(value, end)| {
            let mut text = value.to_string().into_bytes();
            text.truncate(end.index(text.len()));
            Body::Bytes(text)
        }),
        1 => Just(Body::None),
        1 => Just(Body::Bytes(b"[".repeat(3_000))),
    ]
    .boxed()
}

/// What the importer takes, and what it may take for it.
fn file() -> BoxedStrategy<Vec<u8>> {
    let gift = ("[ -~]{1,40}", "[a-z ]{1,20}", "[ -~]{1,20}");
    let gift = gift
        .prop_map(|(stem, right, wrong)| format!("::One:: {stem} {{={right} ~{wrong}}}\n\nIs it? {{T}}\n"));
    prop_oneof![
        4 => gift.prop_map(String::into_bytes),
        1 => "\\PC{0,200}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..100).prop_map(|bytes| [b"PK\x03\x04".as_slice(), &bytes].concat()),
    ]
    .boxed()
}
