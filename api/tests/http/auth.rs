//! Accounts, sign-in, and the chain of refresh tokens.

use std::time::Duration;

use api::Config;
use axum::http::StatusCode;
use serde_json::json;

use crate::support::{PASSWORD, Reply, Site};

const GRACE: Duration = Duration::from_millis(api::config::REFRESH_GRACE_MS);

async fn refresh(site: &Site, cookie: &str) -> Reply {
    site.call("POST", "/auth/refresh")
        .header("cookie", cookie)
        .send()
        .await
}

#[tokio::test]
async fn a_teacher_registers_signs_in_and_is_known() {
    let site = Site::new().await;
    let body = json!({ "email": " Anna@School.ORG ", "password": PASSWORD, "name": "  Anna Berg " });
    let registered = site.call("POST", "/auth/register").json(&body).send().await;
    assert_eq!(registered.status, StatusCode::CREATED);
    let user = registered.value()["user"].clone();
    assert_eq!(
        (&user["email"], &user["name"]),
        (&json!("anna@school.org"), &json!("Anna Berg"))
    );

    let body = json!({ "email": "ANNA@school.org", "password": PASSWORD });
    let signed_in = site.call("POST", "/auth/login").json(&body).send().await;
    assert_eq!(
        (signed_in.status, signed_in.value()["expires_in_s"].as_u64()),
        (StatusCode::OK, Some(900))
    );
    let token = signed_in.value()["access_token"].as_str().unwrap().to_owned();
    let me = site
        .call("GET", "/users/me")
        .header("authorization", &format!("bearer {token}"))
        .send()
        .await;
    assert_eq!((me.status, me.value()), (StatusCode::OK, user));
}

#[tokio::test]
async fn other_sites_pages_cannot_use_the_cookie() {
    let site = Site::with(Config {
        origins: vec!["https://quiz.example".into()],
        ..Config::default()
    })
    .await;
    let anna = site.teacher("anna").await;
    let call = |path: &'static str, origin: &str| {
        site.call("POST", path)
            .header("host", "school.local:8080")
            .header("origin", origin)
            .header("cookie", &anna.cookie)
            .send()
    };
    for origin in [
        "http://evil.example",
        "http://school.local",
        "http://school.local:9000",
        "https://quiz.example:8443",
        "null",
        "",
    ] {
        for path in ["/auth/refresh", "/auth/logout"] {
            let reply = call(path, origin).await;
            reply.refused(403, "origin-not-allowed");
            assert!(!reply.headers.contains_key("set-cookie"), "{origin}");
        }
    }
    for origin in ["http://school.local:8080", "https://quiz.example"] {
        assert_eq!(
            call("/auth/refresh", origin).await.status,
            StatusCode::OK,
            "{origin}"
        );
    }
}

#[tokio::test]
async fn an_address_is_taken_once_in_every_spelling() {
    let site = Site::new().await;
    site.teacher("anna").await;
    let body = json!({ "email": "\tANNA@SCHOOL.ORG", "password": PASSWORD, "name": "Other" });
    let reply = site.call("POST", "/auth/register").json(&body).send().await;
    reply.refused(409, "email-taken");
    assert!(!reply.headers.contains_key("set-cookie"));
}

#[tokio::test]
async fn two_registrations_of_one_address_at_once_make_one_account() {
    let site = Site::new().await;
    let body = json!({ "email": "anna@school.org", "password": PASSWORD, "name": "Anna" });
    let call = || site.call("POST", "/auth/register").json(&body).send();
    let (one, two) = tokio::join!(call(), call());
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409]);
}

