//! The figures of nine o'clock against their bars.

use super::{Figures, REFUSED_OF_ONE};
use crate::measure::Tally;
use crate::report::{Figure, Measured, Table, bars};

/// The one phase.
const PHASE: &str = "nine o'clock";

/// All figures, with what is judged.
pub(super) fn measured(tally: &Tally, figures: &Figures, is_judged: bool) -> Measured {
    let mut measured = Measured::default();
    measured.times("join", PHASE, &tally.join);
    measured.times("join without own delay", PHASE, &tally.join_service);
    measured.times("game opened", PHASE, &figures.opened_times);
    measured.times(
        "game started behind one address",
        PHASE,
        &figures.behind_one_times,
    );
    measured.count("classes", figures.classes);
    measured.count("players", figures.players);
    measured.count("joined", figures.joined);
    let percentile = |name: &str, percent| Figure::Percentile {
        name: name.to_owned(),
        phase: PHASE.to_owned(),
        percent,
    };
    for (name, figure, limit_ms) in [
        ("join, p95", percentile("join", 95.0), bars::NINE_JOIN_MS_MAX),
        (
            "slowest start behind one address",
            percentile("game started behind one address", 100.0),
            bars::NINE_START_MS_MAX,
        ),
    ] {
        measured.bar_if(is_judged, name, figure, limit_ms, "ms");
    }
    measured.zero(
        "players not joined",
        figures.players.saturating_sub(figures.joined),
    );
    measured.zero("classes not opened", figures.not_opened);
    measured.zero(
        "games behind one address not started",
        figures.not_started_behind_one,
    );
    measured.zero(
        "starts of one game refused for a limit",
        figures.refused_for_a_limit,
    );
    measured.count("refusals of one teacher's thirty games", figures.refused_of_one);
    measured.zero(
        "refusals of one teacher's thirty games, off ten",
        figures.refused_of_one.abs_diff(REFUSED_OF_ONE),
    );
    measured.zero(
        "refusals that do not say when to come back",
        figures.without_a_time,
    );
    measured.zero("sockets lost that nobody dropped", tally.cut_off);
    measured.must_be_faultless(&tally.faults, &figures.fault_examples);
    measured
}

/// The figures for people.
pub(super) fn table(figures: &Figures) -> Table {
    let mut table = Table::new(&[
        "classes",
        "joined",
        "join p50/95/99 ms",
        "without own delay",
        "game opened p50/95/99/max ms",
        "behind one address p50/95/99/max ms",
        "of thirty refused",
        "refused by status",
    ]);
    let three = |q: &crate::measure::Quantiles| format!("{:.1}/{:.1}/{:.1}", q.p50_ms, q.p95_ms, q.p99_ms);
    let refused: Vec<String> = figures
        .refused
        .iter()
        .map(|(status, n)| format!("{status}: {n}"))
        .collect();
    table.row(vec![
        figures.classes.to_string(),
        format!("{} of {}", figures.joined, figures.players),
        three(&figures.join),
        three(&figures.join_service),
        figures.opened.four_ms(),
        figures.behind_one.four_ms(),
        figures.refused_of_one.to_string(),
        refused.join(", "),
    ]);
    table
}
