//! Answers on HTTP/2 streams that their clients do not take. A client's flow control stops one stream while the connection
//! lives on, so the time limit on writes of the connection never sees it.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::time::Instant;

use super::stream::WRITE_STALL_MAX;
use crate::metrics::{self, Counter};

/// Bytes handed out at once: a frame of HTTP/2.
const PART_BYTES: usize = 16 * 1024;

tokio::task_local! {
    /// The stream whose task this is.
    static FLOW: Arc<Flow>;
}

/// Since when a part of an answer waits for its client; none while the answer itself is being waited for.
#[derive(Debug, Default)]
struct Flow(Mutex<Option<Instant>>);

impl Flow {
    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ready when the client has taken nothing for [`WRITE_STALL_MAX`].
    async fn stalled(&self) {
        loop {
            let waited = self.lock().map_or(Duration::ZERO, |since| since.elapsed());
            let Some(left) = WRITE_STALL_MAX.checked_sub(waited).filter(|left| !left.is_zero()) else {
                return;
            };
            tokio::time::sleep(left).await;
        }
    }
}

/// The streams of one connection: runs each as a task, counts them, and ends those that stand still.
#[derive(Debug, Clone, Default)]
pub(super) struct Streams(Arc<Counted>);

#[derive(Debug, Default)]
struct Counted {
    open: AtomicUsize,
    begun: AtomicU64,
}

/// Counts one stream while its task lives.
struct Open(Streams);

impl Open {
    fn new(streams: &Streams) -> Self {
        streams.0.open.fetch_add(1, Ordering::Relaxed);
        streams.0.begun.fetch_add(1, Ordering::Relaxed);
        Self(streams.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Streams {
    /// Ready when there was no stream for `idle_max` to twice that.
    pub(super) async fn unused_for(&self, idle_max: Duration) {
        let mut before = None;
        loop {
            let begun = self.0.begun.load(Ordering::Relaxed);
            let is_open = self.0.open.load(Ordering::Relaxed) > 0;
            if !is_open && before == Some(begun) {
                return;
            }
            before = (!is_open).then_some(begun);
            tokio::time::sleep(idle_max).await;
        }
    }
}

impl<F> hyper::rt::Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let open = Open::new(self);
        tokio::spawn(async move {
            let flow = Arc::new(Flow::default());
            tokio::select! {
                () = FLOW.scope(Arc::clone(&flow), stream) => {}
                // Dropped, the stream is reset.
                () = flow.stalled() => metrics::inc(Counter::Http2StreamsStalledTotal),
            }
            drop(open);
        });
    }
}

/// An answer's body that tells its stream whom it waits for. Outside of a stream's task nobody is told.
pub(super) fn watched(body: Body) -> Body {
    match FLOW.try_with(Arc::clone) {
        Ok(flow) => {
            *flow.lock() = Some(Instant::now());
            Body::new(Watched {
                body,
                rest: Bytes::new(),
                flow,
            })
        }
        Err(_) => body,
    }
}

struct Watched {
    body: Body,
    /// Of a part that was too long to be handed out at once: h2 takes whatever it is given, wanted or not.
    rest: Bytes,
    flow: Arc<Flow>,
}

impl hyper::body::Body for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // Asked for more, so what there was has been taken.
        *self.flow.lock() = None;
        if self.rest.is_empty() {
            let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
            *self.flow.lock() = Some(Instant::now());
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        *self.flow.lock() = Some(Instant::now());
        let part = self.rest.len().min(PART_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        let mut hint = self.body.size_hint();
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint.set_lower(hint.lower().saturating_add(rest));
        hint
    }
}
