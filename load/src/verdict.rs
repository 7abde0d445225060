//! Whether a run's numbers may be believed at all. Told before any number: a generator that was late, throttled, out of
//! ports or robbed of its core measures itself and not the servers.
//!
//! Judging is this module's and pure; reading the machine is [`monitor`]'s, reading `/proc` [`crate::sys`]'s.

mod limits;
pub mod monitor;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use monitor::Monitor;

use crate::measure::Micros;
use crate::sys::real;

/// What a run's numbers are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Word {
    /// To be believed.
    Valid,
    /// To be read with the reasons beside them.
    Degraded,
    /// Not to be read: the run can neither pass a gate nor become a baseline.
    Invalid,
}

/// Why the numbers are worth less.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reason {
    /// What this alone makes of the run.
    pub word: Word,
    /// One line.
    pub why: String,
}

/// The verdict and its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The worst of the reasons' words.
    pub word: Word,
    /// In the order of the segments.
    pub reasons: Vec<Reason>,
}

/// What the generator knows of itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Own {
    /// From the moment something was due to the moment it was taken up.
    pub lateness: Micros,
    /// What was due and never done.
    pub dropped: u64,
    /// Connects that failed because no source port was left.
    pub no_port: u64,
    /// Connects that failed because no descriptor was left.
    pub no_descriptor: u64,
    /// Reads of sockets that the kernel stamped.
    pub stamped: u64,
    /// Reads of sockets that it did not.
    pub unstamped: u64,
}

/// What the machine did to the generator during the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// How late a thread that asks to be woken every few milliseconds was woken; wakings that it slept through are among them.
    pub wake: Micros,
    /// What the wall clock was set by while the run went on, all steps together, in microseconds. It stamps arrivals and dates
    /// samples.
    #[serde(default)]
    pub clock_stepped_us: u64,
    /// Time the generator's busiest thread ran, in microseconds.
    pub ran_us: u64,
    /// Time that thread was ready to run and waited for a core, in microseconds.
    pub waited_us: u64,
    /// Turns that it got.
    pub turns: u64,
    /// Periods in which a control group held the generator back.
    pub throttled_periods: u64,
    /// The tightest CPU limit on the generator, in cores; none without one.
    pub limit_cores: Option<f64>,
    /// Cores that the machine has for it.
    pub cores: u64,
    /// CPU time of the whole machine, in ticks.
    pub ticks: u64,
    /// Ticks of it that the hypervisor gave to somebody else.
    pub stolen_ticks: u64,
    /// Ticks of the cores that the generator may use.
    pub core_ticks: u64,
    /// Ticks of them that went to programs that do not belong to a run.
    pub stranger_ticks: u64,
    /// What could not be read.
    pub unread: Vec<String>,
}

/// Everything the verdict of one generator is drawn from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Readings {
    /// Of itself.
    pub own: Own,
    /// Of the machine.
    pub machine: Machine,
    /// Servers that were restarted and should not have been.
    pub unexpected_restarts: u64,
}

impl Readings {
    /// Why this generator's numbers are worth less, the worst first.
    #[must_use]
    pub fn reasons(&self) -> Vec<Reason> {
        let mut found = Found::default();
        self.own.judge(&mut found);
        self.machine.judge(&mut found);
        found.count(
            Word::Invalid,
            self.unexpected_restarts,
            "unexpected restarts of servers",
        );
        found.0.sort_by_key(|reason| std::cmp::Reverse(reason.word));
        found.0
    }
}

impl Verdict {
    /// The verdict of all generators of a run; each is named when there are several.
    pub fn of<'a>(generators: impl IntoIterator<Item = (u32, &'a Readings)>, several: bool) -> Self {
        let mut reasons = Vec::new();
        for (number, readings) in generators {
            for mut reason in readings.reasons() {
                if several {
                    reason.why = format!("segment {number}: {}", reason.why);
                }
                reasons.push(reason);
            }
        }
        let word = reasons.iter().map(|r| r.word).max().unwrap_or(Word::Valid);
        Self { word, reasons }
    }
}

/// Reasons as they are found.
#[derive(Debug, Default)]
struct Found(Vec<Reason>);

impl Found {
    fn add(&mut self, word: Word, why: String) {
        self.0.push(Reason { word, why });
    }

    fn count(&mut self, word: Word, n: u64, what: &str) {
        if n > 0 {
            self.add(word, format!("{n} {what}"));
        }
    }

    /// Judges `figure` by two limits.
    fn limit(&mut self, figure: f64, (degraded, invalid): (f64, f64), say: impl Fn(f64) -> String) {
        if figure > invalid {
            self.add(Word::Invalid, say(invalid));
        } else if figure > degraded {
            self.add(Word::Degraded, say(degraded));
        }
    }
}