#[tokio::test]
async fn what_cannot_be_an_account_is_refused_with_a_reason() {
    let site = Site::new().await;
    let long_password = "x".repeat(257);
    let long_name = "n".repeat(81);
    for (email, password, name, code) in [
        ("anna", PASSWORD, "Anna", "bad-email"),
        ("anna@school.org", "7 chars", "Anna", "bad-password"),
        ("anna@school.org", &long_password, "Anna", "bad-password"),
        ("anna@school.org", PASSWORD, "  ", "bad-name"),
        ("anna@school.org", PASSWORD, "An\u{7}na", "bad-name"),
        ("anna@school.org", PASSWORD, &long_name, "bad-name"),
    ] {
        let body = json!({ "email": email, "password": password, "name": name });
        site.call("POST", "/auth/register")
            .json(&body)
            .send()
            .await
            .refused(422, code);
    }
    // Characters, not bytes, and the longest allowed.
    let body = json!({ "email": "anna@school.org", "password": "ü".repeat(256), "name": "ñ".repeat(80) });
    assert_eq!(
        site.call("POST", "/auth/register")
            .json(&body)
            .send()
            .await
            .status,
        StatusCode::CREATED
    );
    let body = json!({ "email": "anna@school.org", "password": "ü".repeat(256) });
    assert_eq!(
        site.call("POST", "/auth/login").json(&body).send().await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_failed_sign_in_tells_nothing_about_the_address() {
    let site = Site::new().await;
    site.teacher("anna").await;
    let mut answers = Vec::new();
    let long = "x".repeat(300);
    for (email, password) in [
        ("anna@school.org", "wrong password"),
        ("nobody@school.org", "wrong password"),
        ("no address", "wrong password"),
        ("anna@school.org", &long),
    ] {
        let body = json!({ "email": email, "password": password });
        let reply = site.call("POST", "/auth/login").json(&body).send().await;
        reply.refused(401, "bad-credentials");
        assert!(!reply.headers.contains_key("set-cookie"));
        answers.push(reply.text());
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

#[tokio::test]
async fn the_cookie_fits_how_the_site_is_reached() {
    let plain = Site::new().await;
    let body = json!({ "email": "anna@school.org", "password": PASSWORD, "name": "Anna" });
    let set = |reply: &Reply| reply.headers["set-cookie"].to_str().unwrap().to_owned();
    let cookie = set(&plain.call("POST", "/auth/register").json(&body).send().await);
    let (value, attributes) = cookie.split_once("; ").unwrap();
    assert!(value.starts_with("homeroom_refresh="));
    assert_eq!(
        attributes,
        "Path=/store/auth; Max-Age=2592000; HttpOnly; SameSite=Strict"
    );

    let config = Config {
        public_url_is_https: true,
        mount_prefix: "/api/v1".to_owned(),
        ..Config::default()
    };
    let secure = Site::with(config).await;
    let cookie = set(&secure.call("POST", "/auth/register").json(&body).send().await);
    let (_, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(
        attributes,
        "Path=/api/v1/auth; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure"
    );
}

#[tokio::test]
async fn a_refresh_token_is_replaced_at_every_use() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let mut cookie = anna.cookie;
    for _ in 0..3 {
        let reply = refresh(&site, &format!("other=1; {cookie}; homeroom=2")).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert_ne!(reply.cookie(), cookie);
        let token = reply.value()["access_token"].as_str().unwrap().to_owned();
        let me = site
            .call("GET", "/users/me")
            .header("authorization", &format!("Bearer {token}"))
            .send()
            .await;
        assert_eq!(me.status, StatusCode::OK);
        cookie = reply.cookie();
        site.clock.advance(2 * GRACE);
    }
}

#[tokio::test]
async fn a_replaced_token_ends_its_whole_session_and_no_other() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let body = json!({ "email": "anna@school.org", "password": PASSWORD });
    let laptop = site.call("POST", "/auth/login").json(&body).send().await.cookie();
    let next = refresh(&site, &anna.cookie).await.cookie();
    site.clock.advance(2 * GRACE);
    refresh(&site, &anna.cookie).await.refused(401, "session-ended");
    refresh(&site, &next).await.refused(401, "session-ended");
    assert_eq!(refresh(&site, &laptop).await.status, StatusCode::OK);
}

#[tokio::test]
async fn two_tabs_and_a_reload_stay_signed_in() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let (one, two, three) = tokio::join!(
        refresh(&site, &anna.cookie),
        refresh(&site, &anna.cookie),
        refresh(&site, &anna.cookie)
    );
    assert_eq!([one.status, two.status, three.status], [StatusCode::OK; 3]);
    assert_eq!(one.cookie(), two.cookie());
    assert_eq!(one.cookie(), three.cookie());
    // A reload drops the answer, and the browser comes with the old token; then with the new one, still within the grace.
    assert_eq!(refresh(&site, &anna.cookie).await.cookie(), one.cookie());
    assert_eq!(refresh(&site, &one.cookie()).await.cookie(), one.cookie());
    assert_eq!(refresh(&site, &anna.cookie).await.cookie(), one.cookie());
    site.clock.advance(2 * GRACE);
    let later = refresh(&site, &one.cookie()).await;
    assert_eq!(later.status, StatusCode::OK);
    assert_ne!(later.cookie(), one.cookie());
}

#[tokio::test]
async fn signing_out_ends_the_session_of_this_browser() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let out = site
        .call("POST", "/auth/logout")
        .header("cookie", &anna.cookie)
        .send()
        .await;
    assert_eq!(out.status, StatusCode::NO_CONTENT);
    let cleared = out.headers["set-cookie"].to_str().unwrap();
    assert!(
        cleared.starts_with("homeroom_refresh=; Path=/store/auth; Max-Age=0;"),
        "{cleared}"
    );
    refresh(&site, &anna.cookie).await.refused(401, "session-ended");
    assert_eq!(
        site.call("POST", "/auth/logout").send().await.status,
        StatusCode::NO_CONTENT
    );
}

#[tokio::test]
async fn an_unused_session_ends() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let day = Duration::from_secs(24 * 60 * 60);
    site.clock.advance(29 * day);
    let next = refresh(&site, &anna.cookie).await.cookie();
    site.clock.advance(29 * day);
    let last = refresh(&site, &next).await.cookie();
    site.clock.advance(30 * day);
    refresh(&site, &last).await.refused(401, "session-ended");
}

