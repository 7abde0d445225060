//! Past its capacity the API refuses fast and says when to come back; past their own limit a teacher is told so.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use api::{Api, Config, Keys, LocalShared, PlanCheckError, Shared, SqliteStore};
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use futures_util::future::join_all;
use futures_util::stream;
use serde_json::json;

use crate::support::{PASSWORD, Reply, Site, document};

fn retry_after_s(reply: &Reply) -> u64 {
    reply.headers["retry-after"].to_str().unwrap().parse().unwrap()
}

async fn site(permits: u32) -> Site {
    Site::with(Config {
        permits,
        ..Config::default()
    })
    .await
}

#[tokio::test]
async fn more_calls_than_permits_and_places_are_refused_with_a_time_to_come_back() {
    let site = site(2).await;
    let anna = site.teacher("anna").await;
    // Different pages, so that none is answered from memory; each starts before the first has ended.
    let paths: Vec<_> = (1..=30).map(|limit| format!("/quizzes?limit={limit}")).collect();
    let calls = paths
        .iter()
        .map(|path| site.call("GET", path).bearer(&anna).send());
    let replies = join_all(calls).await;
    let (served, refused): (Vec<_>, Vec<_>) =
        replies.iter().partition(|reply| reply.status == StatusCode::OK);
    assert!((4..=8).contains(&served.len()), "{} were served", served.len());
    let mut told = BTreeSet::new();
    for reply in refused {
        reply.refused(503, "temporary-reduced-capacity");
        told.insert(retry_after_s(reply));
    }
    assert_eq!(told, BTreeSet::from([1, 2, 3]));
    for path in &paths {
        let again = site.call("GET", path).bearer(&anna).send().await;
        assert_eq!(again.status, StatusCode::OK, "what is over leaves nothing behind");
    }
}

#[tokio::test]
async fn urgent_calls_are_served_while_reads_are_refused() {
    let site = site(1).await;
    let anna = site.teacher("anna").await;
    let reads: Vec<_> = (1..=20).map(|limit| format!("/quizzes?limit={limit}")).collect();
    let reads = join_all(
        reads
            .iter()
            .map(|path| site.call("GET", path).bearer(&anna).send()),
    );
    let checks = join_all((0..15).map(|_| site.api.plan_check(anna.id, None)));
    let (reads, checks) = tokio::join!(reads, checks);
    assert!(
        reads
            .iter()
            .any(|reply| reply.status == StatusCode::SERVICE_UNAVAILABLE)
    );
    for check in checks {
        check.unwrap();
    }
}

/// What measurements set a capacity with: the one permit is held for the delay by everybody who gets it.
#[tokio::test]
async fn a_scripted_delay_bounds_what_is_served() {
    let delay = Duration::from_millis(40);
    let site = Site::with(Config {
        permits: 1,
        call_delay: delay,
        ..Config::default()
    })
    .await;
    let anna = site.teacher("anna").await;
    let started = Instant::now();
    let checks = join_all((0..5).map(|_| site.api.plan_check(anna.id, None))).await;
    assert!(checks.iter().all(Result::is_ok), "{checks:?}");
    assert!(started.elapsed() >= delay * 5, "{:?}", started.elapsed());
}

/// A call that lets go of its permit, to have a password hashed, is one call all the same.
#[tokio::test]
async fn a_scripted_delay_is_one_of_each_call() {
    let delay = Duration::from_secs(2);
    let site = Site::with(Config {
        call_delay: delay,
        ..Config::default()
    })
    .await;
    let started = Instant::now();
    site.teacher("anna").await;
    let took = started.elapsed();
    assert!(took >= delay && took < delay * 2, "{took:?}");
}

/// What measurements compare admission with.
#[tokio::test]
async fn without_admission_nobody_is_refused() {
    let site = site(u32::MAX).await;
    let anna = site.teacher("anna").await;
    let paths: Vec<_> = (1..=60).map(|limit| format!("/quizzes?limit={limit}")).collect();
    let calls = paths
        .iter()
        .map(|path| site.call("GET", path).bearer(&anna).send());
    for reply in join_all(calls).await {
        assert_eq!(reply.status, StatusCode::OK);
    }
}

