//! Readiness: whether new clients should be sent here. Not while starting or stopping, and not while the database is gone;
//! never because there is much to do, since the others have as much.

use std::sync::Arc;
use std::time::Duration;

use api::Store;
use runtime::admin::Health;
use runtime::lifecycle::Shutdown;
use runtime::metrics::{Gauge, set};
use tokio::time::Instant;

/// How often the database is asked.
const EVERY: Duration = Duration::from_secs(1);
/// How long the database may be gone before this process says so. A failover that is faster than that costs a few answers, and
/// all processes out of service at once would cost more.
const GONE_MAX: Duration = Duration::from_secs(3);

/// Keeps `health` ready while the database answers, until a stop is asked for.
pub(crate) async fn database(store: Arc<dyn Store>, health: Health, mut shutdown: Shutdown) {
    tokio::select! {
        () = shutdown.asked() => {}
        () = watch(store.as_ref(), &health) => {}
    }
    health.set_ready(false);
}

async fn watch(store: &dyn Store, health: &Health) {
    let mut answered = Instant::now();
    let mut due = tokio::time::interval(EVERY);
    due.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        due.tick().await;
        let answer = store.answers().await;
        set(Gauge::ApiDatabaseAnswers, if answer.is_ok() { 1.0 } else { 0.0 });
        match answer {
            Ok(()) => {
                answered = Instant::now();
                if !health.is_ready() {
                    health.set_ready(true);
                    tracing::info!("the database answers");
                }
            }
            Err(error) if health.is_ready() && answered.elapsed() >= GONE_MAX => {
                health.set_ready(false);
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the database is gone; not ready"
                );
            }
            Err(error) => tracing::debug!(
                error = &error as &dyn std::error::Error,
                "the database does not answer"
            ),
        }
    }
}
