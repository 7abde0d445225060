//! The word that this server stops, for everybody who waits for it. Who waited longest hears it first: a run of the simulation must be
//! the same again, and tokio's `watch` wakes in an order of chance.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Whether the server was asked to stop.
#[derive(Debug, Default)]
pub(crate) struct Stopping {
    is_asked: AtomicBool,
    news: Notify,
}

impl Stopping {
    /// Says it.
    pub(crate) fn ask(&self) {
        self.is_asked.store(true, Ordering::Release);
        self.news.notify_waiters();
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Acquire)
    }

    /// Waits until it is said.
    pub(crate) async fn asked(&self) {
        // Before the look, so that the word does not fall between the two.
        let news = self.news.notified();
        if !self.is_asked() {
            news.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn everybody_hears_it_before_and_after() {
        let stopping = Arc::new(Stopping::default());
        let waits = stopping.asked();
        tokio::pin!(waits);
        assert!(waits.as_mut().now_or_never().is_none() && !stopping.is_asked());
        stopping.ask();
        waits.await;
        stopping.asked().await;
        assert!(stopping.is_asked());
    }
}