impl Own {
    /// Share of reads that the kernel stamped; none without reads.
    #[must_use]
    pub fn stamped_share(&self) -> Option<f64> {
        let reads = self.stamped + self.unstamped;
        (reads > 0).then(|| real(self.stamped) / real(reads))
    }

    fn judge(&self, found: &mut Found) {
        let late_ms = self.lateness.percentile_ms(99.0);
        found.limit(late_ms, limits::LATE_P99_MS, |limit| {
            format!("the generator was late: p99 {late_ms:.1} ms from due to done, over {limit} ms")
        });
        let latest_ms = self.lateness.percentile_ms(100.0);
        found.limit(latest_ms, limits::STANDSTILL_MS, |limit| {
            format!("the generator once was late by {latest_ms:.0} ms, over {limit} ms")
        });
        found.count(
            Word::Invalid,
            self.dropped,
            "planned actions were due and never done",
        );
        found.count(
            Word::Invalid,
            self.no_port,
            "connects failed for want of a source port",
        );
        found.count(
            Word::Invalid,
            self.no_descriptor,
            "connects failed for want of a descriptor",
        );
        if let Some(share) = self
            .stamped_share()
            .filter(|&share| share < limits::STAMPED_SHARE_MIN)
        {
            let percent = share * 100.0;
            found.add(
                Word::Degraded,
                format!("the kernel stamped only {percent:.1} % of the reads; the rest count from when they were handled"),
            );
        }
    }
}

impl Machine {
    /// Mean time that the busiest thread waited for its turn, in milliseconds.
    #[must_use]
    pub fn wait_per_turn_ms(&self) -> f64 {
        real(self.waited_us) / 1_000.0 / real(self.turns.max(1))
    }

    /// Share of the time in which that thread wanted a core and had none.
    #[must_use]
    pub fn waiting_share(&self) -> f64 {
        real(self.waited_us) / real((self.waited_us + self.ran_us).max(1))
    }

    fn judge(&self, found: &mut Found) {
        let wake_ms = self.wake.percentile_ms(99.0);
        found.limit(wake_ms, limits::WAKE_P99_MS, |limit| {
            format!("the machine is too busy: a waiting thread was woken late by {wake_ms:.1} ms (p99), over {limit} ms")
        });
        let longest_ms = self.wake.percentile_ms(100.0);
        found.limit(longest_ms, limits::STANDSTILL_MS, |limit| {
            format!("the generator stood still for {longest_ms:.0} ms, over {limit} ms")
        });
        let stepped_ms = real(self.clock_stepped_us) / 1_000.0;
        found.limit(stepped_ms, limits::CLOCK_STEPPED_MS, |limit| {
            format!("the wall clock was set by {stepped_ms:.0} ms, over {limit} ms: arrivals and samples are dated by it")
        });
        let (share, wait_ms) = (self.waiting_share() * 100.0, self.wait_per_turn_ms());
        if wait_ms > limits::WAIT_PER_TURN_MS_MIN {
            found.limit(share, limits::WAITING_PERCENT, |limit| {
                format!("the generator waited for a core {share:.0} % of the time it wanted one, {wait_ms:.2} ms a turn; over {limit} %")
            });
        }
        let strangers = real(self.stranger_ticks) / real(self.core_ticks.max(1)) * 100.0;
        found.limit(strangers, limits::STRANGERS_PERCENT, |limit| {
            format!("programs that are no part of this run took {strangers:.0} % of the generator's cores, over {limit} %")
        });
        let throttled = "periods in which a CPU limit held the generator back";
        found.count(Word::Invalid, self.throttled_periods, throttled);
        if let Some(limit) = self.limit_cores.filter(|&limit| limit < real(self.cores.max(1))) {
            // The loop is one thread: below one core it is held back sooner or later; above, throttling would show.
            let word = if limit < 1.0 {
                Word::Invalid
            } else {
                Word::Degraded
            };
            found.add(
                word,
                format!("a CPU limit of {limit:.2} cores is on the generator"),
            );
        }
        let stolen = real(self.stolen_ticks) / real(self.ticks.max(1)) * 100.0;
        found.limit(stolen, limits::STOLEN_PERCENT, |limit| {
            format!("the hypervisor took {stolen:.1} % of the machine's time, over {limit} %")
        });
        for what in &self.unread {
            found.add(
                Word::Degraded,
                format!("{what} cannot be read here, so it was not watched"),
            );
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Valid => "VALID",
            Self::Degraded => "DEGRADED",
            Self::Invalid => "INVALID",
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.word, self.why)
    }
}

#[cfg(test)]
mod tests;
