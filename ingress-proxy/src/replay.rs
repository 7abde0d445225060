//! Requests that can be sent to another server as well, should the first one not take them.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request};
use hyper::body::Body as _;

use crate::refusal::Refusal;

/// Time for a kept body to arrive: what a server gives a body.
const ARRIVAL_MAX: Duration = Duration::from_secs(60);

/// A request, as often as it may be sent.
pub(crate) enum Replay {
    /// With its whole body, or none; it can be sent any number of times.
    Whole(Parts, Bytes),
    /// With a body that is still arriving; it can be sent once.
    Once(Option<Request<Body>>),
}

impl Replay {
    /// A body of at most `kept_bytes` is read first, so that it can be sent again.
    ///
    /// # Errors
    /// The client broke off while sending it, or did not send it in time.
    pub(crate) async fn new(request: Request<Body>, kept_bytes: u64) -> Result<Self, Refusal> {
        let kept = request
            .body()
            .size_hint()
            .exact()
            .filter(|bytes| *bytes <= kept_bytes);
        match kept.and_then(|bytes| usize::try_from(bytes).ok()) {
            Some(0) => Ok(Self::Whole(request.into_parts().0, Bytes::new())),
            Some(bytes) => {
                let (parts, body) = request.into_parts();
                let arriving = axum::body::to_bytes(body, bytes);
                match tokio::time::timeout(ARRIVAL_MAX, arriving).await {
                    Ok(Ok(body)) => Ok(Self::Whole(parts, body)),
                    Ok(Err(_)) => Err(Refusal::BrokenBody),
                    Err(_) => Err(Refusal::LateBody),
                }
            }
            None => Ok(Self::Once(Some(request))),
        }
    }

    /// The request, if it may still be sent.
    pub(crate) fn take(&mut self) -> Option<Request<Body>> {
        match self {
            Self::Whole(parts, body) => {
                let body = if body.is_empty() {
                    Body::empty()
                } else {
                    Body::from(body.clone())
                };
                let mut request = Request::new(body);
                *request.method_mut() = parts.method.clone();
                *request.uri_mut() = parts.uri.clone();
                *request.headers_mut() = parts.headers.clone();
                Some(request)
            }
            Self::Once(request) => request.take(),
        }
    }

    /// Takes back what was not sent.
    pub(crate) fn unsent(&mut self, request: Option<Request<Body>>) {
        if let Self::Once(kept) = self {
            *kept = request;
        }
    }

    /// Whether it may be sent again although a server may have begun with it: it changes nothing, or comes to the same.
    pub(crate) fn is_idempotent(&self) -> bool {
        match self {
            Self::Whole(parts, _) => is_idempotent(&parts.method),
            Self::Once(_) => false,
        }
    }

    /// Whether a body comes with it.
    pub(crate) fn has_body(&self) -> bool {
        match self {
            Self::Whole(_, body) => !body.is_empty(),
            Self::Once(_) => true,
        }
    }
}

fn is_idempotent(method: &Method) -> bool {
    [
        Method::GET,
        Method::HEAD,
        Method::OPTIONS,
        Method::PUT,
        Method::DELETE,
    ]
    .contains(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: Method, body: Body) -> Request<Body> {
        Request::builder().method(method).uri("/x?y").body(body).unwrap()
    }

    async fn text(replay: &mut Replay) -> Option<String> {
        let body = replay.take()?.into_body();
        let bytes = axum::body::to_bytes(body, 1024).await.unwrap();
        Some(String::from_utf8(bytes.into()).unwrap())
    }

    #[tokio::test]
    async fn a_short_body_can_be_sent_again_and_a_long_one_not() {
        let mut short = Replay::new(request(Method::POST, "12345".into()), 5)
            .await
            .unwrap();
        assert_eq!(text(&mut short).await.as_deref(), Some("12345"));
        assert_eq!(text(&mut short).await.as_deref(), Some("12345"));
        assert!(short.has_body() && !short.is_idempotent());

        let mut long = Replay::new(request(Method::PUT, "123456".into()), 5)
            .await
            .unwrap();
        let taken = long.take();
        assert!(taken.is_some() && long.take().is_none());
        long.unsent(taken);
        assert_eq!(text(&mut long).await.as_deref(), Some("123456"));
        assert_eq!(text(&mut long).await, None);
        assert!(long.has_body() && !long.is_idempotent());

        let none = Replay::new(request(Method::GET, Body::empty()), 0).await.unwrap();
        assert!(!none.has_body() && none.is_idempotent());
    }
}
