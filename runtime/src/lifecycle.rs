//! Stopping: one signal asks for a graceful stop, a second one is answered at the next chance to leave cleanly.

use tokio::sync::watch;

/// Tells tasks that the process is stopping. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Shutdown {
    asked: watch::Receiver<bool>,
}

/// The other end of a [`Shutdown`].
#[derive(Debug)]
pub struct ShutdownTrigger {
    ask: watch::Sender<bool>,
}

impl ShutdownTrigger {
    /// Asks everybody to stop.
    pub fn trigger(&self) {
        self.ask.send_replace(true);
    }
}

impl Shutdown {
    /// A pair for code that decides itself when to stop (tests, tools).
    #[must_use]
    pub fn channel() -> (ShutdownTrigger, Shutdown) {
        let (ask, asked) = watch::channel(false);
        (ShutdownTrigger { ask }, Shutdown { asked })
    }

    /// Whether a stop has been asked for.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        *self.asked.borrow()
    }

    /// Waits until a stop is asked for. A dropped trigger counts as asking: nobody is left who could.
    pub async fn asked(&mut self) {
        let _asked_or_dropped = self.asked.wait_for(|asked| *asked).await;
    }

    /// Waits until a stop is asked for once more, after [`Shutdown::asked`] has returned.
    pub async fn asked_again(&mut self) {
        let _asked_or_dropped = self.asked.changed().await;
    }

    /// Asks for a stop at SIGTERM or SIGINT.
    ///
    /// # Errors
    /// When the signal handlers cannot be installed.
    pub fn on_signals() -> std::io::Result<Shutdown> {
        use tokio::signal::unix::{SignalKind, signal};
        let (trigger, shutdown) = Self::channel();
        let (mut terminate, mut interrupt) =
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = terminate.recv() => tracing::info!("SIGTERM: stopping"),
                    _ = interrupt.recv() => tracing::info!("interrupted: stopping"),
                }
                trigger.trigger();
            }
        });
        Ok(shutdown)
    }
}
