//! What was measured, and the ratios of ours to the best of the others with their upper confidence bounds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context as _, Result};

use super::gateway::Kind;

/// Samples of a bootstrap.
const SAMPLES: u32 = 2_000;
/// More running processes than this for each core, besides what is measured: the machine is busy.
const BUSY_LOAD: f64 = 0.5;

/// One proxy in one round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) memory_bytes: f64,
    pub(crate) cpu_us: f64,
    pub(crate) added_p95_ms: f64,
    pub(crate) handshakes: f64,
}

/// A figure's name, how it is read, whether less is better, and its bar (bars.md).
type Row = (&'static str, fn(&Figures) -> f64, bool, f64);

const ROWS: [Row; 4] = [
    ("memory of a pair, KiB", |f| f.memory_bytes / 1024.0, true, 1.10),
    ("CPU of a message, µs", |f| f.cpu_us, true, 1.10),
    ("added p95, ms", |f| f.added_p95_ms, true, 1.10),
    ("handshakes a second", |f| f.handshakes, false, 0.9),
];

pub(crate) struct Table {
    how: String,
    machine: String,
    load_before: f64,
    load_after: f64,
    rounds: BTreeMap<Kind, Vec<Figures>>,
    missing: BTreeSet<Kind>,
}

/// No figure here needs more than 52 bits.
pub(crate) fn float(whole: u64) -> f64 {
    u32::try_from(whole).map_or(f64::MAX, f64::from)
}

fn load_average() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/loadavg")?;
    let first = text.split(' ').next().context("read loadavg")?;
    Ok(first.parse()?)
}

impl Table {
    pub(crate) fn new(how: String) -> Result<Self> {
        let cpus = std::fs::read_to_string("/proc/cpuinfo")?;
        let model = cpus.lines().find_map(|line| line.strip_prefix("model name"));
        let model = model.map_or("unknown", |model| model.trim_start_matches(['\t', ' ', ':']));
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
        let cores = std::thread::available_parallelism()?;
        Ok(Self {
            how,
            machine: format!("{model}, {cores} cores, Linux {}", kernel.trim()),
            load_before: load_average()?,
            load_after: 0.0,
            rounds: BTreeMap::new(),
            missing: BTreeSet::new(),
        })
    }

    pub(crate) fn add(&mut self, kind: Kind, figures: Figures) {
        self.rounds.entry(kind).or_default().push(figures);
    }

    pub(crate) fn is_missing(&mut self, kind: Kind) {
        self.missing.insert(kind);
    }

    pub(crate) fn end(mut self) -> Result<Self> {
        self.load_after = load_average()?;
        Ok(self)
    }

    fn all(&self, kind: Kind, figure: fn(&Figures) -> f64) -> Vec<f64> {
        self.rounds.get(&kind).into_iter().flatten().map(figure).collect()
    }

    pub(crate) fn markdown(&self) -> String {
        let mut text = String::from(
            "# The proxy against others\n\nMade by `cargo bench -p ingress-proxy --bench proxies`. Medians of all rounds; the ratio is ours to the best of the \
             others, its bound the upper end of a 95 % bootstrap interval over the rounds' own ratios (for handshakes the lower end).\n\n",
        );
        let busy = self.load_before > BUSY_LOAD;
        let mut line = |words: String| text.push_str(&(words + "\n"));
        line(format!("* {}", self.machine));
        line(format!("* {}", self.how));
        line(format!(
            "* load average {:.2} before, {:.2} after",
            self.load_before, self.load_after
        ));
        if busy {
            line(
                "* **Busy machine**: others were at work; absolute figures, delays most of all, say little."
                    .to_owned(),
            );
        }
        for kind in &self.missing {
            line(format!("* {} is not installed and was left out.", kind.name()));
        }
        let kinds: Vec<Kind> = self.rounds.keys().copied().collect();
        let mut head = String::from("\n| |");
        let mut rule = String::from("| --- |");
        for kind in &kinds {
            // Writing to a string cannot fail.
            let _written = write!(head, " {} |", kind.name());
            rule.push_str(" --- |");
        }
        line(format!("{head} ratio | bound | bar |"));
        line(format!("{rule} --- | --- | --- |"));
        for (name, figure, less, bar) in ROWS {
            line(self.row(&kinds, name, figure, less, bar));
        }
        text
    }

    fn row(&self, kinds: &[Kind], name: &str, figure: fn(&Figures) -> f64, less: bool, bar: f64) -> String {
        let mut row = format!("| {name} |");
        for kind in kinds {
            let _written = write!(row, " {:.2} |", median(self.all(*kind, figure)));
        }
        let others = kinds.iter().filter(|kind| **kind != Kind::Ours);
        let better = |a: &f64, b: &f64| if less { a.total_cmp(b) } else { b.total_cmp(a) };
        let best =
            others.min_by(|a, b| better(&median(self.all(**a, figure)), &median(self.all(**b, figure))));
        let Some(best) = best else {
            return row + " | | |";
        };
        let pairs = self
            .all(Kind::Ours, figure)
            .into_iter()
            .zip(self.all(*best, figure));
        // A delay that is nothing on both sides is no ratio.
        let logs: Vec<f64> = pairs
            .filter(|(a, b)| *a > 0.0 && *b > 0.0)
            .map(|(a, b)| (a / b).ln())
            .collect();
        let bound = bootstrap(&logs, if less { 0.975 } else { 0.025 }).exp();
        let holds = if less { bound <= bar } else { bound >= bar };
        let word = if holds { "holds" } else { "missed" };
        let _written = write!(
            row,
            " {:.2} ({}) | {bound:.2} | {bar} {word} |",
            median(logs).exp(),
            best.name()
        );
        row
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A quantile of the medians of samples drawn from `values`.
fn bootstrap(values: &[f64], quantile: f64) -> f64 {
    let mut state = 1_u64;
    let mut draw = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or_default() % bound.max(1)
    };
    let mut medians = Vec::new();
    for _ in 0..SAMPLES {
        let sample = (0..values.len()).filter_map(|_| values.get(draw(values.len())).copied());
        medians.push(median(sample.collect()));
    }
    medians.sort_by(f64::total_cmp);
    let last = medians.len().saturating_sub(1);
    let place = (0..=last)
        .find(|at| float(u64::try_from(*at).unwrap_or_default()) >= quantile * f64::from(SAMPLES - 1));
    place.and_then(|at| medians.get(at).copied()).unwrap_or(f64::NAN)
}
