//! All tunnels: how many there are, and their end when the proxy stops.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use runtime::metrics::{self, Alive, Counter, Gauge};
use tokio::task::{AbortHandle, JoinHandle};

use crate::tunnel::Ended;
use crate::upstream::Upstream;

/// Tunnels closed at once while the proxy stops; the pause between two such groups is what spreads the clients' return.
const CLOSED_AT_ONCE: usize = 10;

/// The tunnels of a proxy. Cheap to clone. What it holds is bounded by the listener's own bound on connections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tunnels(Arc<Mutex<Open>>);

#[derive(Debug, Default)]
struct Open {
    /// By number.
    handles: HashMap<u64, Entry>,
    numbers: u64,
}

#[derive(Debug)]
struct Entry {
    server: Arc<Upstream>,
    /// None until the task has begun.
    handle: Option<AbortHandle>,
}

impl Tunnels {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a tunnel to `server` until it ends or is closed by [`Tunnels::close`].
    pub(crate) fn run(&self, server: Arc<Upstream>, tunnel: impl Future<Output = Ended> + Send + 'static) {
        let number = {
            let mut open = self.lock();
            open.numbers += 1;
            let number = open.numbers;
            let server = Arc::clone(&server);
            open.handles.insert(number, Entry { server, handle: None });
            number
        };
        let counted = Counted::new(self.clone(), number, server);
        let task = tokio::spawn(async move {
            // All of it moves in here, and is dropped with the task.
            let mut counted = counted;
            counted.ended = Some(tunnel.await);
        });
        // It may have ended already.
        if let Some(entry) = self.lock().handles.get_mut(&number) {
            entry.handle = Some(task.abort_handle());
        }
    }

    /// Closes all of them, spread over `within`.
    pub(crate) async fn close(&self, within: Duration) {
        self.close_some(within, |_| true).await;
    }

    /// Closes those to `server`, spread over `within`.
    pub(crate) async fn close_of(self, server: Arc<Upstream>, within: Duration) {
        self.close_some(within, |entry| Arc::ptr_eq(&entry.server, &server))
            .await;
    }

    async fn close_some(&self, within: Duration, which: impl Fn(&Entry) -> bool) {
        let handles: Vec<AbortHandle> = {
            let open = self.lock();
            let chosen = open.handles.values().filter(|entry| which(entry));
            chosen.filter_map(|entry| entry.handle.clone()).collect()
        };
        let groups = u32::try_from(handles.len().div_ceil(CLOSED_AT_ONCE)).unwrap_or(u32::MAX);
        let pause = within / groups.max(1);
        for group in handles.chunks(CLOSED_AT_ONCE) {
            group.iter().for_each(AbortHandle::abort);
            tokio::time::sleep(pause).await;
        }
    }

    /// Closes all of them in the background.
    pub(crate) fn close_in_time(&self, within: Duration) -> JoinHandle<()> {
        let tunnels = self.clone();
        tokio::spawn(async move { tunnels.close(within).await })
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.lock().handles.len()
    }
}

/// Counts a tunnel from its beginning to its end, whichever way it ends.
struct Counted {
    tunnels: Tunnels,
    number: u64,
    server: Arc<Upstream>,
    /// None when it was closed from outside.
    ended: Option<Ended>,
    _alive: Alive,
}

impl Counted {
    fn new(tunnels: Tunnels, number: u64, server: Arc<Upstream>) -> Self {
        server.metrics().tunnel_began();
        Self {
            tunnels,
            number,
            server,
            ended: None,
            _alive: Alive::new(Gauge::ProxyTunnels),
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.server.metrics().tunnel_ended();
        metrics::inc(match self.ended {
            Some(Ended::Closed) => Counter::ProxyTunnelsClosedTotal,
            Some(Ended::Broken) => Counter::ProxyTunnelsBrokenTotal,
            Some(Ended::Silent) => Counter::ProxyTunnelsSilentTotal,
            None if self.server.is_silent() => Counter::ProxyTunnelsGivenUpTotal,
            None => Counter::ProxyTunnelsDrainedTotal,
        });
        self.tunnels.lock().handles.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;
    use crate::members::{Kind, Member};

    fn server() -> Arc<Upstream> {
        Arc::new(Upstream::new(Kind::Games, Member::of("game-0=10.0.0.7:1")))
    }

    #[tokio::test(start_paused = true)]
    async fn all_are_closed_in_time_and_nothing_of_them_is_kept() {
        let (tunnels, server) = (Tunnels::default(), server());
        for _ in 0..25 {
            tunnels.run(Arc::clone(&server), pending());
            tunnels.run(Arc::clone(&server), ready(Ended::Closed));
        }
        while tunnels.len() > 25 {
            tokio::task::yield_now().await;
        }
        tunnels.run(Arc::clone(&server), pending());
        let begun = tokio::time::Instant::now();
        tunnels.close(Duration::from_secs(3)).await;
        assert_eq!(begun.elapsed(), Duration::from_secs(3));
        while tunnels.len() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(Arc::strong_count(&server), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn those_of_one_server_are_closed_and_no_others() {
        let (tunnels, gone, well) = (Tunnels::default(), server(), server());
        for _ in 0..15 {
            tunnels.run(Arc::clone(&gone), pending());
            tunnels.run(Arc::clone(&well), pending());
        }
        tunnels.clone().close_of(gone, Duration::from_millis(500)).await;
        while tunnels.len() > 15 {
            tokio::task::yield_now().await;
        }
        let left = |server: &Arc<Upstream>| {
            let open = tunnels.lock();
            open.handles
                .values()
                .filter(|entry| Arc::ptr_eq(&entry.server, server))
                .count()
        };
        assert_eq!(left(&well), 15);
    }
}
