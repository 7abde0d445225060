//! Memory that a rush of sign-ins leaves behind, in a process of its own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use api::{Api, Config, Keys, SqliteStore};
use axum::body::Body;
use axum::http::{Request, StatusCode};
use tower::ServiceExt as _;

/// What may stay: the areas of two hashes, 38 MiB, and the server's own few MiB.
const LEFT_KIB_MAX: u64 = 80 * 1024;
/// As many as may wait at once.
const SIGN_INS: usize = 60;

fn rss_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rush_of_wrong_passwords_leaves_no_memory_behind() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(&folder.path().join("api.db")).await.unwrap());
    let keys = Keys::load_or_create(&folder.path().join("keys.json")).unwrap();
    let router = Api::open(Config::default(), store, keys).router();
    let before_kib = rss_kib();
    let sign_ins = (0..SIGN_INS).map(|n| {
        let router = router.clone();
        tokio::spawn(async move {
            let body = format!(r#"{{"email":"nobody{n}@school.org","password":"wrong horse"}}"#);
            let request = Request::post("/auth/login")
                .header("content-type", "application/json")
                .body(Body::from(body))
                .unwrap();
            router.oneshot(request).await.unwrap().status()
        })
    });
    for status in futures_util::future::join_all(sign_ins).await {
        assert_eq!(status.unwrap(), StatusCode::UNAUTHORIZED);
    }
    let left_kib = rss_kib().saturating_sub(before_kib);
    assert!(left_kib < LEFT_KIB_MAX, "{left_kib} KiB are left");
}
