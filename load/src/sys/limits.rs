//! Descriptors: how many this process may open, checked before a run rather than found out in the middle of it.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Descriptors kept for files, pipes, the poller and HTTP calls beside the players' sockets.
const RESERVE: u64 = 64;

/// Raises the soft limit towards the hard one when `sockets` need it.
///
/// # Errors
/// One sentence when even the hard limit does not hold so many.
pub fn ensure_descriptors(sockets: u64) -> Result<(), String> {
    let needed = sockets.saturating_add(RESERVE);
    let (soft, hard) =
        getrlimit(Resource::RLIMIT_NOFILE).map_err(|e| format!("descriptor limit unreadable: {e}"))?;
    if soft >= needed {
        return Ok(());
    }
    if hard < needed {
        return Err(format!(
            "{sockets} sockets need {needed} descriptors; this process may open {hard} (ulimit -Hn)"
        ));
    }
    setrlimit(Resource::RLIMIT_NOFILE, needed, hard)
        .map_err(|e| format!("descriptor limit not raised to {needed}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_sockets_fit_and_an_absurd_number_does_not() {
        assert_eq!(ensure_descriptors(10), Ok(()));
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("limit");
        if hard < u64::MAX / 2 {
            assert!(ensure_descriptors(hard).is_err());
        }
    }
}
