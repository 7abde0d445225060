//! The figures of a dashboard against their bars.

use super::pages::ROUTES;
use super::{Found, What};
use crate::report::{Figure, Measured, Table, bars};
use crate::scenario::demand::Tally;

/// Times of answers, all routes together.
const ALL: &str = "all routes";

/// All figures, with what is judged.
pub(super) fn measured(found: &Found, is_judged: bool) -> Measured {
    let mut measured = Measured::default();
    let mut all = Tally::default();
    for (what, stage) in &found.stages {
        let together = stage.all();
        measured.times(ALL, &stage.name, &together.admitted);
        measured.count(&format!("calls served, {}", stage.name), together.served);
        for (route, tally) in ROUTES.iter().zip(&stage.kinds) {
            measured.times(route.path, &stage.name, &tally.admitted);
            if *what == What::Judged {
                let figure = Figure::Percentile {
                    name: route.path.to_owned(),
                    phase: stage.name.clone(),
                    percent: 95.0,
                };
                let name = format!("{}, {}, p95", route.path, stage.name);
                measured.bar_if(is_judged, &name, figure, bars::PAGE_MS_MAX, "ms");
            }
        }
        all.add(&together);
        measured.fault_examples.extend(stage.examples.iter().cloned());
    }
    for (what, per_s, least, wanted) in [
        (
            "uncached",
            found.uncached_per_s,
            bars::UNCACHED_PER_S_MIN,
            bars::UNCACHED_PER_S_TARGET,
        ),
        (
            "cached",
            found.cached_per_s,
            bars::CACHED_PER_S_MIN,
            bars::CACHED_PER_S_TARGET,
        ),
    ] {
        measured.peak(&format!("calls a second, {what}"), per_s);
        // Limits are the most that may be, so that what must be reached is judged by the time that a call takes at that rate.
        let name = format!("{what}: µs of the API a call");
        measured.peak(&name, 1e6 / per_s.max(f64::MIN_POSITIVE));
        let figure = || Figure::Peak { name: name.clone() };
        measured.bar_if(is_judged, &name, figure(), 1e6 / least, "µs");
        measured.target(
            &format!("{name}, where it should go"),
            figure(),
            1e6 / wanted,
            "µs",
        );
    }
    measured.count("games of the past", found.games);
    measured.count("quizzes", found.quizzes);
    measured.zero("wrong answers", all.wrong);
    measured.zero("calls without an answer", all.unanswered);
    measured.zero("calls refused for a teacher's own limit", all.limited);
    measured.zero("calls refused for want of capacity", refused_below(found));
    measured
}

/// Refused at rates that it must be well with.
fn refused_below(found: &Found) -> u64 {
    let below = found.stages.iter().filter(|(what, _)| *what == What::Shown);
    below.map(|(_, stage)| stage.all().refused).sum()
}

/// The figures for people.
pub(super) fn table(found: &Found) -> Table {
    let mut columns = vec!["stage", "served/s", "refused/s", "all p50/95/99/max ms"];
    columns.extend(ROUTES.map(|route| route.path));
    let mut table = Table::new(&columns);
    for (_, stage) in &found.stages {
        let all = stage.all();
        let mut row = vec![
            stage.name.clone(),
            format!("{:.0}", stage.per_s(all.served)),
            format!("{:.0}", stage.per_s(all.refused)),
            all.admitted.quantiles().four_ms(),
        ];
        row.extend(stage.kinds.iter().map(|kind| {
            let q = kind.admitted.quantiles();
            format!("{:.1}/{:.1}/{:.1}", q.p50_ms, q.p95_ms, q.p99_ms)
        }));
        table.row(row);
    }
    table
}
