//! Who kept this process from running: the scheduler's counters, its control groups' limits, the hypervisor.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The scheduler's counters of one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turns {
    /// Time it ran, in microseconds.
    pub ran_us: u64,
    /// Time it was ready and waited for a core, in microseconds.
    pub waited_us: u64,
    /// Turns it got.
    pub turns: u64,
}

/// Counters as of one moment; only differences mean something.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    threads: BTreeMap<u32, Turns>,
    /// Periods in which a control group of this process was throttled.
    pub throttled_periods: u64,
    /// The tightest limit of those groups, in cores.
    pub limit_cores: Option<f64>,
    /// Cores this process may run on.
    pub cores: u64,
    /// CPU time of the machine, in ticks.
    pub ticks: u64,
    /// Ticks that the hypervisor gave to somebody else.
    pub stolen_ticks: u64,
    /// What could not be read.
    pub unread: Vec<String>,
}

impl Counters {
    /// Reads them all; what is missing is named in `unread`.
    #[must_use]
    pub fn read() -> Self {
        let mut unread = Vec::new();
        let threads = threads();
        if threads.is_empty() {
            unread.push("the run queue (/proc/self/task/*/schedstat)".to_owned());
        }
        let (throttled_periods, limit_cores) = groups().unwrap_or_else(|| {
            unread.push("CPU throttling (cgroup cpu.stat)".to_owned());
            (0, None)
        });
        let (ticks, stolen_ticks) = machine_ticks(&text("/proc/stat")).unwrap_or_else(|| {
            unread.push("steal (/proc/stat)".to_owned());
            (0, 0)
        });
        Self {
            threads,
            throttled_periods,
            limit_cores,
            cores: std::thread::available_parallelism().map_or(0, |n| super::count(n.get())),
            ticks,
            stolen_ticks,
            unread,
        }
    }

    /// What the thread that ran most since `before` did in that time.
    #[must_use]
    pub fn busiest_since(&self, before: &Self) -> Turns {
        let since = |(id, now): (&u32, &Turns)| {
            let then = before.threads.get(id).copied().unwrap_or_default();
            Turns {
                ran_us: now.ran_us.saturating_sub(then.ran_us),
                waited_us: now.waited_us.saturating_sub(then.waited_us),
                turns: now.turns.saturating_sub(then.turns),
            }
        };
        self.threads
            .iter()
            .map(since)
            .max_by_key(|t| t.ran_us)
            .unwrap_or_default()
    }
}

/// What this thread did so far.
#[must_use]
pub fn own_thread() -> Turns {
    turns(&text("/proc/thread-self/schedstat")).unwrap_or_default()
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn threads() -> BTreeMap<u32, Turns> {
    let entries = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            Some((id, turns(&text(entry.path().join("schedstat")))?))
        })
        .collect()
}

fn turns(schedstat: &str) -> Option<Turns> {
    let mut fields = schedstat.split_whitespace().map(str::parse::<u64>);
    let (ran_ns, waited_ns, turns) = (fields.next()?.ok()?, fields.next()?.ok()?, fields.next()?.ok()?);
    Some(Turns {
        ran_us: ran_ns / 1_000,
        waited_us: waited_ns / 1_000,
        turns,
    })
}

/// Ticks in all and ticks stolen, of the line of all CPUs: user, nice, system, idle, iowait, irq, softirq, steal.
fn machine_ticks(stat: &str) -> Option<(u64, u64)> {
    let fields: Vec<u64> = stat
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .take(8)
        .map_while(|field| field.parse().ok())
        .collect();
    Some((fields.iter().sum(), *fields.get(7)?))
}

/// Throttled periods and the tightest limit over all control groups that this process is in, up to their roots.
fn groups() -> Option<(u64, Option<f64>)> {
    let mut found = None;
    for group in group_directories(&text("/proc/self/cgroup"), &text("/proc/self/mountinfo")) {
        let stat = text(group.join("cpu.stat"));
        let limit = limit_v2(&text(group.join("cpu.max"))).or_else(|| {
            let quota = text(group.join("cpu.cfs_quota_us"));
            limit_v1(&quota, &text(group.join("cpu.cfs_period_us")))
        });
        if stat.is_empty() {
            continue;
        }
        let (periods, tightest) = found.get_or_insert((0, None));
        *periods += field(&stat, "nr_throttled").unwrap_or(0);
        *tightest = match (*tightest, limit) {
            (Some(a), Some(b)) => Some(f64::min(a, b)),
            (a, b) => a.or(b),
        };
    }
    found
}

