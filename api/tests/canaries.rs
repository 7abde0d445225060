//! Secrets that nobody could have by chance, sent through every call of the document and of the internal listener while everything is
//! logged: none of them is found in the log or in the metrics.
//!
//! A test program of its own: the log of a process is watched as a whole, threads of the database included.

#![expect(
    clippy::unwrap_used,
    reason = "a test's helpers fail by panicking, like the test"
)]

use std::collections::BTreeSet;

use axum::http::StatusCode;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use protocol::claims::{AUDIENCE_SERVICE, ISSUER, ServiceClaims};
use protocol::ids::GameId;
use runtime::secret::Secret;
use serde_json::{Map, Value, json};
use tracing_subscriber::fmt::format::FmtSpan;

#[expect(
    dead_code,
    reason = "shared with the fuzz of the document, which uses more of it"
)]
#[path = "fuzz/surface.rs"]
mod surface;

#[expect(
    dead_code,
    reason = "shared with the tests of the HTTP API, which use more of it"
)]
#[path = "http/support.rs"]
mod support;

#[path = "support/log.rs"]
mod log;

use log::Log;
use support::{Account, Call, PASSWORD, Reply, Site, document, game};
use surface::Surface;

/// Stands in everything that a client may write.
const CANARY: &str = "canary4d7e19";
/// Signs the calls of game servers.
const SERVICE_SECRET: &str = "service-canary-8a61f0c2-5b3d-4e97";

