//! A request's body that is read to its end even when nobody wants it, within bounds.
//!
//! A refusal is often sent before the body has come: no token, no such address, too large. Closing the connection then would
//! reset it under the client's hands, and a browser that is still sending shows a network error instead of the refusal. So
//! what is left of a dropped body is read and thrown away in the background.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};

/// Bytes thrown away of one body: more than any upload by mistake has.
const DRAIN_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Time to throw away in: a slow line's upload of a few MiB. Whoever takes longer sees a reset.
const DRAIN_MAX: Duration = Duration::from_secs(30);

/// The body of a request, for its handler.
pub(super) fn drained(body: Incoming, asks_first: bool) -> axum::body::Body {
    // A client that waits for leave to send (`Expect: 100-continue`) would be given it by reading.
    if asks_first || body.is_end_stream() {
        axum::body::Body::new(body)
    } else {
        axum::body::Body::new(Drained(Some(body)))
    }
}

/// None once it has been dropped.
struct Drained(Option<Incoming>);

impl Body for Drained {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.0 {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(SizeHint::new, Body::size_hint)
    }
}

impl Drop for Drained {
    fn drop(&mut self) {
        let left = self.0.take().filter(|body| !body.is_end_stream());
        // Without a runtime the connection is gone as well.
        if let (Some(body), Ok(runtime)) = (left, tokio::runtime::Handle::try_current()) {
            runtime.spawn(drain(body));
        }
    }
}

async fn drain(mut body: Incoming) {
    let reading = async {
        let mut drained_bytes = 0;
        while let Some(Ok(frame)) = body.frame().await {
            drained_bytes += frame.data_ref().map_or(0, Bytes::len);
            if drained_bytes > DRAIN_BYTES_MAX {
                return;
            }
        }
    };
    // Too slow, too much or broken: the connection closes, as it would have without trying.
    let _given_up = tokio::time::timeout(DRAIN_MAX, reading).await;
}