#[tokio::test]
async fn what_is_no_refresh_token_signs_nobody_in() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    site.call("POST", "/auth/refresh")
        .send()
        .await
        .refused(401, "session-ended");
    let value = anna.cookie.split_once('=').unwrap().1;
    let (session, secret) = value.split_once('.').unwrap();
    let flipped: String = secret.chars().rev().collect();
    for cookie in [
        "homeroom_refresh=".to_owned(),
        format!("homeroom_refresh={}", anna.token),
        format!("homeroom_refresh={}.{secret}", uuid::Uuid::nil().simple()),
        format!("homeroom_refresh={session}"),
        format!("homeroom_refreshed={value}"),
    ] {
        refresh(&site, &cookie).await.refused(401, "session-ended");
    }
    assert_eq!(
        refresh(&site, &anna.cookie).await.status,
        StatusCode::OK,
        "none of these ended the session"
    );
    // A session's id with a made-up secret can only come from somebody who saw a token of it.
    refresh(&site, &format!("homeroom_refresh={session}.{flipped}"))
        .await
        .refused(401, "session-ended");
    refresh(&site, &anna.cookie).await.refused(401, "session-ended");
}

#[tokio::test]
async fn every_private_address_asks_for_a_token() {
    let site = Site::new().await;
    let id = uuid::Uuid::nil();
    for (method, path) in [
        ("GET", "/users/me".to_owned()),
        ("GET", "/quizzes".to_owned()),
        ("POST", "/quizzes".to_owned()),
        ("GET", format!("/quizzes/{id}")),
        ("PUT", format!("/quizzes/{id}")),
        ("DELETE", format!("/quizzes/{id}")),
        ("GET", format!("/quizzes/{id}/signed")),
        ("POST", "/quizzes/import?filename=x".to_owned()),
        ("GET", "/games".to_owned()),
        ("GET", "/timelines?code=K7Q2MX".to_owned()),
        ("GET", format!("/games/{id}/report")),
        ("DELETE", format!("/games/{id}")),
    ] {
        let reply = site.call(method, &path).send().await;
        reply.refused(401, "token-missing");
        assert_eq!(reply.headers["www-authenticate"], "Bearer", "{method} {path}");
        for (value, code) in [
            ("Bearer abc", "token-invalid"),
            ("Basic YTpi", "token-missing"),
            ("Bearer", "token-invalid"),
        ] {
            site.call(method, &path)
                .header("authorization", value)
                .send()
                .await
                .refused(401, code);
        }
    }
}

#[tokio::test]
async fn a_token_of_another_installation_is_refused() {
    let (ours, theirs) = (Site::new().await, Site::new().await);
    let anna = ours.teacher("anna").await;
    assert_eq!(
        ours.call("GET", "/users/me").bearer(&anna).send().await.status,
        StatusCode::OK
    );
    theirs
        .call("GET", "/users/me")
        .bearer(&anna)
        .send()
        .await
        .refused(401, "token-invalid");
}
