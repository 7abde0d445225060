//! Uploads at their bounds: how many are held, how many are parsed, and what a client that leaves gives back.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use protocol::ids::TeacherId;
use tempfile::TempDir;
use tower::ServiceExt as _;
use uuid::Uuid;

use super::*;
use crate::config::{IMPORTS_PARSING_MAX, UPLOADS_MAX};
use crate::store::{Account, AccountStore as _, SqliteStore};
use crate::{Config, Keys, token};

/// Time within which any state of these tests comes; only a failing test waits so long.
const PATIENCE: Duration = Duration::from_secs(10);

async fn api(folder: &TempDir) -> (Api, String) {
    let store = SqliteStore::open(&folder.path().join("api.db")).await.unwrap();
    let id = TeacherId(Uuid::from_u128(1));
    let account = Account {
        id,
        email: "a@b.org".into(),
        name: "A".into(),
    };
    store.insert_account(&account, "hash", 1).await.unwrap();
    let api = Api::open(Config::default(), Arc::new(store), Keys::generate().unwrap());
    let token = token::sign_access(&api.keys, id, 500, api.clock.now_s()).unwrap();
    (api, token)
}

async fn upload(api: Api, token: String) -> Response {
    let request = Request::post("/quizzes/import?filename=a.gift")
        .header("authorization", format!("Bearer {token}"))
        .body(Body::from("Is it? {T}\n"))
        .unwrap();
    api.router().oneshot(request).await.unwrap()
}

async fn until(free: impl Fn() -> usize, wanted: usize) {
    tokio::time::timeout(PATIENCE, async {
        while free() != wanted {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the permits never came to this number");
}

#[tokio::test]
async fn a_file_waits_for_its_turn_to_be_parsed() {
    let folder = TempDir::new().unwrap();
    let (api, token) = api(&folder).await;
    let all = u32::try_from(IMPORTS_PARSING_MAX).unwrap();
    let parsing = Arc::clone(&api.parsing).acquire_many_owned(all).await.unwrap();
    let waiting = tokio::spawn(upload(api.clone(), token.clone()));
    let leaving = tokio::spawn(upload(api.clone(), token));
    until(|| api.uploads.free(), UPLOADS_MAX - 2).await;
    leaving.abort();
    until(|| api.uploads.free(), UPLOADS_MAX - 1).await;
    assert!(!waiting.is_finished(), "it was parsed beyond the bound");
    drop(parsing);
    assert_eq!(waiting.await.unwrap().status(), StatusCode::CREATED);
    until(|| api.uploads.free(), UPLOADS_MAX).await;
    until(|| api.parsing.available_permits(), IMPORTS_PARSING_MAX).await;
}

#[tokio::test]
async fn more_uploads_than_may_be_held_are_refused_at_once() {
    let folder = TempDir::new().unwrap();
    let (api, token) = api(&folder).await;
    let others = (2..).map(|n| TeacherId(Uuid::from_u128(n)));
    let held: Vec<_> = others.map_while(|other| api.uploads.take(other)).collect();
    assert_eq!(held.len(), UPLOADS_MAX);
    let refused = upload(api.clone(), token.clone()).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key("retry-after"));
    drop(held);
    assert_eq!(upload(api, token).await.status(), StatusCode::CREATED);
}