/// A school of fifty behind one address: nobody is refused, as no limit looks at addresses after the sign-in.
#[tokio::test]
async fn fifty_teachers_start_at_once() {
    let site = Site::new().await;
    let teachers = join_all((0..5).map(async |n| site.teacher(&format!("t{n}")).await.id)).await;
    let starts = join_all((0..50).map(|n| site.api.plan_check(teachers[n % 5], None)));
    for start in starts.await {
        start.unwrap();
    }
}

#[tokio::test]
async fn a_body_that_does_not_come_keeps_nobody_out() {
    let site = site(1).await;
    let anna = site.teacher("anna").await;
    for _ in 0..3 {
        let stalled = site
            .call("POST", "/quizzes")
            .bearer(&anna)
            .header("content-type", "application/json")
            .body(Body::from_stream(stream::pending::<std::io::Result<Bytes>>()));
        tokio::spawn(stalled.send());
    }
    // The first has the permit for a moment, the second waits for it; by then all three are reading.
    loop {
        let reply = site.call("GET", "/quizzes").bearer(&anna).send().await;
        if reply.status == StatusCode::OK {
            break;
        }
        reply.refused(503, "temporary-reduced-capacity");
    }
    let made = site
        .call("POST", "/quizzes")
        .bearer(&anna)
        .json(&document("Here", 1))
        .send()
        .await;
    assert_eq!(made.status, StatusCode::CREATED);
}

#[tokio::test]
async fn a_teacher_who_asks_too_often_is_told_when_to_come_back() {
    let site = Site::with(Config {
        teacher_requests_max: 3,
        ..Config::default()
    })
    .await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    for _ in 0..3 {
        assert_eq!(
            site.call("GET", "/users/me").bearer(&anna).send().await.status,
            StatusCode::OK
        );
    }
    let refused = site.call("GET", "/quizzes").bearer(&anna).send().await;
    let detail = refused.refused(429, "quota-exceeded");
    let left_s = retry_after_s(&refused);
    assert!(
        (1..=60).contains(&left_s) && detail.contains(&format!("in {left_s} s")),
        "{detail}"
    );
    assert_eq!(refused.headers["ratelimit-policy"], "\"requests\";q=3;w=60");
    assert_eq!(
        refused.headers["ratelimit"],
        format!("\"requests\";r=0;t={left_s}").as_str()
    );
    assert_eq!(
        site.call("GET", "/quizzes").bearer(&ben).send().await.status,
        StatusCode::OK
    );
    // What needs no sign-in is nobody's.
    assert_eq!(site.call("GET", "/plans").send().await.status, StatusCode::OK);
}

