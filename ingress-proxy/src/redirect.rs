//! The plain listener beside an https one: everybody is sent to the same address under https.

use std::convert::Infallible;

use axum::body::Body;
use http::header::{HOST, LOCATION};
use http::uri::Authority;
use http::{HeaderValue, Request, Response, StatusCode};

use crate::refusal::Refusal;

/// Answers a request that came without TLS. The method stays (308), as does the query; a port in `Host` goes, since
/// https has another.
///
/// # Errors
/// None; the signature is a service's.
pub async fn to_https(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    let response = location(&request).map_or_else(
        || Refusal::Host.into_response(),
        |location| {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
            response.headers_mut().insert(LOCATION, location);
            response
        },
    );
    Ok(response)
}

fn location(request: &Request<Body>) -> Option<HeaderValue> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let host: Authority = hosts.next()?.to_str().ok()?.parse().ok()?;
    if hosts.next().is_some() || host.as_str().contains('@') || host.host().is_empty() {
        return None;
    }
    let path = request.uri().path_and_query().map_or("/", |whole| whole.as_str());
    let path = if path.starts_with('/') { path } else { "/" };
    HeaderValue::try_from(format!("https://{}{path}", host.host())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everybody_is_sent_to_https_and_nobody_elsewhere() {
        for (host, uri, to) in [
            (
                "quiz.example",
                "/game/watch?g=K7Q2MX",
                "https://quiz.example/game/watch?g=K7Q2MX",
            ),
            ("quiz.example:8081", "/", "https://quiz.example/"),
            ("[::1]:80", "/x", "https://[::1]/x"),
            (
                "quiz.example",
                "http://other.example/x?y",
                "https://quiz.example/x?y",
            ),
            (
                "quiz.example",
                "//other.example/x",
                "https://quiz.example//other.example/x",
            ),
        ] {
            let request = Request::builder()
                .uri(uri)
                .header(HOST, host)
                .body(Body::empty())
                .unwrap();
            let response = to_https(request).await.unwrap();
            assert_eq!(response.status(), StatusCode::PERMANENT_REDIRECT);
            assert_eq!(response.headers()[LOCATION], to);
        }
        for hosts in [&[][..], &[""], &["a", "b"], &["a@b"], &["a b"], &["a/b"]] {
            let mut request = Request::builder().uri("/");
            for host in hosts {
                request = request.header(HOST, *host);
            }
            let response = to_https(request.body(Body::empty()).unwrap()).await.unwrap();
            assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{hosts:?}");
        }
    }
}
