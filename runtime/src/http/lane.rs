//! What every connection of HTTP/2 has for itself: the turn of one of its requests.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// In the extensions of requests that came by HTTP/2: the same for all of one connection. Who bounds what requests may use has here one
/// place for each connection, as one of HTTP/1.1 has by itself.
#[derive(Debug, Clone)]
pub struct Lane(Arc<Semaphore>);

impl Lane {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }

    /// Waits until no other request of the connection has the turn; it lasts until the permit is dropped.
    pub async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        // It is never closed.
        Arc::clone(&self.0).acquire_owned().await.ok()
    }
}
