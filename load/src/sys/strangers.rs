//! Who else uses the generator's cores: their busy time, less what the programs that belong to a run have used.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Names, as the kernel has them, of the programs that belong to a run: generators, servers, stores.
const OURS: [&str; 7] = [
    "load",
    "homeroom",
    "game-server",
    "api",
    "ingress-proxy",
    "redis-server",
    "postgres",
];

/// Ticks of the cores that this process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CoreTicks {
    /// All that passed on them.
    pub all: u64,
    /// Those in which a process ran, its own and the kernel's work for it.
    pub busy: u64,
}

impl CoreTicks {
    /// As of now; none where it cannot be read.
    #[must_use]
    pub fn read() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let list = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        core_ticks(&fs::read_to_string("/proc/stat").ok()?, &cores(list))
    }
}

/// Processes that were strangers are read again at every so many looks only: reading a hundred of them every second was a
/// tenth of what a generator does. A shell may become one of ours, so they are not left out for good.
const STRANGERS_EVERY: u64 = 10;

/// CPU used by the programs that belong to a run, by process, in ticks. Kept for those that have ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ours {
    used: BTreeMap<u32, (u64, u64)>,
    strangers: BTreeSet<u32>,
    looks: u64,
}

impl Ours {
    /// Looks at all processes again. A process that was not there before counts from its start.
    pub fn look(&mut self, first: bool) {
        if self.looks.is_multiple_of(STRANGERS_EVERY) {
            self.strangers.clear();
        }
        self.looks += 1;
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
                continue;
            };
            if self.strangers.contains(&pid) {
                continue;
            }
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            if let Some(ticks) = our_ticks(&stat) {
                let (_, last) = self
                    .used
                    .entry(pid)
                    .or_insert((if first { ticks } else { 0 }, ticks));
                *last = ticks.max(*last);
            } else {
                self.strangers.insert(pid);
            }
        }
    }

    /// What they used between the first and the last look.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.used
            .values()
            .map(|(first, last)| last.saturating_sub(*first))
            .sum()
    }
}

/// CPU of a process that belongs to a run, from its `stat`.
fn our_ticks(stat: &str) -> Option<u64> {
    let (head, after) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    if !OURS.contains(&name) {
        return None;
    }
    let mut fields = after.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

/// The cores of a list such as `0-3,8`.
fn cores(list: &str) -> Vec<u32> {
    let range = |part: &str| -> Option<std::ops::RangeInclusive<u32>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

fn core_ticks(stat: &str, cores: &[u32]) -> Option<CoreTicks> {
    let mut sum = CoreTicks::default();
    for core in cores {
        let prefix = format!("cpu{core} ");
        let line = stat.lines().find_map(|line| line.strip_prefix(&prefix))?;
        let ticks: Vec<u64> = line
            .split_whitespace()
            .take(8)
            .map_while(|t| t.parse().ok())
            .collect();
        // User, nice and system; interrupts are the kernel's for everybody and counted for nobody.
        sum.busy += ticks.iter().take(3).sum::<u64>();
        sum.all += ticks.iter().sum::<u64>();
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_cores_that_may_be_used_count() {
        let stat = "cpu  9 9 9 9\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 10 20 30 40 50 60 70 80 0 0\n";
        assert_eq!(
            core_ticks(stat, &cores("1")),
            Some(CoreTicks { all: 360, busy: 60 })
        );
        assert_eq!(
            core_ticks(stat, &cores("\t0-1\n")),
            Some(CoreTicks { all: 396, busy: 66 })
        );
        assert_eq!(core_ticks(stat, &cores("0-2")), None);
        assert_eq!(cores("0-2,5,x"), [0, 1, 2, 5]);
    }

    #[test]
    fn programs_of_a_run_are_known_by_their_name() {
        let stat = |name: &str| format!("7 ({name}) S 1 7 7 0 -1 4194304 100 0 0 0 12 30 0 0 20 0 1 0 5 0 0");
        assert_eq!(our_ticks(&stat("game-server")), Some(42));
        assert_eq!(our_ticks(&stat("game-server (x")), None);
        assert_eq!(our_ticks(""), None);
    }

    #[test]
    fn what_a_stranger_becomes_is_seen_some_looks_later() {
        let own = std::process::id();
        let mut ours = Ours::default();
        for _look in 0..STRANGERS_EVERY {
            ours.look(false);
            assert!(ours.strangers.contains(&own), "this test is no part of a run");
        }
        ours.strangers.insert(u32::MAX);
        ours.look(false);
        assert!(!ours.strangers.contains(&u32::MAX), "looked at anew");
    }

    #[test]
    fn this_machine_can_be_read() {
        let ticks = CoreTicks::read().expect("ticks");
        assert!(ticks.all >= ticks.busy && ticks.busy > 0, "{ticks:?}");
    }
}
