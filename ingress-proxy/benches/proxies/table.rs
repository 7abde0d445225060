//! What was measured, and the ratios of ours to the best of the others with their upper confidence bounds.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;

use super::gateway::Kind;

/// Samples of a bootstrap.
const SAMPLES: u32 = 2_000;
/// More of the processors than this at work before a round: the machine is busy with something else.
const BUSY_SHARE: f64 = 0.1;
/// One proxy in one round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) memory_bytes: f64,
    pub(crate) cpu_us: f64,
    /// The same tunnels' frames without the proxy, just before.
    pub(crate) direct_p95_ms: f64,
    pub(crate) proxied_p95_ms: f64,
    pub(crate) handshakes: f64,
    pub(crate) handshake_cpu_us: f64,
}

/// A figure's row.
struct Row {
    name: &'static str,
    figure: fn(&Figures) -> f64,
    is_less_better: bool,
    /// Of bars.md, if there is one.
    bar: Option<f64>,
    /// What is less than this is taken for this in a ratio: it cannot be told from nothing by what it is measured with.
    least: f64,
}

const ROWS: [Row; 5] = [
    Row {
        name: "memory of an idle tunnel, KiB",
        figure: |f| f.memory_bytes / 1024.0,
        is_less_better: true,
        bar: Some(1.10),
        least: 0.1,
    },
    Row {
        name: "CPU of a frame, µs",
        figure: |f| f.cpu_us,
        is_less_better: true,
        bar: Some(1.10),
        least: 0.1,
    },
    Row {
        name: "added p95 of a frame and its echo, ms",
        figure: |f| f.proxied_p95_ms - f.direct_p95_ms,
        is_less_better: true,
        bar: Some(1.10),
        least: 0.05,
    },
    Row {
        name: "handshakes a second",
        figure: |f| f.handshakes,
        is_less_better: false,
        bar: Some(0.9),
        least: 1.0,
    },
    Row {
        name: "CPU of a handshake, µs",
        figure: |f| f.handshake_cpu_us,
        is_less_better: true,
        bar: None,
        least: 1.0,
    },
];

pub(crate) struct Table {
    /// What was done, and with which code.
    how: Vec<String>,
    machine: String,
    /// The largest share of the processors that was at work before a round.
    busy_share: f64,
    rounds: BTreeMap<Kind, Vec<Figures>>,
    versions: BTreeMap<Kind, String>,
}

/// No figure here needs more than 52 bits.
pub(crate) fn float(whole: u64) -> f64 {
    u32::try_from(whole).map_or(f64::MAX, f64::from)
}

impl Table {
    pub(crate) fn new(how: Vec<String>) -> Result<Self> {
        let cpus = std::fs::read_to_string("/proc/cpuinfo")?;
        let model = cpus.lines().find_map(|line| line.strip_prefix("model name"));
        let model = model.map_or("unknown", |model| model.trim_start_matches(['\t', ' ', ':']));
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease")?;
        let cores = std::thread::available_parallelism()?;
        Ok(Self {
            how,
            machine: format!("{model}, {cores} cores, Linux {}", kernel.trim()),
            busy_share: 0.0,
            rounds: BTreeMap::new(),
            versions: BTreeMap::new(),
        })
    }

    pub(crate) fn add(&mut self, kind: Kind, figures: Figures) {
        self.rounds.entry(kind).or_default().push(figures);
    }

    pub(crate) fn found(&mut self, kind: Kind, version: String) {
        self.versions.insert(kind, version);
    }

    /// Before a round, when nothing of this is at work.
    pub(crate) fn was_busy(&mut self, share: f64) {
        self.busy_share = self.busy_share.max(share);
    }

    fn all(&self, kind: Kind, figure: fn(&Figures) -> f64) -> Vec<f64> {
        self.rounds.get(&kind).into_iter().flatten().map(figure).collect()
    }

