//! Connections to one server that wait for their next request.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use hyper::client::conn::http1::SendRequest;
use tokio::time::Instant;

/// Connections kept for one server: more than an API serves at once.
const KEPT_MAX: usize = 64;
/// How long one is kept: half of what our servers wait for the next request, so that they close it first almost never.
const KEPT_FOR: Duration = Duration::from_secs(15);

/// The connections, the one used last on top.
#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<Kept>>);

struct Kept {
    sender: SendRequest<Body>,
    since: Instant,
}

impl Pool {
    /// One that is still open, as far as is known here.
    pub(super) fn take(&self) -> Option<SendRequest<Body>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(Kept { sender, since }) = kept.pop() {
            if since.elapsed() >= KEPT_FOR {
                // Those below are older.
                kept.clear();
            } else if sender.is_ready() {
                return Some(sender);
            }
        }
        None
    }

    pub(super) fn keep(&self, sender: SendRequest<Body>) {
        if sender.is_closed() {
            return;
        }
        let since = Instant::now();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX {
            kept.retain(|old| since.duration_since(old.since) < KEPT_FOR && !old.sender.is_closed());
        }
        if kept.len() < KEPT_MAX {
            kept.push(Kept { sender, since });
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pool(..)")
    }
}
