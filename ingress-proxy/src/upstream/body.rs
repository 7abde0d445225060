//! The body of a server's answer, which gives the connection back when it has come to its end.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use bytes::Bytes;
use http::Response;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::SendRequest;

use super::Load;

/// An answer whose connection and load last until its end.
pub(super) fn leased(response: Response<Incoming>, sender: SendRequest<Body>, load: Load) -> Response<Body> {
    response.map(|body| {
        let mut leased = Leased {
            body,
            lease: Some((sender, load)),
        };
        leased.give_back_at_end();
        Body::new(leased)
    })
}

struct Leased {
    body: Incoming,
    /// None once the answer has ended. Dropped before, it closes the connection, on which nothing else could follow.
    lease: Option<(SendRequest<Body>, Load)>,
}

impl Leased {
    fn give_back_at_end(&mut self) {
        if self.body.is_end_stream() {
            self.give_back();
        }
    }

    fn give_back(&mut self) {
        if let Some((sender, load)) = self.lease.take() {
            load.0.pool.keep(sender);
        }
    }
}

impl hyper::body::Body for Leased {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(_)) => self.give_back_at_end(),
            Some(Err(_)) => self.lease = None,
            None => self.give_back(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