/// Where the CPU controller's files of this process are, of both versions of control groups: the group and its parents.
fn group_directories(cgroup: &str, mountinfo: &str) -> Vec<PathBuf> {
    let mut directories = Vec::new();
    for line in cgroup.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let unified = controllers.is_empty();
        if !unified && !controllers.split(',').any(|c| c == "cpu") {
            continue;
        }
        let Some((mount, root)) = mount_of(mountinfo, unified) else {
            continue;
        };
        let inside = Path::new(path);
        let inside = inside.strip_prefix(&root).unwrap_or(inside);
        let relative = inside.strip_prefix("/").unwrap_or(inside);
        directories.extend(relative.ancestors().map(|ancestor| mount.join(ancestor)));
    }
    directories
}

/// Mount point and root of the hierarchy that has the CPU controller.
fn mount_of(mountinfo: &str, unified: bool) -> Option<(PathBuf, PathBuf)> {
    mountinfo.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split_whitespace();
        let (kind, options) = (right.next()?, right.nth(1)?);
        let matches = if unified {
            kind == "cgroup2"
        } else {
            kind == "cgroup" && options.split(',').any(|option| option == "cpu")
        };
        let mut left = left.split_whitespace().skip(3);
        let (root, mount) = (left.next()?, left.next()?);
        matches.then(|| (PathBuf::from(mount), PathBuf::from(root)))
    })
}

fn field(text: &str, name: &str) -> Option<u64> {
    let value = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
    text.lines().find_map(value)
}

fn limit_v2(max: &str) -> Option<f64> {
    let (quota, period) = max.trim().split_once(' ')?;
    ratio(quota, period)
}

fn limit_v1(quota: &str, period: &str) -> Option<f64> {
    ratio(quota.trim(), period.trim())
}

/// A quota that is no number above 0 (`max`, -1) is no limit.
fn ratio(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0 && period > 0).then(|| super::real(quota) / super::real(period))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_can_be_read() {
        let before = Counters::read();
        let spun = (0..2_000_000u64).fold(0, |sum: u64, n| std::hint::black_box(sum ^ n));
        let after = Counters::read();
        assert!(spun < u64::MAX);
        assert!(after.busiest_since(&before).ran_us > 0, "{after:?}");
        assert!(after.ticks >= before.ticks && after.cores > 0, "{after:?}");
    }

    #[test]
    fn counters_are_read_from_their_lines() {
        let expected = Turns {
            ran_us: 5,
            waited_us: 6_788,
            turns: 9,
        };
        assert_eq!(turns("5000 6788345 9\n"), Some(expected));
        assert_eq!(turns("5000"), None);
        let stat = "cpu  1 2 3 4 5 6 7 80 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(machine_ticks(stat), Some((108, 80)));
        assert_eq!(field("nr_periods 4\nnr_throttled 3\n", "nr_throttled"), Some(3));
    }

    #[test]
    fn limits_of_both_versions_are_cores() {
        assert_eq!(limit_v2("50000 100000\n"), Some(0.5));
        assert_eq!(limit_v2("max 100000\n"), None);
        assert_eq!(limit_v1("200000\n", "100000\n"), Some(2.0));
        assert_eq!(limit_v1("-1\n", "100000\n"), None);
        assert_eq!(limit_v1("", ""), None);
    }

    #[test]
    fn a_group_and_its_parents_are_found_in_both_versions() {
        let mounts = "30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      31 24 0:27 /pod /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";
        let paths = |cgroup: &str| -> Vec<String> {
            let found = group_directories(cgroup, mounts);
            found
                .iter()
                .map(|p| p.display().to_string().trim_end_matches('/').to_owned())
                .collect()
        };
        assert_eq!(
            paths("3:cpuset:/x\n1:cpu:/a/b\n"),
            [
                "/sys/fs/cgroup/cpu/a/b",
                "/sys/fs/cgroup/cpu/a",
                "/sys/fs/cgroup/cpu"
            ]
        );
        assert_eq!(paths("0::/pod/c\n"), ["/sys/fs/cgroup/c", "/sys/fs/cgroup"]);
        assert_eq!(paths("0::/\n"), ["/sys/fs/cgroup"]);
    }
}