/// A value of the schema with canaries wherever a client may write what it likes.
fn sample(schema: &Value, components: &Value) -> Value {
    if let Some(place) = schema["$ref"].as_str() {
        let place = place.strip_prefix("#/components").unwrap();
        return sample(components.pointer(place).unwrap(), components);
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    for word in ["anyOf", "oneOf", "enum"] {
        if let Some(first) = schema[word].as_array().and_then(|all| all.first()) {
            let value = word == "enum";
            return if value {
                first.clone()
            } else {
                sample(first, components)
            };
        }
    }
    let name = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match name.unwrap_or("object") {
        "string" => match schema["format"].as_str() {
            Some("email") => json!(format!("{CANARY}@school.org")),
            Some("password") => json!(PASSWORD),
            Some("uuid") => json!("3f2504e0-4f89-41d3-9a0c-0305e82c3301"),
            _ => json!(CANARY),
        },
        "boolean" => json!(true),
        "integer" | "number" => json!(schema["minimum"].as_u64().unwrap_or(0).max(1)),
        "array" => {
            let items = schema["minItems"].as_u64().unwrap_or(1).max(1);
            (0..items).map(|_| sample(&schema["items"], components)).collect()
        }
        "null" => Value::Null,
        _ => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let fields = properties.map(|(name, property)| (name.clone(), sample(property, components)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
    }
}

/// What a call is about, made for it.
async fn made_for(site: &Site, call: &surface::Call, anna: &Account, played: GameId) -> String {
    if call.path.starts_with("/games") {
        return played.to_string();
    }
    let create = site.call("POST", "/quizzes").bearer(anna);
    let made = create.json(&document(CANARY, 2)).send().await;
    let quiz = made.value()["id"].as_str().unwrap().to_owned();
    let share = site.call("POST", &format!("/quizzes/{quiz}/share"));
    let share = share.bearer(anna).send().await;
    if call.path.starts_with("/shared/") {
        share.value()["share"].as_str().unwrap().to_owned()
    } else {
        quiz
    }
}

/// The query: what is needed, or canaries everywhere.
fn query(call: &surface::Call, components: &Value, right: bool) -> String {
    let asked = call
        .parameters
        .iter()
        .filter(|one| one.place == "query" && (one.required || !right));
    let pairs = asked.map(|parameter| {
        let value = match sample(&parameter.schema, components) {
            _ if !right => CANARY.to_owned(),
            Value::String(text) => text,
            other
            @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                other.to_string()
            }
        };
        format!("{}={value}", parameter.name)
    });
    pairs.collect::<Vec<_>>().join("&")
}

fn with_head(mut request: Call, call: &surface::Call, anna: &Account, right: bool) -> Call {
    request = match (call.security.as_deref(), right) {
        (Some("refresh_cookie"), true) => request.header("cookie", &anna.cookie),
        (Some("refresh_cookie"), false) => request.header("cookie", &format!("homeroom_refresh={CANARY}")),
        (Some(_), true) => request.bearer(anna),
        (Some(_), false) => request.header("authorization", &format!("Bearer {CANARY}")),
        (None, _) => request,
    };
    for parameter in call.parameters.iter().filter(|one| one.place == "header") {
        request = match (parameter.name.as_str(), right) {
            ("If-Match", true) => request.header("if-match", "\"1\""),
            ("If-Match", false) => request.header("if-match", CANARY),
            (_, true) => request,
            (_, false) => request.header("origin", &format!("https://{CANARY}.example")),
        };
    }
    request
}

/// A right body; what must be known already, such as the token of a link, is got first.
async fn body(
    site: &Site,
    (id, schema): (&str, &Value),
    components: &Value,
    me: &str,
    secrets: &mut Vec<String>,
) -> Value {
    let mut value = sample(schema, components);
    match id {
        "login" | "request_reset" => value["email"] = json!(me),
        "reset_password" => {
            let asked = site.call("POST", "/auth/reset-request");
            let asked = asked.json(&json!({ "email": me })).send().await;
            assert_eq!(asked.status, StatusCode::ACCEPTED);
            let token = site.letters.next().await.1;
            value["token"] = json!(token);
            secrets.push(token);
        }
        _ => {}
    }
    value
}

async fn send(
    site: &Site,
    call: &surface::Call,
    components: &Value,
    (anna, me): (&Account, &str),
    played: GameId,
    right: bool,
    secrets: &mut Vec<String>,
) -> Reply {
    let id = if right {
        made_for(site, call, anna, played).await
    } else {
        CANARY.to_owned()
    };
    let path = call.path.replace("{id}", &id);
    let path = format!("{path}?{}", query(call, components, right));
    let request = with_head(site.call(&call.method, &path), call, anna, right);
    let request = match &call.body {
        None => request,
        Some(told) if told.media_type != "application/json" => {
            request.body(format!("::{CANARY}:: {CANARY}? {{={CANARY} ~no}}\n"))
        }
        Some(told) if right => {
            let about = (call.id.as_str(), &told.schema);
            request.json(&body(site, about, components, me, secrets).await)
        }
        Some(_) => {
            let broken = format!("{{\"password\":\"{CANARY}\",\"{CANARY}\"}}");
            request.header("content-type", "application/json").body(broken)
        }
    };
    request.send().await
}

fn secret_of(cookie: &str) -> String {
    cookie.split_once('.').unwrap().1.to_owned()
}

#[tokio::test]
async fn no_call_tells_a_secret() {
    let log = Log::default();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_span_events(FmtSpan::FULL)
        .with_ansi(false)
        .with_writer(log.clone())
        .init();
    let metrics = runtime::metrics::install().unwrap();
    let site = Site::new().await;
    let document = site.call("GET", "/openapi.json").send().await.value();
    let surface = Surface::read(&document);

    let mut secrets: Vec<String> = vec![CANARY.to_owned(), PASSWORD.to_owned(), SERVICE_SECRET.to_owned()];
    let keys: Value = serde_json::from_slice(&std::fs::read(site.keys_file()).unwrap()).unwrap();
    secrets.extend(leaves(&keys).into_iter().filter(|text| text.len() >= 32));
    let mut succeeded = BTreeSet::new();
    for (call, i) in surface.calls.iter().zip(10..) {
        // Calls end sessions, delete games and fill libraries: each has a teacher of its own.
        let me = format!("{CANARY}{i}@school.org");
        let anna = site.teacher(&format!("{CANARY}{i}")).await;
        let mut result = game(i, anna.id);
        result.players[0].name = CANARY.to_owned();
        save_internally(&site, &result, &mut secrets).await;
        for right in [false, true] {
            let who = (&anna, me.as_str());
            let reply = send(
                &site,
                call,
                &surface.components,
                who,
                result.game,
                right,
                &mut secrets,
            )
            .await;
            if reply.status.is_success() {
                succeeded.insert(call.id.as_str());
            }
            if reply.headers.contains_key("set-cookie") && reply.cookie().contains('.') {
                secrets.push(secret_of(&reply.cookie()));
                secrets.push(reply.value()["access_token"].as_str().unwrap().to_owned());
            }
        }
        secrets.extend([anna.token.clone(), secret_of(&anna.cookie)]);
    }

    let (text, metrics) = (log.text(), metrics.render());
    for call in &surface.calls {
        assert!(
            text.contains(&format!("route=\"{}\"", call.path)),
            "{} was not logged",
            call.path
        );
        let fine = succeeded.contains(call.id.as_str()) || call.id == "timelines";
        assert!(fine, "{} never succeeded", call.id);
    }
    assert!(
        text.contains("internal call") && text.contains("sqlx::query"),
        "everything is logged"
    );
    assert!(metrics.contains("homeroom_api_requests_total"), "{metrics}");
    assert!(
        secrets.len() > 3 * surface.calls.len(),
        "{} secrets",
        secrets.len()
    );
    for secret in secrets {
        for (place, told) in [("log", &text), ("metrics", &metrics)] {
            let line = told.lines().find(|line| line.contains(&secret));
            assert_eq!(line, None, "{secret} is in the {place}");
        }
    }
}

/// Saves a result as a game server does, and once more with a token that is none.
async fn save_internally(site: &Site, result: &protocol::result::GameResult, secrets: &mut Vec<String>) {
    let router = || {
        site.api
            .internal_router(&[Secret::given(SERVICE_SECRET.as_bytes()).unwrap()])
    };
    let claims = ServiceClaims {
        iss: ISSUER.to_owned(),
        aud: AUDIENCE_SERVICE.to_owned(),
        sub: "game-0".to_owned(),
        exp: site.clock.now_ms() / 1000 + 60,
    };
    let key = EncodingKey::from_secret(SERVICE_SECRET.as_bytes()).unwrap();
    let token = jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &key).unwrap();
    for (token, status) in [
        (CANARY, StatusCode::UNAUTHORIZED),
        (token.as_str(), StatusCode::NO_CONTENT),
    ] {
        let call = Call::to(router(), "POST", "/internal/results")
            .header("authorization", &format!("Bearer {token}"));
        let reply = call.json(result).send().await;
        assert_eq!(reply.status, status, "{}", reply.text());
    }
    secrets.push(token);
}

/// Every text in a value.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::Object(fields) => fields.values().flat_map(leaves).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}
