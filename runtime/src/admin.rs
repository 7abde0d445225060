//! The admin listener: liveness, readiness, metrics; on a thread and a runtime of its own, so that nothing it says
//! waits behind a request.
//!
//! `/live` fails only when the main runtime has run nothing for [`STALL`]; `/ready` says whether new clients should be
//! sent here; `/metrics` is the Prometheus page.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use http::StatusCode;
use metrics_exporter_prometheus::PrometheusHandle;
use thiserror::Error;

use crate::metrics::{self, Histogram};

/// Without progress for this long, the main runtime is stuck for good and a restart is the only help.
pub const STALL: Duration = Duration::from_secs(30);
/// How often the main runtime shows that it runs.
const BEAT: Duration = Duration::from_secs(1);

/// What a process tells its supervisor. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Health {
    started: Instant,
    beat_ms: Arc<AtomicU64>,
    ready: Arc<AtomicBool>,
}

impl Health {
    /// Starts the heartbeat on the current runtime. Not ready until [`Health::set_ready`].
    #[must_use]
    pub fn start() -> Self {
        let health = Self {
            started: Instant::now(),
            beat_ms: Arc::default(),
            ready: Arc::default(),
        };
        let beating = health.clone();
        tokio::spawn(async move {
            let mut due = tokio::time::Instant::now();
            loop {
                due += BEAT;
                tokio::time::sleep_until(due).await;
                metrics::record(Histogram::RuntimeLagSeconds, due.elapsed());
                beating.beat_ms.store(beating.elapsed_ms(), Ordering::Relaxed);
            }
        });
        health
    }

    /// Says whether new clients should be sent here.
    pub fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Relaxed);
    }

    /// Whether new clients should be sent here.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    /// Whether the main runtime has run within [`STALL`].
    #[must_use]
    pub fn is_live(&self) -> bool {
        let silent_ms = self
            .elapsed_ms()
            .saturating_sub(self.beat_ms.load(Ordering::Relaxed));
        Duration::from_millis(silent_ms) < STALL
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Why a process cannot be watched.
#[derive(Debug, Error)]
pub enum AdminError {
    /// Another recorder was installed in this process.
    #[error("install the metrics")]
    Metrics(#[source] metrics_exporter_prometheus::BuildError),
    /// The address cannot be bound.
    #[error("listen on {address} (--admin-listen)")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

/// Starts counting and the heartbeat, and serves the admin listener when there is an address for it. Not ready until
/// [`Health::set_ready`].
///
/// # Errors
/// When the address cannot be bound, or another recorder was installed in this process.
pub fn start(address: Option<SocketAddr>) -> Result<Health, AdminError> {
    start_with(address, Router::new())
}

/// As [`start`], with routes of the process's own beside the three. Their handlers run on the admin listener's runtime and must not
/// wait for the main one for long.
///
/// # Errors
/// As [`start`].
pub fn start_with(address: Option<SocketAddr>, more: Router) -> Result<Health, AdminError> {
    let exporter = metrics::install().map_err(AdminError::Metrics)?;
    let health = Health::start();
    if let Some(address) = address {
        let bound = serve(address, more.merge(router(health.clone(), exporter)))
            .map_err(|source| AdminError::Bind { address, source })?;
        tracing::info!(%bound, "admin listener");
    }
    Ok(health)
}

/// Binds `address` and serves it from a thread of its own until the process ends. Returns the bound address.
///
/// # Errors
/// When the address cannot be bound or the thread cannot be started.
fn serve(address: SocketAddr, router: Router) -> std::io::Result<SocketAddr> {
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    std::thread::Builder::new()
        .name("admin".to_owned())
        .spawn(move || {
            runtime.block_on(async move {
                let served = match tokio::net::TcpListener::from_std(listener) {
                    Ok(listener) => axum::serve(listener, router).await,
                    Err(error) => Err(error),
                };
                if let Err(error) = served {
                    tracing::error!(%error, "the admin listener stopped");
                }
            });
        })?;
    Ok(bound)
}

fn router(health: Health, exporter: PrometheusHandle) -> Router {
    let verdict = |good: bool, yes: &'static str, no: &'static str| {
        if good {
            (StatusCode::OK, yes)
        } else {
            (StatusCode::SERVICE_UNAVAILABLE, no)
        }
    };
    Router::new()
        .route(
            "/live",
            get(move |State(h): State<Health>| async move { verdict(h.is_live(), "live\n", "stalled\n") }),
        )
        .route(
            "/ready",
            get(
                move |State(h): State<Health>| async move { verdict(h.is_ready(), "ready\n", "not ready\n") },
            ),
        )
        .route("/metrics", get(move || async move { exporter.render() }))
        .with_state(health)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn liveness_needs_only_progress_and_readiness_is_said() {
        let health = Health::start();
        assert!(health.is_live() && !health.is_ready());
        health.set_ready(true);
        assert!(health.is_ready());
    }

    #[test]
    fn a_runtime_without_progress_is_not_live() {
        let started = Instant::now().checked_sub(STALL).unwrap();
        let health = Health {
            started,
            beat_ms: Arc::default(),
            ready: Arc::default(),
        };
        assert!(!health.is_live());
        // Shown to run 20 s ago, however slow this test is.
        health.beat_ms.store(10_000, Ordering::Relaxed);
        assert!(health.is_live());
    }
}
