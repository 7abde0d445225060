//! What the harness reads from the machine: the clock, `/proc`, the hardware, a store's own figures. Interpreting it is left to
//! [`crate::report`].

pub mod clock;
pub mod cpu;
pub mod end;
pub mod hardware;
pub mod limits;
pub mod namespace;
pub mod postgres;
pub mod process;
pub mod redis;
pub mod signals;
pub mod strangers;

/// An index from a 32-bit number; every machine this runs on has at least 32-bit addresses.
#[must_use]
pub fn index(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// A count as 64 bits; no machine has more.
#[must_use]
pub fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// A count as 32 bits, saturated: the harness never holds four billion of anything.
#[must_use]
pub fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// A count as a real number, for ratios; exact up to 2^53.
#[must_use]
pub fn real(n: u64) -> f64 {
    n as f64
}
