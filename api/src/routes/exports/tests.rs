//! Exports at their bounds: how many are held, and that they and imports do not wait for each other.

use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use protocol::ids::TeacherId;
use tempfile::TempDir;
use tower::ServiceExt as _;
use uuid::Uuid;

use super::*;
use crate::config::{EXPORTS_MAX, EXPORTS_WRITING_MAX, IMPORTS_PARSING_MAX};
use crate::store::{Account, AccountStore as _, GameStore as _, SqliteStore, sample_game};
use crate::{Config, Keys, token};

/// Time within which any state of these tests comes; only a failing test waits so long.
const PATIENCE: Duration = Duration::from_secs(10);

/// A teacher with a game.
async fn api(folder: &TempDir) -> (Api, String) {
    let store = SqliteStore::open(&folder.path().join("api.db")).await.unwrap();
    let id = TeacherId(Uuid::from_u128(1));
    let account = Account {
        id,
        email: "a@b.org".into(),
        name: "A".into(),
    };
    store.insert_account(&account, "hash", 1).await.unwrap();
    store
        .save_result(&sample_game(1, id, 90_000, 2, 2), 1)
        .await
        .unwrap();
    let api = Api::open(Config::default(), Arc::new(store), Keys::generate().unwrap());
    let token = token::sign_access(&api.keys, id, 500, api.clock.now_s()).unwrap();
    (api, token)
}

async fn send(api: Api, token: String, method: &str, path: String) -> Response {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {token}"))
        .body(Body::from("Is it? {T}\n"))
        .unwrap();
    let answer = tokio::time::timeout(PATIENCE, api.router().oneshot(request)).await;
    answer.expect("it waits for somebody else").unwrap()
}

async fn export(api: Api, token: String) -> Response {
    let path = format!("/games/{}/export?format=csv", Uuid::from_u128(1));
    send(api, token, "GET", path).await
}

fn all(most: usize) -> u32 {
    u32::try_from(most).unwrap()
}

#[tokio::test]
async fn more_exports_than_may_be_held_are_refused_at_once() {
    let folder = TempDir::new().unwrap();
    let (api, token) = api(&folder).await;
    let held = Arc::clone(&api.exports)
        .acquire_many_owned(all(EXPORTS_MAX))
        .await;
    let refused = export(api.clone(), token.clone()).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key("retry-after"));
    drop(held);
    assert_eq!(export(api, token).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn an_export_that_waits_to_be_written_has_its_place_and_gives_it_back() {
    let folder = TempDir::new().unwrap();
    let (api, token) = api(&folder).await;
    let writing = Arc::clone(&api.writing)
        .acquire_many_owned(all(EXPORTS_WRITING_MAX))
        .await;
    let waiting = tokio::spawn(export(api.clone(), token));
    let until = async |free| {
        while api.exports.available_permits() != free {
            tokio::task::yield_now().await;
        }
    };
    let waits = tokio::time::timeout(PATIENCE, until(EXPORTS_MAX - 1)).await;
    waits.expect("it never takes its place");
    drop(writing);
    assert_eq!(waiting.await.unwrap().status(), StatusCode::OK);
    let over = tokio::time::timeout(PATIENCE, until(EXPORTS_MAX)).await;
    over.expect("it never gives its place back");
}

#[tokio::test]
async fn exports_and_imports_do_not_wait_for_each_other() {
    let folder = TempDir::new().unwrap();
    let (api, token) = api(&folder).await;
    let parsing = Arc::clone(&api.parsing)
        .acquire_many_owned(all(IMPORTS_PARSING_MAX))
        .await;
    assert_eq!(export(api.clone(), token.clone()).await.status(), StatusCode::OK);
    drop(parsing);
    let _writing = Arc::clone(&api.writing)
        .acquire_many_owned(all(EXPORTS_WRITING_MAX))
        .await;
    let imported = send(api, token, "POST", "/quizzes/import?filename=a.gift".to_owned()).await;
    assert_eq!(imported.status(), StatusCode::CREATED);
}
