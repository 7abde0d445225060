//! The web front end, served from the binary: which page stands at which address, and with which headers.
//!
//! What the pages hold is the web build's; it also writes the Content-Security-Policy of each page (`headers.json`) and
//! compresses every file beforehand (`.br`, `.gz`). A file name with a content hash lies under `/assets/` and is cached for
//! good; everything else is asked for again each time, and answered by 304 when it is still the same.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};

mod encoding;
mod files;

use encoding::Encoding;
use files::{Embedded, Files, Stored};

/// The page for addresses that lead nowhere, when the build brings none.
const NOT_FOUND_PAGE: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Not found</title>\n\
     <h1>There is nothing here</h1>\n<p><a href=\"/\">Join a game</a></p>\n</html>\n";
/// Written by the build: page name to policy.
const POLICIES_FILE: &str = "headers.json";
/// A page whose policy the build does not give may load nothing: a missing policy must show, not pass.
const POLICY_DEFAULT: &str = "default-src 'none'";

const COOP: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The front end at the root of the site: pages, assets, and a page for everything else.
pub fn web_router() -> Router {
    router(Embedded)
}

fn router<F: Files>(files: F) -> Router {
    let site = Site {
        policies: policies(&files),
        files,
    };
    Router::new().fallback(serve::<F>).with_state(Arc::new(site))
}

struct Site<F> {
    files: F,
    policies: HashMap<String, HeaderValue>,
}

fn policies(files: &impl Files) -> HashMap<String, HeaderValue> {
    let Some(stored) = files.get(POLICIES_FILE) else {
        return HashMap::new();
    };
    let parsed: HashMap<String, String> = serde_json::from_slice(&stored.bytes).unwrap_or_else(|error| {
        tracing::error!(%error, "the embedded {POLICIES_FILE} cannot be read; pages will load nothing");
        HashMap::new()
    });
    parsed
        .into_iter()
        .filter_map(|(page, policy)| Some((page, policy.parse().ok()?)))
        .collect()
}

async fn serve<F: Files>(State(site): State<Arc<Site<F>>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let answer = "This address does not take this method.\n";
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD")], answer).into_response();
    }
    let mut response = match file_of(request.uri().path()) {
        Some(name) => site.file(name, request.headers()),
        None => None,
    }
    .unwrap_or_else(|| site.not_found(request.headers()));
    if request.method() == Method::HEAD {
        *response.body_mut() = Body::empty();
    }
    response
}

/// The file that stands at an address.
fn file_of(path: &str) -> Option<&str> {
    match path {
        "/" => Some("student.html"),
        "/host" => Some("host.html"),
        "/screen" => Some("screen.html"),
        "/teach" => Some("teacher.html"),
        "/report" => Some("report.html"),
        _ if path.starts_with("/teach/") => Some("teacher.html"),
        _ => {
            let name = path.strip_prefix('/')?;
            // Pages have their own addresses; the rest is for this server, not for the browser.
            let hidden =
                name == POLICIES_FILE || [".html", ".br", ".gz"].iter().any(|end| name.ends_with(end));
            (!hidden).then_some(name)
        }
    }
}

impl<F: Files> Site<F> {
    fn file(&self, name: &str, request: &HeaderMap) -> Option<Response> {
        let plain = self.files.get(name)?;
        let (encoding, stored) = self.negotiate(name, plain, request);
        let etag = stored.etag(encoding);
        let cache = if name.starts_with("assets/") {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        let unchanged = request
            .get_all(IF_NONE_MATCH)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|tag| tag.trim().trim_start_matches("W/") == etag);
        let mut response = if unchanged {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            self.body(name, encoding, stored)
        };
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
        if let Ok(etag) = etag.parse() {
            headers.insert(ETAG, etag);
        }
        self.protect(name, headers);
        Some(response)
    }

    /// The best variant that the browser takes and the build has.
    fn negotiate(&self, name: &str, plain: Stored, request: &HeaderMap) -> (Encoding, Stored) {
        let accepted = request
            .get_all(ACCEPT_ENCODING)
            .iter()
            .filter_map(|value| value.to_str().ok());
        encoding::preferred(accepted)
            .into_iter()
            .find_map(|encoding| {
                let suffix = encoding.suffix()?;
                self.files
                    .get(&format!("{name}{suffix}"))
                    .map(|stored| (encoding, stored))
            })
            .unwrap_or((Encoding::Identity, plain))
    }

    fn body(&self, name: &str, encoding: Encoding, stored: Stored) -> Response {
        let length = HeaderValue::from(stored.bytes.len());
        let mut response = Body::from(stored.bytes).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(files::media_type(name)));
        headers.insert(CONTENT_LENGTH, length);
        if let Some(coding) = encoding.name() {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        response
    }

    fn not_found(&self, request: &HeaderMap) -> Response {
        let mut request = request.clone();
        request.remove(IF_NONE_MATCH);
        let mut response = self.file("404.html", &request).unwrap_or_else(|| {
            let page = Stored::new(NOT_FOUND_PAGE.as_bytes().into());
            let mut response = self.body("404.html", Encoding::Identity, page);
            self.protect("404.html", response.headers_mut());
            response
                .headers_mut()
                .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            response
        });
        *response.status_mut() = StatusCode::NOT_FOUND;
        response
    }

    fn protect(&self, name: &str, headers: &mut HeaderMap) {
        let policy = self
            .policies
            .get(name)
            .cloned()
            .unwrap_or(HeaderValue::from_static(POLICY_DEFAULT));
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        // A game's code stands in addresses; no other site learns it.
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(COOP, HeaderValue::from_static("same-origin"));
    }
}

#[cfg(test)]
mod tests;
