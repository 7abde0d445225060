//! The figures of an overload against their bars.

use super::{Found, below_peak_percent, name, percent};
use crate::report::{Figure, Measured, Table, bars};
use crate::scenario::demand::{PhaseTally, Tally};
use crate::scenario::mixture::{self, CLASSES};
use crate::sys::real;

/// Times of calls that were served, of those that were refused, of probes and of starts.
const ADMITTED: &str = "admitted";
const REFUSED: &str = "refused";
const LIVENESS: &str = "liveness";
const START: &str = "class start";
const WHOLE: &str = "run";

/// Judges by bars, or reports when a run is too short to be judged.
struct Judge {
    measured: Measured,
    is_judged: bool,
}

impl Judge {
    fn bar(&mut self, name: &str, figure: Figure, limit: f64, unit: &str) {
        self.measured.bar_if(self.is_judged, name, figure, limit, unit);
    }

    fn peak(&mut self, name: &str, value: f64, limit: f64, unit: &str) {
        self.measured.peak(name, value);
        let figure = Figure::Peak {
            name: name.to_owned(),
        };
        self.bar(name, figure, limit, unit);
    }

    fn percentile(&mut self, what: &str, (name, phase): (&str, &str), percent: f64, limit_ms: f64) {
        let figure = Figure::Percentile {
            name: name.to_owned(),
            phase: phase.to_owned(),
            percent,
        };
        self.bar(what, figure, limit_ms, "ms");
    }

    fn step(&mut self, found: &Found, times: f64, step: &PhaseTally, calm: &PhaseTally) {
        let all = step.all();
        let phase = &step.name;
        counts(&mut self.measured, phase, &all);
        self.measured.times(ADMITTED, phase, &all.admitted);
        self.measured.times(REFUSED, phase, &all.rejected);
        for class in CLASSES {
            let tally = mixture::of_class(step, class);
            counts(&mut self.measured, &format!("{class} at {phase}"), &tally);
            self.measured
                .times(&format!("{ADMITTED}, {class}"), phase, &tally.admitted);
        }
        let limit = match times > 1.0 {
            true => bars::GOODPUT_BELOW_PEAK_PERCENT_MAX,
            false => bars::GOODPUT_BELOW_PEAK_AT_CEILING_PERCENT_MAX,
        };
        let below = below_peak_percent(found, step);
        self.peak(&format!("goodput below its peak at {phase}"), below, limit, "%");
        let admitted = format!("admitted at {phase}, p99");
        self.percentile(&admitted, (ADMITTED, phase), 99.0, bars::ADMITTED_MS_MAX);
        // At the ceiling there may be nobody to refuse.
        if all.rejected.count() > 0 {
            let refused = format!("refused at {phase}, p99");
            self.percentile(&refused, (REFUSED, phase), 99.0, bars::REFUSED_MS_MAX);
        }
        let after_s = calm.unwell_ms() / 1_000.0;
        let normal = format!("until all is normal after {phase}");
        self.peak(&normal, after_s, bars::NORMAL_AFTER_S_MAX, "s");
    }
}

fn counts(measured: &mut Measured, of: &str, tally: &Tally) {
    for (what, n) in [
        ("offered", tally.offered),
        ("served", tally.served),
        ("served in time", tally.good),
        ("refused", tally.refused),
        ("unanswered", tally.unanswered),
    ] {
        measured.count(&format!("calls {what}, {of}"), n);
    }
}

/// All figures, with what is judged.
pub(super) fn measured(found: &Found, is_judged: bool) -> Measured {
    let mut judge = Judge {
        measured: Measured::default(),
        is_judged,
    };
    let mut all = Tally::default();
    let mut urgent = Tally::default();
    for (times, step, calm) in &found.steps {
        judge.step(found, *times, step, calm);
        all.add(&step.all());
        all.add(&calm.all());
        urgent.add(&mixture::of_class(step, "P0"));
        let examples = step.examples.iter().chain(&calm.examples).cloned();
        judge.measured.fault_examples.extend(examples);
    }
    let unserved = percent(urgent.offered - urgent.served, urgent.offered);
    let limit = bars::URGENT_UNSERVED_PERCENT_MAX;
    judge.peak("calls of game servers not served", unserved, limit, "%");
    judge
        .measured
        .peak("calls a second at the ceiling", found.ceiling_per_s);
    judge
        .measured
        .peak("goodput at its peak, calls a second", found.peak_per_s);
    let (middle, apart) = (bars::CEILING_PER_S, bars::CEILING_APART_PER_S);
    let off = (found.ceiling_per_s - middle).abs();
    judge.measured.peak("ceiling off 350 calls a second", off);
    let figure = Figure::Peak {
        name: "ceiling off 350 calls a second".to_owned(),
    };
    judge
        .measured
        .target("ceiling off 350 calls a second", figure, apart, "/s");
    judge.measured.times(LIVENESS, WHOLE, &found.liveness);
    judge.percentile("liveness, p99", (LIVENESS, WHOLE), 99.0, bars::LIVENESS_MS_MAX);
    judge.percentile(
        "liveness, longest",
        (LIVENESS, WHOLE),
        100.0,
        bars::LIVENESS_LONGEST_MS_MAX,
    );
    judge.measured.times(START, WHOLE, &found.starts);
    let Judge { mut measured, .. } = judge;
    measured.count("classes started", found.starts.count());
    measured.zero("classes that did not start", found.starts_failed);
    measured.zero("probes missed", found.probes_missed);
    measured.zero("servers started again", found.restarts);
    measured.zero("wrong answers", all.wrong);
    measured.zero("calls without an answer", all.unanswered);
    measured.zero("refusals without a time to come back", all.without_a_time);
    measured.zero("calls refused for a teacher's own limit", all.limited);
    measured.fault_examples.extend(found.examples.iter().cloned());
    measured
}

/// The figures for people.
pub(super) fn table(found: &Found) -> Table {
    let mut table = Table::new(&[
        "times",
        "offered/s",
        "goodput/s",
        "of peak %",
        "refused/s",
        "admitted p50/95/99/max ms",
        "refused p50/95/99/max ms",
        "P0 served %",
        "P1",
        "P2",
        "P3",
        "normal after s",
    ]);
    let served = |step: &PhaseTally, class| {
        let tally = mixture::of_class(step, class);
        format!("{:.1}", percent(tally.served, tally.offered))
    };
    for (times, step, calm) in &found.steps {
        let all = step.all();
        let mut row = vec![
            name(*times),
            format!("{:.0}", step.per_s(all.offered)),
            format!("{:.0}", step.per_s(all.good)),
            format!("{:.1}", 100.0 - below_peak_percent(found, step)),
            format!("{:.0}", step.per_s(all.refused)),
            all.admitted.quantiles().four_ms(),
            all.rejected.quantiles().four_ms(),
        ];
        row.extend(CLASSES.map(|class| served(step, class)));
        row.push(format!("{:.1}", calm.unwell_ms() / 1_000.0));
        table.row(row);
    }
    let live = found.liveness.quantiles();
    table.row(vec![
        "ceiling".to_owned(),
        "–".to_owned(),
        format!("{:.0}", found.ceiling_per_s),
        format!("{:.1}", found.ceiling_per_s / found.peak_per_s.max(1.0) * 100.0),
        "–".to_owned(),
        format!("live {}", live.four_ms()),
        format!("starts {}", found.starts.quantiles().four_ms()),
        format!("{} of {}", real(found.starts_failed), found.starts.count()),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
    ]);
    table
}
