//! The process's limit on file descriptors: raised at the start, so that admission and not the kernel says "full".

/// Descriptors kept for everything that is no client connection: database, log, listeners, timers.
pub const RESERVE: usize = 256;

/// Raises the soft limit to the hard one and returns how many client connections fit below it, [`RESERVE`] kept back.
#[must_use]
pub fn client_capacity() -> usize {
    let wanted = rlimit::Resource::NOFILE.get_hard().unwrap_or(1_024);
    let limit = rlimit::increase_nofile_limit(wanted).unwrap_or(1_024);
    usize::try_from(limit)
        .unwrap_or(usize::MAX)
        .saturating_sub(RESERVE)
}
