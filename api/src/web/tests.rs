//! The front end's addresses and headers, on a small set of files, and the binary's own set.

use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use super::*;

/// A set of files as the build would write it.
struct Made(Vec<(&'static str, &'static str)>);

impl Files for Made {
    fn get(&self, name: &str) -> Option<Stored> {
        let (_, text) = self.0.iter().find(|(known, _)| *known == name)?;
        Some(Stored::new(text.as_bytes().into()))
    }
}

fn site() -> Router {
    router(Made(vec![
        ("student.html", "the student page"),
        ("student.html.br", "student in brotli"),
        ("student.html.gz", "student in gzip"),
        ("host.html", "the host page"),
        ("screen.html", "the screen page"),
        ("teacher.html", "the teacher page"),
        ("report.html", "the report page"),
        ("favicon.svg", "<svg/>"),
        ("assets/host-4F2A.js", "host()"),
        ("assets/host-4F2A.js.br", "host in brotli"),
        (
            POLICIES_FILE,
            r#"{"student.html":"default-src 'none'; script-src 'sha256-x'","host.html":"default-src 'self'"}"#,
        ),
    ]))
}

async fn ask(
    router: Router,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> (StatusCode, HeaderMap, String) {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = router
        .oneshot(request.body(Body::empty()).unwrap())
        .await
        .unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (
        parts.status,
        parts.headers,
        String::from_utf8(body.to_vec()).unwrap(),
    )
}

#[tokio::test]
async fn every_page_stands_at_its_address() {
    for (path, body) in [
        ("/", "the student page"),
        ("/?g=K7Q2MX", "the student page"),
        ("/host", "the host page"),
        ("/screen", "the screen page"),
        ("/teach", "the teacher page"),
        ("/teach/quiz/7", "the teacher page"),
        ("/report?game=1", "the report page"),
        ("/favicon.svg", "<svg/>"),
        ("/assets/host-4F2A.js", "host()"),
    ] {
        let (status, headers, text) = ask(site(), "GET", path, &[]).await;
        assert_eq!((status, text.as_str()), (StatusCode::OK, body), "{path}");
        assert_eq!(headers["content-length"], body.len().to_string().as_str());
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["referrer-policy"], "no-referrer");
        assert_eq!(headers["cross-origin-opener-policy"], "same-origin");
    }
}

#[tokio::test]
async fn nothing_else_is_reachable() {
    for path in [
        "/student.html",
        "/headers.json",
        "/student.html.br",
        "/assets/host-4F2A.js.br",
        "/nothing",
        "/host/",
        "/teacher",
        "/assets/",
        "/assets/../headers.json",
        "/%2e%2e/Cargo.toml",
        "//student.html",
        "/report/7",
    ] {
        let (status, headers, text) = ask(site(), "GET", path, &[]).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(headers["content-security-policy"], POLICY_DEFAULT);
        assert!(text.contains("nothing here"), "{path}");
    }
    let (status, headers, _) = ask(site(), "POST", "/", &[]).await;
    assert_eq!(
        (status, headers["allow"].to_str().unwrap()),
        (StatusCode::METHOD_NOT_ALLOWED, "GET, HEAD")
    );
}

#[tokio::test]
async fn the_policy_is_the_builds_and_nothing_without_one() {
    for (path, policy) in [
        ("/", "default-src 'none'; script-src 'sha256-x'"),
        ("/host", "default-src 'self'"),
        ("/report", POLICY_DEFAULT),
        ("/favicon.svg", POLICY_DEFAULT),
    ] {
        let (_, headers, _) = ask(site(), "GET", path, &[]).await;
        assert_eq!(headers["content-security-policy"], policy, "{path}");
    }
    for policies in ["not json", "{\"student.html\":\"a\\nb\"}"] {
        let broken = router(Made(vec![("student.html", "page"), (POLICIES_FILE, policies)]));
        let (_, headers, _) = ask(broken, "GET", "/", &[]).await;
        assert_eq!(headers["content-security-policy"], POLICY_DEFAULT, "{policies}");
    }
}

#[tokio::test]
async fn a_compressed_variant_is_sent_when_it_is_accepted() {
    for (path, accepted, coding, body) in [
        ("/", "gzip, deflate, br", Some("br"), "student in brotli"),
        ("/", "gzip", Some("gzip"), "student in gzip"),
        ("/", "br;q=0, gzip;q=0", None, "the student page"),
        ("/assets/host-4F2A.js", "gzip", None, "host()"),
        ("/assets/host-4F2A.js", "gzip, br", Some("br"), "host in brotli"),
        ("/host", "br", None, "the host page"),
    ] {
        let (_, headers, text) = ask(site(), "GET", path, &[("accept-encoding", accepted)]).await;
        let found = headers
            .get("content-encoding")
            .map(|value| value.to_str().unwrap());
        assert_eq!((found, text.as_str()), (coding, body), "{path} {accepted}");
        assert_eq!(headers["vary"], "Accept-Encoding");
        let kind = if path.ends_with(".js") {
            "text/javascript; charset=utf-8"
        } else {
            "text/html; charset=utf-8"
        };
        assert_eq!(headers["content-type"], kind);
    }
}

#[tokio::test]
async fn only_hashed_names_are_cached_for_good() {
    let (_, headers, _) = ask(site(), "GET", "/assets/host-4F2A.js", &[]).await;
    assert_eq!(headers["cache-control"], "public, max-age=31536000, immutable");
    let (_, headers, _) = ask(site(), "GET", "/", &[("accept-encoding", "br")]).await;
    assert_eq!(headers["cache-control"], "no-cache");
    let etag = headers["etag"].to_str().unwrap();
    for (tags, coding, status) in [
        (etag.to_owned(), "br", StatusCode::NOT_MODIFIED),
        (format!("\"old\", W/{etag}"), "br", StatusCode::NOT_MODIFIED),
        (etag.to_owned(), "gzip", StatusCode::OK),
        ("\"old\"".to_owned(), "br", StatusCode::OK),
    ] {
        let asked = [("if-none-match", tags.as_str()), ("accept-encoding", coding)];
        let (found, headers, text) = ask(site(), "GET", "/", &asked).await;
        assert_eq!(found, status, "{tags} {coding}");
        assert_eq!(text.is_empty(), status == StatusCode::NOT_MODIFIED);
        assert!(headers.contains_key("content-security-policy") && headers.contains_key("etag"));
    }
}

#[tokio::test]
async fn head_has_the_headers_and_no_body() {
    let (status, headers, text) = ask(site(), "HEAD", "/", &[]).await;
    assert_eq!((status, text.as_str()), (StatusCode::OK, ""));
    assert_eq!(
        headers["content-length"],
        "the student page".len().to_string().as_str()
    );
}

#[tokio::test]
async fn the_builds_own_page_for_nothing_is_used() {
    let site = router(Made(vec![("404.html", "lost?")]));
    let (status, _, text) = ask(site, "GET", "/", &[("if-none-match", "\"x\"")]).await;
    assert_eq!((status, text.as_str()), (StatusCode::NOT_FOUND, "lost?"));
}

#[tokio::test]
async fn the_binary_carries_every_page() {
    for path in ["/", "/host", "/screen", "/teach", "/report"] {
        let (status, headers, text) = ask(web_router(), "GET", path, &[]).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert!(
            headers["content-type"].to_str().unwrap().starts_with("text/html"),
            "{path}"
        );
        assert!(text.to_lowercase().contains("<!doctype html>"), "{path}");
    }
}
