//! Reading request bodies within a bound, with a sentence for everything that can go wrong.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;

use crate::admission::Admitted;
use crate::config::{BODY_PERMIT_MAX, BODY_READ_MAX, DRAIN_BYTES_MAX};
use crate::problem::Refusal;
use crate::service::Api;

/// A JSON body of at most `BYTES_MAX` bytes.
pub(crate) struct Json<T, const BYTES_MAX: usize>(pub(crate) T);

impl<T: DeserializeOwned, const BYTES_MAX: usize> FromRequest<Api> for Json<T, BYTES_MAX> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _api: &Api) -> Result<Self, Refusal> {
        if !is_json(request.headers()) {
            return Err(Refusal::MediaType);
        }
        let bytes = read(request, BYTES_MAX).await?;
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| Refusal::malformed(&error))
    }
}

/// Demanding the type also keeps other sites' forms out: they cannot send it.
fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// Reads a whole body, never holding more than `bytes_max` of it whatever `Content-Length` says.
///
/// # Errors
/// When the body is larger, too slow, or breaks off.
pub(crate) async fn read(request: Request, bytes_max: usize) -> Result<Bytes, Refusal> {
    let admitted = request.extensions().get::<Admitted>().cloned();
    let body = within(BODY_READ_MAX, request, bytes_max);
    match admitted {
        // A slow line must not keep others from the database.
        Some(admitted) => admitted.pause_after(BODY_PERMIT_MAX, body).await?,
        None => body.await,
    }
}

async fn within(time_max: Duration, request: Request, bytes_max: usize) -> Result<Bytes, Refusal> {
    let (parts, mut body) = request.into_parts();
    let declared = declared_bytes(&parts.headers);
    // A client that asks first is answered before it has sent anything.
    if declared.is_some_and(|bytes| bytes > bytes_max) && parts.headers.contains_key(EXPECT) {
        return Err(Refusal::BodyTooLarge(bytes_max));
    }
    let read = async {
        let too_large = declared.is_some_and(|bytes| bytes > bytes_max);
        match if too_large {
            None
        } else {
            collect(&mut body, bytes_max).await?
        } {
            Some(bytes) => Ok(bytes),
            None => {
                drain(&mut body).await;
                Err(Refusal::BodyTooLarge(bytes_max))
            }
        }
    };
    tokio::time::timeout(time_max, read)
        .await
        .map_err(|_| Refusal::BodyTimeout)?
}

fn declared_bytes(headers: &HeaderMap) -> Option<usize> {
    // A number beyond usize is certainly too large.
    headers
        .get(CONTENT_LENGTH)?
        .to_str()
        .ok()
        .map(|text| text.parse().unwrap_or(usize::MAX))
}

/// The body, or none when it is larger than `bytes_max`.
async fn collect(body: &mut Body, bytes_max: usize) -> Result<Option<Bytes>, Refusal> {
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(0);
    let mut bytes = Vec::with_capacity(expected.min(bytes_max));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::BodyBroken)?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > bytes_max {
            return Ok(None);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(Some(bytes.into()))
}

/// Reads on and throws away, as [`DRAIN_BYTES_MAX`] says why.
async fn drain(body: &mut Body) {
    let mut drained_bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        drained_bytes += frame.data_ref().map_or(0, Bytes::len);
        if drained_bytes > DRAIN_BYTES_MAX {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt as _, stream};

    use super::*;

    fn request(chunks: impl stream::Stream<Item = std::io::Result<Bytes>> + Send + 'static) -> Request {
        Request::new(Body::from_stream(chunks))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_or_comes_is_given_up() {
        let silent = request(stream::pending());
        assert!(matches!(read(silent, 10).await, Err(Refusal::BodyTimeout)));
        // Too large already, and then nothing more: throwing away has the same time.
        let stalled = request(stream::iter([Ok(Bytes::from_static(b"abc"))]).chain(stream::pending()));
        assert!(matches!(read(stalled, 2).await, Err(Refusal::BodyTimeout)));
    }

    #[tokio::test]
    async fn a_body_at_the_bound_is_read_whole() {
        let chunks = [
            Ok(Bytes::from_static(b"abc")),
            Ok(Bytes::new()),
            Ok(Bytes::from_static(b"de")),
        ];
        assert_eq!(read(request(stream::iter(chunks)), 5).await.unwrap(), "abcde");
    }
}
