//! Which version of snapshots a server writes: the newest that every server with a lease reads, so that any of them can take its games
//! over while a new release replaces the one before.

use std::sync::atomic::{AtomicU8, Ordering};

/// Newest version that is written, and read.
pub(crate) const NEWEST: u8 = 1;
/// Oldest version that is still written: what the previous release reads.
pub(crate) const OLDEST: u8 = 1;

/// The version that is written at the moment.
#[derive(Debug)]
pub(crate) struct WriteVersion(AtomicU8);

impl Default for WriteVersion {
    /// That of a server that is alone.
    fn default() -> Self {
        Self(AtomicU8::new(NEWEST))
    }
}

impl WriteVersion {
    /// Always this version.
    #[cfg(test)]
    pub(crate) fn fixed(version: u8) -> Self {
        Self(AtomicU8::new(version))
    }

    /// The version to write.
    pub(crate) fn get(&self) -> u8 {
        self.0.load(Ordering::Acquire)
    }

    /// Takes what every server with a lease reads.
    pub(crate) fn agree(&self, reads: impl Iterator<Item = u8>) {
        let common = reads.min().unwrap_or(NEWEST);
        let version = version(common, OLDEST, NEWEST);
        if self.0.swap(version, Ordering::AcqRel) != version {
            tracing::info!(
                version,
                "snapshots are written in another version, which all servers read"
            );
        }
        if common < version {
            tracing::error!(
                common,
                version,
                "a server of an old release has a lease; it cannot take games over from this one"
            );
        }
    }
}

/// What to write when all read up to `common`.
fn version(common: u8, oldest: u8, newest: u8) -> u8 {
    common.clamp(oldest, newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_read_is_written_as_far_as_it_is_known() {
        for (common, expected) in [(1, 2), (2, 2), (3, 3), (4, 4), (9, 4)] {
            assert_eq!(version(common, 2, 4), expected, "{common}");
        }
    }

    #[test]
    fn who_is_alone_writes_the_newest_and_comes_back_to_it() {
        let writes = WriteVersion::fixed(0);
        writes.agree([NEWEST + 1, NEWEST].into_iter());
        assert_eq!(writes.get(), NEWEST);
        writes.agree(std::iter::empty());
        assert_eq!(writes.get(), NEWEST);
        writes.agree([0].into_iter());
        assert_eq!(writes.get(), OLDEST);
    }
}
