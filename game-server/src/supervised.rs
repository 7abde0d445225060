//! Tasks that a server cannot do without: one that panics is begun again.
//!
//! A task that died in silence would leave a server that looks well and saves nothing, or holds no lease.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use runtime::metrics::{self, Counter};
use tokio::time::sleep;

/// Pause before a task begins again, so that one that always panics fills no log.
const AGAIN: Duration = Duration::from_secs(1);

/// Runs what `begin` makes to its end, and begins again when it panics. What it leaves half done must be good to go on from.
pub(crate) async fn supervised<F: Future<Output = ()>>(what: &'static str, mut begin: impl FnMut() -> F) {
    while has_panicked(what, begin()).await {}
}

/// Runs a task to its end. True when it panicked, after a pause: it is to begin again.
pub(crate) async fn has_panicked(what: &'static str, task: impl Future<Output = ()>) -> bool {
    let is_well = AssertUnwindSafe(task).catch_unwind().await.is_ok();
    if !is_well {
        metrics::inc(Counter::GameTasksPanickedTotal);
        tracing::error!(what, "a task of this server panicked; it begins again");
        sleep(AGAIN).await;
    }
    !is_well
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_begins_again_until_it_ends() {
        let begun = Cell::new(0);
        supervised("a test", || {
            begun.set(begun.get() + 1);
            let nth = begun.get();
            async move { assert!(nth == 3, "the test says so") }
        })
        .await;
        assert_eq!(begun.get(), 3);
    }
}
