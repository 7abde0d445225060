//! Everything refused has the same shape, wherever it was refused.

use axum::Router;
use serde_json::json;

use crate::support::{PASSWORD, Site};

#[tokio::test]
async fn unknown_addresses_and_methods_are_problems_too() {
    let site = Site::new().await;
    for path in [
        "/",
        "/nothing",
        "/quizzes/",
        "/auth",
        "/users",
        "/.well-known",
        "/quizzes/a/b/c",
    ] {
        site.call("GET", path).send().await.refused(404, "unknown-route");
    }
    for (method, path, allow) in [
        ("GET", "/auth/login", "POST"),
        ("PATCH", "/quizzes", "GET,HEAD,POST"),
        ("POST", "/plans", "GET,HEAD"),
        ("GET", "/quizzes/import", "POST"),
    ] {
        let reply = site.call(method, path).send().await;
        reply.refused(405, "method-not-allowed");
        assert_eq!(reply.headers["allow"], allow, "{method} {path}");
    }
}

#[tokio::test]
async fn bodies_that_are_not_what_was_asked_for_are_explained() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    for (body, says) in [
        ("", "EOF"),
        ("{", "EOF"),
        ("{\"email\":1}", "invalid type"),
        ("{\"email\":\"a@b.org\"}", "missing field `password`"),
        ("[]", "invalid"),
        ("{} {}", "missing field"),
        ("\u{feff}{}", "expected value"),
    ] {
        let call = site
            .call("POST", "/auth/login")
            .header("content-type", "application/json; charset=utf-8");
        let sentence = call.body(body).send().await.refused(400, "malformed-body");
        assert!(sentence.contains(says), "{body}: {sentence}");
    }
    let deep = "[".repeat(10_000);
    let call = site
        .call("POST", "/quizzes")
        .bearer(&anna)
        .header("content-type", "application/json")
        .body(deep);
    call.send().await.refused(400, "malformed-body");
    let not_utf8 = [b"{\"email\":\"\xff\"}".as_slice(), b""].concat();
    let call = site
        .call("POST", "/auth/login")
        .header("content-type", "application/json")
        .body(not_utf8);
    call.send().await.refused(400, "malformed-body");

    let body = json!({ "email": "anna@school.org", "password": PASSWORD }).to_string();
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "",
    ] {
        let call = site
            .call("POST", "/auth/login")
            .header("content-type", kind)
            .body(body.clone());
        call.send().await.refused(415, "media-type");
    }
}

#[tokio::test]
async fn bodies_that_are_too_large_are_refused_by_route() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    for (path, bytes_max) in [
        ("/auth/login", 16 * 1024),
        ("/auth/register", 16 * 1024),
        ("/quizzes", 4 * 1024 * 1024),
    ] {
        let post = |bytes: usize| {
            let call = site
                .call("POST", path)
                .bearer(&anna)
                .header("content-type", "application/json");
            call.body(" ".repeat(bytes)).send()
        };
        let sentence = post(bytes_max + 1).await.refused(413, "body-too-large");
        assert!(sentence.contains(&bytes_max.to_string()), "{sentence}");
        post(bytes_max).await.refused(400, "malformed-body");
    }
}

#[tokio::test]
async fn a_store_that_is_gone_is_an_internal_error_without_details() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    site.store.close().await;
    let sentence = site
        .call("GET", "/quizzes")
        .bearer(&anna)
        .send()
        .await
        .refused(500, "internal-error");
    assert!(
        !sentence.to_lowercase().contains("sql") && !sentence.contains("pool"),
        "{sentence}"
    );
}

#[tokio::test]
async fn the_router_can_be_nested() {
    let mut site = Site::new().await;
    let anna = site.teacher("anna").await;
    site.router = Router::new().nest("/store", site.router);
    assert_eq!(
        site.call("GET", "/store/users/me")
            .bearer(&anna)
            .send()
            .await
            .status
            .as_u16(),
        200
    );
    site.call("GET", "/store/nothing")
        .send()
        .await
        .refused(404, "unknown-route");
    site.call("GET", "/store/auth/login")
        .send()
        .await
        .refused(405, "method-not-allowed");
    site.call("GET", "/store/quizzes/7")
        .bearer(&anna)
        .send()
        .await
        .refused(400, "bad-id");
}
