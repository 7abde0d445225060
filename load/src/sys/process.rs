//! Memory, CPU and descriptors of a process, from `/proc`.

use std::fs;
use std::io;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

/// Clock ticks a second in `/proc/PID/stat`; Linux shows 100 to user space on every architecture.
const TICKS_PER_S: u64 = 100;

/// What a process uses right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Resident memory, in KiB.
    pub rss_kib: u64,
    /// CPU used so far by all its threads, ended ones included, in microseconds; steps of 10 ms.
    pub cpu_us: u64,
    /// Open descriptors.
    pub descriptors: u64,
}

/// Reads what process `pid` uses.
///
/// # Errors
/// The process is gone, belongs to somebody else, or `/proc` has no such file.
pub fn usage(pid: u32) -> io::Result<Usage> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let descriptors = descriptors(&format!("/proc/{pid}/fd"))?;
    let missing = |what| io::Error::new(io::ErrorKind::InvalidData, format!("/proc/{pid} has no {what}"));
    Ok(Usage {
        rss_kib: rss_kib(&status).ok_or_else(|| missing("VmRSS"))?,
        cpu_us: cpu_us(&stat).ok_or_else(|| missing("CPU time"))?,
        descriptors,
    })
}

/// Reads what this process uses.
///
/// # Errors
/// As [`usage`].
pub fn own_usage() -> io::Result<Usage> {
    usage(std::process::id())
}

/// CPU used so far by all threads of this process, in microseconds, finer than in [`own_usage`].
#[must_use]
pub fn own_cpu_us() -> u64 {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else {
        return 0;
    };
    let micros = |time: TimeVal| u64::try_from(time.num_microseconds()).unwrap_or(0);
    micros(usage.user_time()) + micros(usage.system_time())
}

/// Open descriptors. Kernels since 6.2 tell their number as the directory's size; listing ten thousand of them every second
/// would be a tenth of all that a generator does.
fn descriptors(directory: &str) -> io::Result<u64> {
    match fs::metadata(directory)?.len() {
        0 => Ok(super::count(fs::read_dir(directory)?.count())),
        told => Ok(told),
    }
}

fn rss_kib(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The command name may hold spaces and parentheses; fields are counted after its last closing one.
fn cpu_us(stat: &str) -> Option<u64> {
    let (_, after) = stat.rsplit_once(')')?;
    let mut fields = after.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((user + system) * 1_000_000 / TICKS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_usage_is_plausible() {
        let usage = own_usage().expect("own /proc entry");
        assert!(usage.rss_kib > 500 && usage.descriptors >= 3, "{usage:?}");
    }

    #[test]
    fn a_command_name_with_parentheses_is_skipped() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194304 100 0 0 0 12 30 0 0 20 0 1 0 5 0 0";
        assert_eq!(cpu_us(stat), Some(420_000));
        assert_eq!(rss_kib("Name:\tx\nVmRSS:\t    5120 kB\n"), Some(5_120));
    }

    #[test]
    fn a_process_that_is_gone_is_an_error() {
        assert!(usage(u32::MAX).is_err());
    }
}
