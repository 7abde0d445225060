//! Ctrl-c and SIGTERM: both are turned into a request to stop, so that whatever was started is stopped in its turn.

use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{SigSet, Signal};

static STOP_REQUESTED: AtomicBool = AtomicBool::new(false);

fn both() -> SigSet {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGINT);
    signals.add(Signal::SIGTERM);
    signals
}

/// Keeps the signals from ending this process; from now on [`stop_requested`] tells of them. To be called while there
/// is one thread, so that every later one has them blocked, too. Children start with nothing blocked.
///
/// # Errors
/// The signals cannot be blocked, or the thread that waits for them cannot be started.
pub fn take_over() -> std::io::Result<()> {
    let signals = both();
    signals.thread_block()?;
    let wait = move || {
        if signals.wait().is_ok() {
            STOP_REQUESTED.store(true, Ordering::Relaxed);
        }
        // A second signal finds the default action again, for whoever does not want to wait.
        let _outcome = signals.thread_unblock();
        loop {
            std::thread::park();
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait)?;
    Ok(())
}

/// Whether somebody asked this process to stop.
#[must_use]
pub fn stop_requested() -> bool {
    STOP_REQUESTED.load(Ordering::Relaxed)
}