#[tokio::test]
async fn thirty_games_in_a_minute_are_twenty_and_ten_refusals() {
    let site = Site::new().await;
    let (anna, ben) = (site.teacher("anna").await, site.teacher("ben").await);
    let mut refused = 0;
    for started in 0..30 {
        match site.api.plan_check(anna.id, None).await {
            Ok(_) => assert!(started < 20),
            Err(PlanCheckError::TooMany { max, retry_after_s }) => {
                assert!(max == 20 && (1..=60).contains(&retry_after_s), "{retry_after_s}");
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(refused, 10);
    site.api.plan_check(ben.id, None).await.unwrap();
    // Reading is another count.
    assert_eq!(
        site.call("GET", "/quizzes").bearer(&anna).send().await.status,
        StatusCode::OK
    );
}

/// Before the sign-in there is only the address, and behind a trusted proxy it is the one that the proxy names.
#[tokio::test]
async fn sign_ins_are_limited_by_address_and_nothing_else_is() {
    let site = Site::with(Config {
        address_sign_ins_max: 3,
        trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
        ..Config::default()
    })
    .await;
    let anna = site.teacher("anna").await;
    let from = |peer: &str, said: &str, path: &str| {
        let call = site.call("POST", path).peer(peer).json(&json!({
            "email": "anna@school.org", "password": PASSWORD, "name": "Anna",
        }));
        match said {
            "" => call.send(),
            said => call.header("x-forwarded-for", said).send(),
        }
    };
    for path in ["/auth/login", "/auth/register", "/auth/login"] {
        let reply = from("203.0.113.9", "", path).await;
        assert_ne!(reply.status, StatusCode::TOO_MANY_REQUESTS);
    }
    for path in ["/auth/login", "/auth/register"] {
        let refused = from("203.0.113.9", "198.51.100.1", path).await;
        refused.refused(429, "quota-exceeded");
        assert!((1..=60).contains(&retry_after_s(&refused)));
        assert_eq!(refused.headers["ratelimit-policy"], "\"sign-ins\";q=3;w=60");
    }
    // Another address, and others behind a proxy, are somebody else; the proxy's own word is not the client's.
    for (peer, said) in [("203.0.113.10", ""), ("10.0.0.1", "198.51.100.7")] {
        for _ in 0..3 {
            assert_eq!(from(peer, said, "/auth/login").await.status, StatusCode::OK);
        }
        from(peer, said, "/auth/login")
            .await
            .refused(429, "quota-exceeded");
    }
    assert_eq!(
        from("10.0.0.1", "198.51.100.7, 198.51.100.8", "/auth/login")
            .await
            .status,
        StatusCode::OK
    );
    // Whoever is signed in is known by something better.
    for _ in 0..5 {
        let reply = site
            .call("GET", "/users/me")
            .peer("203.0.113.9")
            .bearer(&anna)
            .send()
            .await;
        assert_eq!(reply.status, StatusCode::OK);
    }
}

/// A cookie may be anything, and each costs a look into the database; but pages of a whole school come from one address.
#[tokio::test]
async fn renewals_are_limited_by_address_and_apart_from_sign_ins() {
    let site = Site::with(Config {
        address_sign_ins_max: 1,
        ..Config::default()
    })
    .await;
    let anna = site.teacher("anna").await;
    let call = |path: &str, peer: &str| {
        let call = site.call("POST", path).peer(peer);
        call.header("cookie", &anna.cookie).send()
    };
    for n in 0..10 {
        let path = if n % 2 == 0 {
            "/auth/refresh"
        } else {
            "/auth/logout"
        };
        assert_ne!(
            call(path, "203.0.113.9").await.status,
            StatusCode::TOO_MANY_REQUESTS
        );
    }
    for path in ["/auth/refresh", "/auth/logout"] {
        let refused = call(path, "203.0.113.9").await;
        refused.refused(429, "quota-exceeded");
        assert_eq!(refused.headers["ratelimit-policy"], "\"renewals\";q=10;w=60");
        assert!(
            !refused.headers.contains_key("set-cookie"),
            "nobody is signed out by it"
        );
    }
    assert_ne!(
        call("/auth/refresh", "203.0.113.10").await.status,
        StatusCode::TOO_MANY_REQUESTS
    );
    let sign_in = site
        .call("POST", "/auth/login")
        .peer("203.0.113.9")
        .json(&json!({ "email": "anna@school.org", "password": PASSWORD }));
    assert_eq!(sign_in.send().await.status, StatusCode::OK);
}

/// A start that the database did not serve was none.
#[tokio::test]
async fn starts_that_could_not_be_served_are_not_counted() {
    let site = Site::new().await;
    let anna = site.teacher("anna").await;
    let shared: Arc<dyn Shared> = Arc::new(LocalShared::alone());
    let well = site.api.clone().sharing(Arc::clone(&shared));
    let folder = site.keys_file().parent().unwrap().to_owned();
    let gone = SqliteStore::open(&folder.join("gone.db")).await.unwrap();
    gone.close().await;
    let keys = Keys::load_or_create(&site.keys_file()).unwrap();
    let broken = Api::open(Config::default(), Arc::new(gone), keys).sharing(shared);
    for _ in 0..40 {
        let started = broken.plan_check(anna.id, None).await;
        assert!(
            matches!(started, Err(PlanCheckError::Unavailable(_))),
            "{started:?}"
        );
    }
    for _ in 0..20 {
        well.plan_check(anna.id, None).await.unwrap();
    }
}
