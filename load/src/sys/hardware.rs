//! The machine's fingerprint. It is part of every result; results of unlike machines are not compared.

use std::fmt;
use std::fs;

use serde::{Deserialize, Serialize};

/// What a result was measured on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hardware {
    /// CPU model as the kernel names it.
    pub cpu: String,
    /// Cores this process may run on.
    pub cores: u64,
    /// Memory, in KiB.
    pub memory_kib: u64,
    /// Kernel release.
    pub kernel: String,
    /// Descriptors a process may open once it has asked for them (the hard limit).
    pub descriptors_max: String,
    /// CPU limit of the control group, `max` when there is none, `unknown` when it cannot be read.
    pub cpu_limit: String,
}

impl Hardware {
    /// Reads the fingerprint; what cannot be read says `unknown`.
    #[must_use]
    pub fn read() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self {
            cpu: field(&text("/proc/cpuinfo"), "model name").unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(0, |n| super::count(n.get())),
            memory_kib: field(&text("/proc/meminfo"), "MemTotal")
                .and_then(|v| v.split_whitespace().next().and_then(|n| n.parse().ok()))
                .unwrap_or(0),
            kernel: first_line(&text("/proc/sys/kernel/osrelease")),
            descriptors_max: open_files(&text("/proc/self/limits")).unwrap_or_else(unknown),
            cpu_limit: first_line(&text("/sys/fs/cgroup/cpu.max")),
        }
    }
}

impl fmt::Display for Hardware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cpu,
            cores,
            memory_kib,
            kernel,
            descriptors_max,
            cpu_limit,
        } = self;
        write!(
            f,
            "{cores} cores of {cpu}, {memory_kib} KiB, kernel {kernel}, {descriptors_max} descriptors, CPU limit {cpu_limit}"
        )
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn first_line(text: &str) -> String {
    text.lines()
        .next()
        .filter(|line| !line.is_empty())
        .map_or_else(unknown, str::to_owned)
}

fn field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

fn open_files(limits: &str) -> Option<String> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_this_machine() {
        let hardware = Hardware::read();
        assert!(hardware.cores >= 1 && hardware.memory_kib > 0, "{hardware:?}");
        assert_ne!(hardware.kernel, "unknown");
    }

    #[test]
    fn fields_are_found_by_name() {
        assert_eq!(
            field("a: 1\nmodel name\t: X 3\n", "model name"),
            Some("X 3".to_owned())
        );
        assert_eq!(
            open_files("Max open files            20000     30000   files\n"),
            Some("30000".to_owned())
        );
        assert_eq!(first_line(""), "unknown");
    }
}
