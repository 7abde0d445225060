//! The public document tells of every route, and of nothing else.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::Method;
use serde_json::Value;

use crate::support::Site;

async fn document(site: &Site) -> Value {
    let reply = site.call("GET", "/openapi.json").send().await;
    assert_eq!(reply.status.as_u16(), 200);
    assert_eq!(reply.headers["content-type"], "application/json");
    reply.value()
}

fn methods(document: &Value) -> BTreeMap<&str, BTreeSet<String>> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .map(|(path, methods)| {
            let methods = methods.as_object().unwrap();
            (
                path.as_str(),
                methods.keys().map(|verb| verb.to_uppercase()).collect(),
            )
        })
        .collect()
}

/// Every address of the router, as it tells of itself for debugging; there is no other list of them.
fn addresses(site: &Site) -> BTreeSet<String> {
    let told = format!("{:?}", site.router);
    told.split('"')
        // The fallback is told as the root, which is no route of ours.
        .filter(|text| text.starts_with('/') && *text != "/" && !text.contains("__private"))
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn router_and_document_hold_the_same_routes() {
    let site = Site::new().await;
    let document = document(&site).await;
    let told = methods(&document);
    assert_eq!(
        told.keys()
            .map(|path| (*path).to_owned())
            .collect::<BTreeSet<_>>(),
        addresses(&site)
    );
    for (path, told) in told {
        let address = path.replace("{id}", "3f2504e0-4f89-41d3-9a0c-0305e82c3301");
        let reply = site.call("BREW", &address).send().await;
        reply.refused(405, "method-not-allowed");
        let taken = reply.headers["allow"].to_str().unwrap();
        let taken: BTreeSet<String> = taken.split(',').map(str::to_owned).collect();
        let mut told = told.clone();
        if told.contains("GET") {
            told.insert("HEAD".to_owned());
        }
        assert_eq!(told, taken, "{path}");
    }
}

#[tokio::test]
async fn internal_calls_are_not_in_the_document() {
    let site = Site::new().await;
    let document = document(&site).await.to_string();
    for word in [
        "internal/",
        "plan-check",
        "PlanCheck",
        "service-token",
        "ReserveEpoch",
    ] {
        assert!(!document.contains(word), "{word}");
    }
}

#[tokio::test]
async fn every_call_says_who_may_and_what_can_happen() {
    let site = Site::new().await;
    let document = document(&site).await;
    let mut ids = BTreeSet::new();
    let open = [
        "/auth/register",
        "/auth/login",
        "/auth/logout",
        "/auth/refresh",
        "/auth/reset-request",
        "/auth/reset",
        "/plans",
        "/.well-known/jwks.json",
        "/openapi.json",
        "/docs",
    ];
    for (path, verbs) in document["paths"].as_object().unwrap() {
        for (verb, call) in verbs.as_object().unwrap() {
            let name = format!("{verb} {path}");
            assert!(ids.insert(call["operationId"].as_str().unwrap()), "{name}");
            assert!(call["summary"].as_str().unwrap().ends_with('.'), "{name}");
            let bearer = call["security"][0].get("access_token").is_some();
            assert_eq!(bearer, !open.contains(&path.as_str()), "{name}");
            let answers = call["responses"].as_object().unwrap();
            assert!(answers.keys().any(|status| status.starts_with('2')), "{name}");
            assert!(!bearer || answers.contains_key("429"), "{name}");
            let in_path = call["parameters"]
                .as_array()
                .map_or(0, |all| all.iter().filter(|one| one["in"] == "path").count());
            assert_eq!(in_path, path.matches('{').count(), "{name}");
            // What the call says without a sign-in is what the document says.
            let method: Method = verb.to_uppercase().parse().unwrap();
            if bearer {
                let address = path.replace("{id}", "3f2504e0-4f89-41d3-9a0c-0305e82c3301");
                let reply = site.call(method.as_str(), &address).send().await;
                reply.refused(401, "token-missing");
            }
        }
    }
}

#[tokio::test]
async fn schemas_are_sound_and_every_reference_leads_somewhere() {
    let site = Site::new().await;
    let document = document(&site).await;
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"][0]["url"], "/store");
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(jsonschema::draft202012::meta::is_valid(schema), "{name}");
    }
    let text = document.to_string();
    let mut references = 0;
    for part in text.split("\"$ref\":\"#").skip(1) {
        let place = part.split('"').next().unwrap();
        assert!(document.pointer(place).is_some(), "{place} leads nowhere");
        references += 1;
    }
    assert!(references > 20, "only {references} references");
    let title = &document["components"]["schemas"]["QuizDocument"]["properties"]["title"];
    assert_eq!(
        (&title["minLength"], &title["maxLength"]),
        (&1.into(), &120.into())
    );
}

#[tokio::test]
async fn the_page_shows_every_call_and_loads_nothing() {
    let site = Site::new().await;
    let document = document(&site).await;
    let reply = site.call("GET", "/docs").send().await;
    assert_eq!(reply.headers["content-type"], "text/html; charset=utf-8");
    let policy = reply.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    let page = reply.text();
    for (path, verbs) in methods(&document) {
        for verb in verbs {
            let call = format!("<span class=\"verb\">{verb}</span> <code>{path}</code>");
            assert!(page.contains(&call), "{verb} {path}");
        }
    }
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(page.contains(&format!("<details id=\"{name}\">")), "{name}");
    }
    for word in ["<script", "http://", "https://", "<img", "<link", "onclick"] {
        assert!(!page.contains(word), "{word}");
    }
}
