//! The share that requests of HTTP/2 have of the process's descriptors. Each needs a connection to a server, and one connection of a
//! client may bring dozens of them; without a bound a few clients could take what everybody else's sockets need.
//!
//! For every client's connection one to a server is counted, so one request of each goes on in any case, as with HTTP/1.1. All further ones
//! share some that are kept for them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::Response;
use hyper::body::{Frame, SizeHint};
use runtime::http::Lane;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::refusal::Refusal;

/// How long a request waits for a place: as long as for its answer.
const WAIT_MAX: Duration = super::ANSWER_MAX;

/// How many there may be at once, and how many there are.
#[derive(Debug)]
pub(super) struct Share(Arc<Semaphore>);

impl Share {
    pub(super) fn new(requests_max: usize) -> Self {
        Self(Arc::new(Semaphore::new(requests_max.min(Semaphore::MAX_PERMITS))))
    }

    /// Room for one request of a connection: its own, or one of the shared.
    ///
    /// # Errors
    /// There was none in time.
    pub(super) async fn take(&self, lane: &Lane) -> Result<OwnedSemaphorePermit, Refusal> {
        let either = async {
            tokio::select! {
                biased;
                own = lane.turn() => own,
                shared = Arc::clone(&self.0).acquire_owned() => shared.ok(),
            }
        };
        let taken = tokio::time::timeout(WAIT_MAX, either).await;
        taken.ok().flatten().ok_or(Refusal::Busy)
    }
}

/// An answer that needs its place until it has come to its end.
pub(super) fn held(response: Response<Body>, place: OwnedSemaphorePermit) -> Response<Body> {
    response.map(|body| Body::new(Held { body, _place: place }))
}

struct Held {
    body: Body,
    _place: OwnedSemaphorePermit,
}

impl hyper::body::Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
