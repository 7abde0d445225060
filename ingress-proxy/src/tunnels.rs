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
    /// By number; none until the task has begun.
    handles: HashMap<u64, Option<AbortHandle>>,
    numbers: u64,
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
            open.handles.insert(number, None);
            number
        };
        let counted = Counted::new(self.clone(), number, server);
        let task = tokio::spawn(async move {
            // All of it moves in here, and is dropped with the task.
            let mut counted = counted;
            counted.ended = Some(tunnel.await);
        });
        // It may have ended already.
        if let Some(handle) = self.lock().handles.get_mut(&number) {
            *handle = Some(task.abort_handle());
        }
    }

    /// Closes all of them, spread over `within`.
    pub(crate) async fn close(&self, within: Duration) {
        let handles: Vec<AbortHandle> = self.lock().handles.values().flatten().cloned().collect();
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
}
