//! The figures of a struck database against their bars.

use super::{Blow, Found, longest_ms};
use crate::report::{Figure, Measured, Table, bars};
use crate::scenario::demand::{PhaseTally, Tally};
use crate::sys::count;

/// All phases, in their order.
fn phases(found: &Found) -> impl Iterator<Item = &PhaseTally> {
    let blows = found.blows.iter();
    let struck = blows.flat_map(|blow| [Some(&blow.during), blow.after.as_ref()].into_iter().flatten());
    found.calm.iter().chain(struck)
}

/// All figures, with what is judged.
pub(super) fn measured(found: &Found, is_judged: bool) -> Measured {
    let mut measured = Measured::default();
    let mut all = Tally::default();
    for phase in phases(found) {
        let tally = phase.all();
        measured.times("served", &phase.name, &tally.admitted);
        measured.times("refused", &phase.name, &tally.rejected);
        measured.fault_examples.extend(phase.examples.iter().cloned());
        all.add(&tally);
    }
    let mut peak = |name: &str, value: f64, limit: f64, unit: &str| {
        measured.peak(name, value);
        let figure = Figure::Peak {
            name: name.to_owned(),
        };
        measured.bar_if(is_judged, name, figure, limit, unit);
    };
    for blow in &found.blows {
        let after_s = blow.recovery().unwell_ms() / 1_000.0;
        let name = format!("until all is well, {}", blow.name);
        peak(&name, after_s, bars::NORMAL_AFTER_S_MAX, "s");
    }
    // Who called just before a blow met it, too.
    let longest = phases(found).map(longest_ms).fold(0.0, f64::max);
    peak(
        "longest wait for an answer",
        longest,
        bars::DATABASE_HANG_MS_MAX,
        "ms",
    );
    let of = |blow| count(found.blows.iter().filter(|struck| struck.blow == blow).count());
    measured.count("kills", of(Blow::Kill));
    measured.count("freezes", of(Blow::Freeze));
    for (what, n) in [
        ("offered", all.offered),
        ("served", all.served),
        ("refused", all.refused),
    ] {
        measured.count(&format!("calls {what}"), n);
    }
    measured.count("results sent", found.results);
    measured.count("results sent again", found.sent_again);
    measured.zero("wrong answers", all.wrong);
    measured.zero("calls without an answer", all.unanswered);
    measured.zero("refusals without a time to come back", all.without_a_time);
    measured.zero(
        "teachers whose games are miscounted",
        count(found.miscounted.len()),
    );
    measured.fault_examples.extend(found.miscounted.iter().cloned());
    measured
}

/// What the record keeps beside.
pub(super) fn figures(found: &Found) -> serde_json::Value {
    let blows = found.blows.iter().map(|blow| {
        serde_json::json!({
            "name": blow.name,
            "blow": blow.blow,
            "longest_ms": blow.longest_ms(),
            "well_after_s": blow.recovery().unwell_ms() / 1_000.0,
            "during": blow.during.all(),
            "after": blow.after.as_ref().map(PhaseTally::all),
        })
    });
    serde_json::json!({
        "blows": blows.collect::<Vec<_>>(),
        "results": found.results,
        "results_sent_again": found.sent_again,
        "miscounted": found.miscounted,
    })
}

/// The figures for people.
pub(super) fn table(found: &Found) -> Table {
    let mut table = Table::new(&[
        "blow",
        "offered",
        "served",
        "refused",
        "longest wait ms",
        "well after s",
        "wrong",
        "unanswered",
    ]);
    for blow in &found.blows {
        let mut all = blow.during.all();
        if let Some(after) = &blow.after {
            all.add(&after.all());
        }
        table.row(vec![
            blow.name.clone(),
            all.offered.to_string(),
            all.served.to_string(),
            all.refused.to_string(),
            format!("{:.0}", blow.longest_ms()),
            format!("{:.2}", blow.recovery().unwell_ms() / 1_000.0),
            all.wrong.to_string(),
            all.unanswered.to_string(),
        ]);
    }
    table
}
