//! The body of a server's answer, which gives the connection back when it has come to its end, and ends with an error when
//! nothing more comes.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::Response;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use hyper::client::conn::http1::SendRequest;
use runtime::metrics::{self, Counter};
use thiserror::Error;
use tokio::time::Sleep;

use super::Load;

/// How long a server may send nothing of an answer that it has begun: as long as a client may take nothing of it.
const STALL_MAX: Duration = Duration::from_secs(30);

/// Why an answer is cut off.
#[derive(Debug, Error)]
pub(super) enum CutOff {
    /// Its connection broke, or it is not framed as it should be.
    #[error("the server broke off its answer")]
    Broken(#[source] hyper::Error),
    /// Nothing came for [`STALL_MAX`].
    #[error("the server sends nothing more of its answer")]
    Stalled,
}

/// An answer whose connection and load last until its end.
pub(super) fn leased(response: Response<Incoming>, sender: SendRequest<Body>, load: Load) -> Response<Body> {
    response.map(|body| {
        let mut leased = Leased {
            body,
            lease: Some((sender, load)),
            stalled: None,
        };
        leased.give_back_at_end();
        Body::new(leased)
    })
}

/// An answer whose connection nobody else will use, with the same bound on its standing still.
pub(crate) fn bounded(response: Response<Incoming>) -> Response<Body> {
    response.map(|body| {
        Body::new(Leased {
            body,
            lease: None,
            stalled: None,
        })
    })
}

struct Leased {
    body: Incoming,
    /// None once the answer has ended. Dropped before, it closes the connection, on which nothing else could follow.
    lease: Option<(SendRequest<Body>, Load)>,
    /// Runs while the server is being waited for; on the heap, as most answers come in one piece.
    stalled: Option<Pin<Box<Sleep>>>,
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

    fn cut_off(&mut self, why: CutOff) -> Option<Result<Frame<Bytes>, CutOff>> {
        metrics::inc(match why {
            CutOff::Broken(_) => Counter::ProxyAnswersBrokenTotal,
            CutOff::Stalled => Counter::ProxyAnswersStalledTotal,
        });
        self.lease = None;
        Some(Err(why))
    }
}

impl hyper::body::Body for Leased {
    type Data = Bytes;
    type Error = CutOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, CutOff>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
            let stalled = self
                .stalled
                .get_or_insert_with(|| Box::pin(tokio::time::sleep(STALL_MAX)));
            return stalled.as_mut().poll(cx).map(|()| self.cut_off(CutOff::Stalled));
        };
        self.stalled = None;
        Poll::Ready(match frame {
            Some(Ok(frame)) => {
                self.give_back_at_end();
                Some(Ok(frame))
            }
            Some(Err(error)) => self.cut_off(CutOff::Broken(error)),
            None => {
                self.give_back();
                None
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
