//! Ctrl-c and SIGTERM: both are turned into a request to stop, so that whatever was started is stopped in its turn.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

static STOP_REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Keeps the first signal from ending this process; from now on [`stop_requested`] tells of it. A second one ends the
/// process, for whoever does not want to wait. Handled, and not blocked: children would inherit a block and never stop.
///
/// # Errors
/// The handlers cannot be installed.
pub fn take_over() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        // In this order: the second signal finds the flag that the first has set.
        flag::register_conditional_default(signal, Arc::clone(&STOP_REQUESTED))?;
        flag::register(signal, Arc::clone(&STOP_REQUESTED))?;
    }
    Ok(())
}

/// Whether somebody asked this process to stop.
#[must_use]
pub fn stop_requested() -> bool {
    STOP_REQUESTED.load(Ordering::Relaxed)
}
