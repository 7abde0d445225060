//! What never reaches a log: passwords and tokens.
//!
//! A test program of its own: whether an event is of interest is cached for the whole process, and other tests log to nobody.

#![expect(
    clippy::unwrap_used,
    reason = "a test's helpers fail by panicking, like the test"
)]

use serde_json::json;

#[expect(
    dead_code,
    reason = "shared with the tests of the HTTP API, which use more of it"
)]
#[path = "http/support.rs"]
mod support;

#[path = "support/log.rs"]
mod log;

use log::Log;
use support::{PASSWORD, Site, document};

#[tokio::test]
async fn passwords_and_tokens_are_never_logged() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);

    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let wrong = json!({ "email": "anna@school.org", "password": "a wrong secret" });
    site.call("POST", "/auth/login")
        .json(&wrong)
        .send()
        .await
        .refused(401, "bad-credentials");
    let broken = site
        .call("POST", "/auth/login")
        .header("content-type", "application/json");
    broken
        .body("{\"password\":\"a wrong secret\",}")
        .send()
        .await
        .refused(400, "malformed-body");
    let next = site
        .call("POST", "/auth/refresh")
        .header("cookie", &anna.cookie)
        .send()
        .await;
    site.clock.advance(std::time::Duration::from_secs(60));
    site.call("POST", "/auth/refresh")
        .header("cookie", &anna.cookie)
        .send()
        .await
        .refused(401, "session-ended");
    let quiz = site
        .call("POST", "/quizzes")
        .bearer(&anna)
        .json(&document("A secret title", 1))
        .send()
        .await;
    assert_eq!(quiz.status.as_u16(), 201);
    site.store.close().await;
    site.call("GET", "/quizzes")
        .bearer(&anna)
        .send()
        .await
        .refused(500, "internal-error");
    drop(guard);

    let text = log.text();
    for logged in ["api request", "a replaced refresh token", "request failed"] {
        assert!(text.contains(logged), "the log was watched: {logged}");
    }
    let secret = |cookie: &str| cookie.split_once('.').unwrap().1.to_owned();
    for secret in [
        PASSWORD,
        "a wrong secret",
        "A secret title",
        &anna.token,
        &secret(&anna.cookie),
        &secret(&next.cookie()),
    ] {
        assert!(!text.contains(secret), "{secret} was logged");
    }
    assert_eq!(
        text.matches("request failed").count(),
        1,
        "a fault is logged once"
    );
}
