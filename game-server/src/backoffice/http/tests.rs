//! What is final and what is "later", and that a call ends in time whatever the other side does.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::Request as Asked;
use axum::response::IntoResponse;
use axum::routing::post;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use protocol::claims::{AUDIENCE_SERVICE, ISSUER, ServiceClaims};
use serde_json::json;
use tokio::net::TcpListener;
use uuid::Uuid;

use super::*;
use crate::testing::reference_quiz;

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn secret() -> Secret {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), SECRET).unwrap();
    Secret::read(file.path()).unwrap()
}

fn at(base: &str) -> HttpBackoffice {
    HttpBackoffice::new(base, "game-7".to_owned(), &secret()).unwrap()
}

/// An API that answers every plan check in the same way.
async fn api(status: u16, body: serde_json::Value) -> HttpBackoffice {
    let status = StatusCode::from_u16(status).unwrap();
    let router = Router::new().route(
        "/internal/plan-check",
        post(move || async move { (status, axum::Json(body)).into_response() }),
    );
    at(&serve(router).await)
}

async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    base
}

fn teacher() -> TeacherId {
    TeacherId(Uuid::from_u128(1))
}

async fn check(api: &HttpBackoffice) -> Result<PlanGrant, BackofficeError> {
    api.plan_check(teacher(), Some(QuizId(Uuid::from_u128(2)))).await
}

#[tokio::test]
async fn the_grant_brings_the_quiz_that_was_asked_for() {
    let quiz = reference_quiz();
    let api = api(200, json!({ "players_max": 77, "quiz": quiz })).await;
    let granted = check(&api).await.unwrap();
    assert_eq!(granted.players_max, 77);
    assert_eq!(granted.quiz, Some((QuizId(Uuid::from_u128(2)), quiz)));
}

#[tokio::test]
async fn only_the_named_refusals_are_final() {
    let problem =
        |status: u16, code: &str| json!({ "code": code, "status": status, "title": "T", "detail": "D." });
    for (status, code) in [(403, "unknown-teacher"), (409, "different-result")] {
        match check(&api(status, problem(status, code)).await).await {
            Err(BackofficeError::Refused { code: got, detail }) => {
                assert_eq!((&*got, &*detail), (code, "D."))
            }
            other => panic!("{code}: {other:?}"),
        }
    }
    let router = Router::new().route(
        "/internal/plan-check",
        post(|| async {
            (
                StatusCode::TOO_MANY_REQUESTS,
                [("retry-after", "37")],
                axum::Json(json!({
                    "code": "quota-exceeded", "status": 429, "title": "T", "detail": "Wait."
                })),
            )
        }),
    );
    match check(&at(&serve(router).await)).await {
        Err(BackofficeError::TooMany {
            detail,
            retry_after_s: 37,
        }) => assert_eq!(detail, "Wait."),
        other => panic!("{other:?}"),
    }
    let gone = check(&api(404, problem(404, "no-such-quiz")).await).await;
    assert!(matches!(gone, Err(BackofficeError::NotFound)), "{gone:?}");
    for (status, code) in [
        (401, "service-token-invalid"),
        (404, "unknown-route"),
        (400, "malformed-body"),
        (413, "body-too-large"),
        (500, "internal-error"),
        (503, "temporary-reduced-capacity"),
    ] {
        let later = check(&api(status, problem(status, code)).await).await;
        assert!(
            matches!(later, Err(BackofficeError::Unavailable(_))),
            "{code}: {later:?}"
        );
    }
    for (status, body) in [(404, json!("a proxy's page")), (200, json!({ "players": 1 }))] {
        let later = check(&api(status, body).await).await;
        assert!(matches!(later, Err(BackofficeError::Unavailable(_))), "{later:?}");
    }
}

#[tokio::test]
async fn every_call_is_signed_for_the_api_alone_and_never_carries_the_secret() {
    let seen: Arc<Mutex<Option<String>>> = Arc::default();
    let saw = Arc::clone(&seen);
    let router = Router::new().route(
        "/internal/plan-check",
        post(move |request: Asked| async move {
            *saw.lock().unwrap() = Some(request.headers()["authorization"].to_str().unwrap().to_owned());
            axum::Json(json!({ "players_max": 1 }))
        }),
    );
    check(&at(&serve(router).await)).await.unwrap();
    let header = seen.lock().unwrap().take().unwrap();
    assert!(!header.contains(SECRET));
    let mut validation = Validation::new(Algorithm::HS256);
    validation.set_audience(&[AUDIENCE_SERVICE]);
    validation.set_issuer(&[ISSUER]);
    validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
    let key = DecodingKey::from_secret(SECRET.as_bytes()).unwrap();
    let token = header.strip_prefix("Bearer ").unwrap();
    let claims = jsonwebtoken::decode::<ServiceClaims>(token, &key, &validation)
        .unwrap()
        .claims;
    assert_eq!(claims.sub, "game-7");
}

#[tokio::test]
async fn nobody_there_and_a_silent_one_are_both_unavailable_in_time() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let refused = check(&at(&format!("http://{address}"))).await;
    assert!(
        matches!(refused, Err(BackofficeError::Unavailable(_))),
        "{refused:?}"
    );

    // Accepts and says nothing. The bound is the one of the constant, with a second for a busy machine.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", silent.local_addr().unwrap());
    let late = tokio::time::timeout(PLAN_CHECK_TIME_MAX + Duration::from_secs(1), check(&at(&base))).await;
    match late.expect("the call has a time limit of its own") {
        Err(BackofficeError::Unavailable(error)) => {
            assert!(
                matches!(error.downcast_ref(), Some(CallError::Timeout)),
                "{error:?}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_endless_answer_is_given_up_at_the_bound() {
    let router = Router::new().route(
        "/internal/plan-check",
        post(|| async { vec![b' '; ANSWER_BYTES_MAX + 1] }),
    );
    match check(&at(&serve(router).await)).await {
        Err(BackofficeError::Unavailable(error)) => {
            assert!(
                matches!(error.downcast_ref(), Some(CallError::Read(_))),
                "{error:?}"
            );
        }
        other => panic!("{other:?}"),
    }
}