    pub(crate) fn markdown(&self) -> String {
        let mut text = String::from(
            "# The proxy against others\n\nMade by `./test --long proxies`, which overwrites this page. Every proxy has both cores and the configuration of \
             [`deploy/gateways`](../../deploy/gateways), without TLS and access log; a server that echoes and its clients are on the same machine. A cell is the median \
             of all rounds, and the least and the most of them. The ratio is ours to the best of the others, its bound the upper end of a 95 % bootstrap \
             interval over the rounds' own ratios (for handshakes the lower end). Memory is the larger of what the second half of \
             the tunnels add when they are opened, and what all of them hold after frames have gone through. Added delay is \
             what a frame of 250 bytes and its echo take longer than without a proxy just before; times are absolute and need a quiet machine, ratios less so.\n\n",
        );
        let mut line = |words: String| text.push_str(&(words + "\n"));
        line(format!("* {}", self.machine));
        for how in &self.how {
            line(format!("* {how}"));
        }
        let all = self.rounds.values().flatten();
        let direct = cell(all.map(|figures| figures.direct_p95_ms).collect());
        line(format!(
            "* without a proxy, p95 of a frame and its echo: {direct} ms"
        ));
        line(format!(
            "* others had at most {:.0} % of the processors before a round",
            self.busy_share * 100.0
        ));
        if self.busy_share > BUSY_SHARE {
            line(
                "* **Busy machine**: others were at work; absolute figures, delays most of all, say little."
                    .to_owned(),
            );
        }
        for kind in Kind::ALL.iter().filter(|kind| !self.rounds.contains_key(kind)) {
            line(format!(
                "* **{} is not installed and was left out.**",
                kind.name()
            ));
        }
        let (mut head, mut rule) = (String::from("\n| |"), String::from("| --- |"));
        for kind in Kind::ALL {
            let version = self.versions.get(&kind).map_or("not here", String::as_str);
            // Writing to a string cannot fail.
            let _written = write!(head, " {} {version} |", kind.name());
            rule.push_str(" --- |");
        }
        line(format!("{head} ratio | bound | bar |"));
        line(format!("{rule} --- | --- | --- |"));
        for row in ROWS {
            line(self.row(&row));
        }
        text
    }

    fn row(&self, row: &Row) -> String {
        let Row {
            name,
            figure,
            is_less_better: less,
            bar,
            least,
        } = *row;
        let mut row = format!("| {name} |");
        for kind in Kind::ALL {
            let cell = cell(self.all(kind, figure));
            let _written = write!(row, " {cell} |");
        }
        let others = self.rounds.keys().filter(|kind| **kind != Kind::Ours);
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
        let logs: Vec<f64> = pairs.map(|(a, b)| (a.max(least) / b.max(least)).ln()).collect();
        let bound = bootstrap(&logs, if less { 0.975 } else { 0.025 }).exp();
        let verdict = bar.map_or_else(
            || "none".to_owned(),
            |bar| {
                let holds = if less { bound <= bar } else { bound >= bar };
                format!("{bar:.2} {}", if holds { "holds" } else { "**missed**" })
            },
        );
        let _written = write!(
            row,
            " {:.2} ({}) | {bound:.2} | {verdict} |",
            median(logs).exp(),
            best.name()
        );
        row
    }
}

/// Median, least and most.
fn cell(values: Vec<f64>) -> String {
    let (least, most) = (
        values.iter().copied().reduce(f64::min),
        values.iter().copied().reduce(f64::max),
    );
    match (least, most) {
        (Some(least), Some(most)) => format!("{:.2} ({least:.2} to {most:.2})", median(values)),
        (None, _) | (_, None) => "–".to_owned(),
    }
}

/// The middle one, or what is between the two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2);
    let lower = values.get(values.len().saturating_sub(1) / 2);
    upper.zip(lower).map_or(f64::NAN, |(a, b)| f64::midpoint(*a, *b))
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
