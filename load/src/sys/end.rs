//! Waiting for the end of a process without asking for it again and again.

use std::os::fd::OwnedFd;
use std::process::Child;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::clock;

/// Pause of one that cannot be told of the end, in milliseconds.
const BLIND_MS: u64 = 20;

/// The end of a child, which the kernel tells.
#[derive(Debug)]
pub struct End(Option<OwnedFd>);

impl End {
    /// Of `child`. A kernel older than 5.3 cannot tell it; then every wait is 20 ms.
    #[must_use]
    pub fn of(child: &Child) -> Self {
        Self(pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok())
    }

    /// Waits until the child has ended, for `ms` milliseconds at most.
    pub fn wait_ms(&self, ms: u64) {
        let Some(end) = &self.0 else {
            return clock::pause_ms(ms.min(BLIND_MS));
        };
        let limit = Timespec {
            tv_sec: i64::try_from(ms / 1_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(ms % 1_000 * 1_000_000).unwrap_or_default(),
        };
        if poll(&mut [PollFd::new(end, PollFlags::IN)], Some(&limit)).is_err() {
            // Interrupted, or out of memory: whoever waits looks again.
            clock::pause_ms(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_end_of_a_process_ends_the_wait() {
        let mut child = Command::new("true").spawn().expect("starts");
        let before = clock::now();
        End::of(&child).wait_ms(60_000);
        assert!(clock::now().since(before) < 30_000_000, "waited for its end");
        child.wait().expect("reaped");
    }

    #[test]
    fn a_process_that_lives_is_waited_for_as_long_as_was_asked() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("starts");
        let before = clock::now();
        End::of(&child).wait_ms(30);
        assert!(clock::now().since(before) >= 30_000, "not before");
        child.kill().expect("killed");
        child.wait().expect("reaped");
    }
}
